"""`kcli reassign disks`: replicas from one log directory of a broker to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.storage.disks import LogDir, Replica, evened, log_dirs
from kcli.cli.commands.brokers.ids import broker_ids
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.commands.reassign.disks.moving import Moves, ReplicaRow, move
from kcli.cli.commands.reassign.throttling import RateOptions
from kcli.cli.commands.reassign.wait import WaitingOptions
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions, NamedTopics, PatternOptions
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import UsageError
from kcli.grammar.units import bytes_of
from kcli.model import Cluster, TopicPartition

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
        places = await _places(cluster, document, brokers)
        wanted = _wanted(places, scope, options)
        rows = _rows(places, wanted)
        document.of(ReplicaRow)[:] = rows.values()
        if not rows and not document.errors:
            say(options, "nothing to do")
        if not rows or document.errors:
            return None

        async def carry_out() -> int | None:
            return await move(cluster, document, options, wanted, rows, rate)

        topics = sorted({at.topic for at in rows})
        return PlannedChange(
            names=topics if scope.patterns else [f"move {plural(len(rows), 'replica')}"],
            noun="topic",
            by_pattern=bool(scope.patterns),
            carry_out=carry_out,
        )

    return make_change(options, SHAPE, make_plan)


async def _places(cluster: Cluster, document: Document, brokers: set[int] | None) -> list[LogDir]:
    places, failed = await log_dirs(cluster, brokers=brokers)
    for broker, problem in failed.items():
        document.fail(problem, f"broker {broker}")
    for place in places:
        if place.error is not None:
            document.fail(place.error, place.directory)
    return [place for place in places if place.error is None]


def _rows(places: list[LogDir], wanted: Moves) -> dict[Replica, ReplicaRow]:
    """A row for each replica that is to move."""
    return {
        at: ReplicaRow(
            broker=replica.broker,
            topic=replica.topic,
            partition=replica.partition,
            old=place.directory,
            new=wanted[at],
            bytes=replica.size,
            result="would move",
            error=None,
        )
        for place in places
        for replica in place.replicas
        if not replica.future
        if (at := Replica(replica.topic, replica.partition, replica.broker)) in wanted
    }


def _wanted(places: list[LogDir], scope: Scope, options: DisksOptions) -> Moves:
    """What goes where. Raises UsageError for a directory that a broker has not, and for the only one."""
    moves: Moves = {}
    for broker in dict.fromkeys(place.broker for place in places):
        mine = [place for place in places if place.broker == broker]
        names = [place.directory for place in mine if not place.cordoned]
        for name in (options.to, options.away):
            if name is not None and name not in [place.directory for place in mine]:
                raise UsageError(f"broker {broker} has no directory {name}; it has {', '.join(names)}")
        some = {
            Replica(replica.topic, replica.partition, replica.broker): (place.directory, replica.size)
            for place in mine
            for replica in place.replicas
            if scope.has(TopicPartition(replica.topic, replica.partition)) and not replica.future
            if options.away in (None, place.directory)
        }
        if options.to is not None:
            moves |= {at: options.to for at, (name, _) in some.items() if name != options.to}
        elif options.away is not None:
            moves |= _emptied(mine, some, options.away)
        else:
            moves |= evened(mine, some)
    return moves


def _emptied(mine: list[LogDir], some: dict[Replica, tuple[str, int]], away: str) -> Moves:
    """Everything to the other directories, always to the emptiest, the largest first."""
    sizes = {place.directory: place.size for place in mine if place.directory != away and not place.cordoned}
    if not sizes:
        raise UsageError(f"broker {mine[0].broker} has no other directory than {away}")
    moves: Moves = {}
    for at, (_, size) in sorted(some.items(), key=lambda item: (-item[1][1], item[0])):
        moves[at] = min(sizes, key=lambda name: (sizes[name], name))
        sizes[moves[at]] += size
    return moves
