"""`kcli apply`: a plan from files, checked by the brokers; then, if it may be, carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes.declared.plan import ClusterPlan
from kcli.changes.declared.step import REMOVE
from kcli.cli.commands.apply.files import read
from kcli.cli.commands.apply.opened import SchemasOptions, both
from kcli.cli.commands.apply.rows import ChangeRow, PruneOptions, remark
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.change import apply_plan

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated

    import typer

    from kcli.changes.change import Row
    from kcli.cli.commands.apply.opened import Both

SHAPE = shape("apply", "Changes that make a cluster match its declaration, applied or planned.", ChangeRow)


class ApplyOptions(PruneOptions, SchemasOptions, UndoOptions):
    secrets: Annotated[
        bool, typer.Option("--secrets", help="Send passwords and secret configs again; they cannot be compared.")
    ] = False
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Continue with the other changes after one is refused.")
    ] = False
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Do not wait until every broker has the change.")] = False


@command(
    "apply",
    words="FILE",
    examples="""
kcli apply cluster.yaml                        # the plan
kcli apply cluster.yaml --execute
kcli apply topics/ acls.toml --execute
kcli apply cluster.yaml --prune --dry-run      # with deletions; checked by the brokers
kcli export | kcli apply - -b other:9092 --execute""",
)
def apply(options: ApplyOptions) -> int:
    """Apply topics, configs, users, quotas, ACLs and schemas that files declare. The plan comes first, checked by the
    brokers: + is created, ~ changed, - removed; --execute applies it. Resources that no file names are left alone,
    nothing is removed without --prune, and a second run changes nothing. `kcli undo` restores the previous state.

    A FILE is YAML, TOML or JSON, a folder of such files, or - for stdin; `kcli schema apply file` prints its
    schema.

    \b
    A file:
      topics:
        orders:
          partitions: 6
          replication: 3
          configs: {retention.ms: 7d, cleanup.policy: [compact, delete]}
      users:
        alice:
          SCRAM-SHA-512: {password: {env: ALICE_PASSWORD}}
      quotas:
      - {user: alice, producer_byte_rate: 10MiB}
      acls:
      - {principal: User:alice, allow: [read, describe], topic: orders}
      schemas:
        orders-value: {file: orders.avsc, compatibility: full}
    """
    declared, ready = read(options.words), 0
    made: ClusterPlan

    async def planned(target: Both) -> ClusterPlan:
        nonlocal made, ready
        made = ClusterPlan(
            cluster=target[0], declared=declared, registry=target[1], prune=options.prune, resend=options.secrets
        )
        await made.prepare(keep_going=options.keep_going, wait=not options.no_wait)
        ready = len(made.ready)
        remark(options, made)
        if ready and options.plan_only:
            say(options, f"{plural(ready, 'change')} planned; --execute applies the plan")
        elif ready and made.apply is None:
            say(options, f"nothing was changed; --keep-going applies the other {plural(ready, 'change')}")
        return made

    def names(rows: Sequence[Row]) -> list[str]:
        going = sum(step.sign == REMOVE for step in made.ready)
        return [f"apply {plural(ready, 'change')}" + (f" and delete {going}" if going else "")]

    def done(rows: Sequence[Row]) -> str:
        if made.late:
            say(options, made.late)
        changed = sum(step.done for step in made.steps)
        return f"{plural(changed, 'change')} done" + (f", {ready - changed} failed" if ready > changed else "")

    return apply_plan(options, SHAPE, ChangeRow, planned, opened=both(options), names=names, refused="", done=done)
