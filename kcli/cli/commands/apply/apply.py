"""`kcli apply`: a plan from files, checked by the brokers; then, if it may be, carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes.change import Undo
from kcli.cli.commands.apply.changes import PruneOptions, change_rows, fail_all, remark
from kcli.cli.commands.apply.files import read
from kcli.cli.commands.apply.opened import SchemasOptions, both
from kcli.cli.commands.apply.rows import ChangeRow
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.parsing.option import flag
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.declared.kinds.topics import GROW
from kcli.declared.model import ADD, REMOVE, Step
from kcli.declared.plan import Plan
from kcli.declared.schema import ID
from kcli.errors import KcliError

if TYPE_CHECKING:
    from kcli.cli.commands.apply.opened import Both

NOTHING = "nothing to change"
SHAPE = shape("apply", "Changes that make a cluster match its declaration, applied or planned.", ChangeRow)


class ApplyOptions(PruneOptions, SchemasOptions, UndoOptions):
    secrets = flag("--secrets", help="Send passwords and secret configs again, which cannot be compared.")
    keep_going = flag("--keep-going", help="Continue with the other changes after one is refused.")
    no_wait = flag("--no-wait", help="Do not wait until every broker has the change.")


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
    brokers: + is created, ~ changed, - removed; --execute applies it. Resources that no file names stay as they are,
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
    declared = read(options.words)

    async def make_plan(target: Both, document: Document) -> PlannedChange | None:
        cluster, registry = target
        plan = Plan(cluster, declared, prune=options.prune, secrets=options.secrets, registry=registry)
        await plan.look()
        await plan.check()
        remark(options, plan)
        document.of(ChangeRow)[:] = change_rows(plan.steps)
        fail_all(document, plan)
        return _planned(options, target, document, plan) if _worth_applying(options, document, plan) else None

    return make_change(options, SHAPE, make_plan, both(options))


def _worth_applying(options: ApplyOptions, document: Document, plan: Plan) -> bool:
    """Whether the plan has steps to apply; if not, or if it is only shown, print why."""
    ready = len(plan.ready)
    if not plan.steps and not plan.failed:
        say(options, NOTHING)
    elif document.errors and ready and not options.keep_going and not options.plan_only:
        say(options, f"nothing was changed; --keep-going applies the other {plural(ready, 'change')}")
        return False
    elif options.plan_only and ready:
        say(options, f"{plural(ready, 'change')} planned; --execute applies the plan")
    return ready > 0


def _planned(options: ApplyOptions, target: Both, document: Document, plan: Plan) -> PlannedChange:
    async def carry_out() -> int | None:
        await _carry_out(options, document, plan)
        return None

    return PlannedChange(
        names=[_phrase(plan.ready)],
        adds=all(step.kind == "topic" and step.sign == ADD for step in plan.ready),
        final=any(step.sign == REMOVE or step.order == GROW for step in plan.ready),
        undo=_undo(target, plan),
        carry_out=carry_out,
    )


def _phrase(ready: list[Step]) -> str:
    going = sum(step.sign == REMOVE for step in ready)
    return f"apply {plural(len(ready), 'change')}" + (f" and delete {going}" if going else "")


def _undo(target: Both, plan: Plan) -> Undo:
    """What undoes the plan. For schemas alone no broker is asked."""
    registry, back = target[1], plan.undo()
    only = registry is not None and all(step.kind == "schema" for step in plan.ready)
    return Undo(
        document={"schema": ID, **back} if back else {},
        file="apply",
        where=registry.settings.name if only and registry is not None else "",
    )


async def _carry_out(options: ApplyOptions, document: Document, plan: Plan) -> None:
    """Make the changes that are ready, and write into the document what became of them."""
    before = set(map(id, plan.ready))
    _say_lost(options, plan.ready)
    await plan.carry_out()
    document.of(ChangeRow)[:] = change_rows(plan.steps)
    for step in plan.steps:
        if id(step) in before and step.problem is not None:
            document.fail(step.problem, step.name)
    done = sum(step.done for step in plan.steps)
    if done and not options.no_wait:
        await _settled(options, plan)
    failed = len(before) - done
    say(options, f"{plural(done, 'change')} done" + (f", {failed} failed" if failed > 0 else ""))


def _say_lost(options: ApplyOptions, steps: list[Step]) -> None:
    """What no undo brings back."""
    gone = sum(step.kind == "topic" and step.sign == REMOVE for step in steps)
    grown = sum(step.kind == "topic" and step.order == GROW for step in steps)
    if gone:
        say(options, f"no undo brings back the records of {plural(gone, 'topic')}")
    if grown:
        say(options, f"{plural(grown, 'topic')} will keep the new partitions: there is no way back to fewer")


async def _settled(options: ApplyOptions, plan: Plan) -> None:
    """What was done is done, also when brokers are slow to tell it."""
    try:
        left = sorted(await plan.settle())
    except KcliError as error:
        say(options, f"it could not be read again: {error}")
        return
    if left:
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        say(options, f"some brokers do not have the change yet: {left[0]}{more}")
