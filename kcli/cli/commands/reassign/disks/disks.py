"""`kcli reassign disks`: replicas from one log directory of a broker to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.storage.disks import LogDir, log_dirs
from kcli.changes import moves
from kcli.changes.moves import DiskPlacement
from kcli.cli.commands.brokers.ids import broker_ids
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.commands.reassign.disks.moving import ReplicaRow, move
from kcli.cli.commands.reassign.throttling import RateOptions
from kcli.cli.commands.reassign.wait import WaitingOptions
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions, NamedTopics, PatternOptions
from kcli.cli.runtime.answer import plural
from kcli.cli.runtime.change import PlannedChange, make_change, of_plan
from kcli.errors import KcliError, UsageError
from kcli.grammar.units import bytes_of
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import KcliOption

SHAPE = shape("reassign.disks", "Replicas that move between log directories, or would.", ReplicaRow)


class DisksOptions(NamedTopics, PatternOptions, WaitingOptions, RateOptions, ChangeOptions):
    brokers: Annotated[
        list[str], KcliOption("--broker", metavar="ID", help="At this broker. Repeatable.", also=("--broker-id",))
    ]
    to: Annotated[str | None, typer.Option("--to", metavar="PATH", help="To this directory.")] = None
    away: Annotated[str | None, typer.Option("--from", metavar="PATH", help="Only replicas in this directory.")] = None
    even: Annotated[bool, typer.Option("--balance", help="Balance the used bytes of its directories.")] = False


@command(
    "reassign disks",
    help="Move replicas between the disks of a broker.",
    words="TOPIC",
    examples="""
kcli reassign disks --broker 1 --balance
kcli reassign disks --broker 1 --from /data/a --execute --wait      # empty a disk
kcli reassign disks orders:0 --broker 2 --to /data/b --throttle 50MiB --execute --wait""",
)
def disks(options: DisksOptions) -> int:
    """Move replicas between the log directories of the broker that has them: to one directory, away from one, or so
    that all directories of a broker are about as full. The plan comes first; --execute applies it. `kcli logdirs` shows
    the directories.
    """
    scope, brokers = Scope(options.words, literal=options.literal), broker_ids(options.brokers, "--broker") or None
    if options.to is None and options.away is None and not options.even:
        raise UsageError("missing target: --to PATH, --from PATH or --balance")
    if options.even and (options.to or options.away):
        raise UsageError("--balance chooses the directories itself; --to and --from do not go with it")
    rate = None if options.throttle is None else int(bytes_of(options.throttle, "--throttle"))
    if rate is not None and not options.wait:
        raise UsageError("--throttle needs --wait, which removes it at the end")
    if options.patience is not None and not options.wait:
        raise UsageError("--timeout goes with --wait")

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        if scope.named:
            await scope.partitions(cluster, ())  # a mistyped name must not read as "already there"
        placement = DiskPlacement(chosen=scope.has, to=options.to, away=options.away)
        made = moves.plan_disks(*await _places(cluster, brokers), placement)
        topics = sorted({str(row.as_json()["topic"]) for row in made.rows})
        planned = of_plan(
            *(options, document, (ReplicaRow,), cluster, made), nothing="nothing to do", noun="topic",
            names=topics if scope.patterns else [f"move {plural(len(made.rows), 'replica')}"],
            by_pattern=bool(scope.patterns),
        )  # fmt: skip

        async def carry_out() -> int | None:
            return await move(cluster, document, options, made, rate)

        return planned and planned.replace(carry_out=carry_out)

    return make_change(options, SHAPE, make_plan)


async def _places(cluster: Cluster, brokers: set[int] | None) -> tuple[list[LogDir], dict[str, KcliError]]:
    """The directories that can be read, and the errors of the others, and of brokers."""
    places, failed = await log_dirs(cluster, brokers=brokers)
    errors = {f"broker {broker}": problem for broker, problem in failed.items()}
    errors |= {place.directory: place.error for place in places if place.error is not None}
    return [place for place in places if place.error is None], errors
