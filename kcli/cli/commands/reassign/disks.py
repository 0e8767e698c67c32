"""`kcli reassign disks`: replicas from one log directory of a broker to another."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kcli import codes
from kcli.admin.configs import SET, Operation, Resource, about
from kcli.admin.reassign.throttles import DISK_RATE, clear_throttles, set_throttle
from kcli.admin.storage import LogDir, Replica, alter_log_dirs, directories, log_dirs
from kcli.changes import moves
from kcli.changes.moves import MOVING, DiskPlacement
from kcli.cli.commands.brokers.ids import broker_ids
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.commands.reassign.throttling import RateOptions
from kcli.cli.commands.reassign.wait import WaitingOptions
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions, NamedTopics, PatternOptions
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.change import PlannedChange, make_change, of_plan, show
from kcli.cli.runtime.signals import INTERRUPTED, Listening, Stop, ended_by
from kcli.errors import BrokerError, DeadlineExceeded, KcliError, UsageError
from kcli.grammar.units import bytes_of
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.changes.change import Plan
    from kcli.cli.parsing.shared import KcliOption


# Replicas on their way between directories: begun, followed, with a throttle that is gone in the end, also after
# Ctrl-C; the brokers continue then.


PATIENCE = 10.0  # seconds until a replica that was just begun is there to be moved
PAUSE = 0.2


async def move(
    cluster: Cluster, document: Document, options: WaitingOptions, plan: Plan, rate: int | None
) -> int | None:
    """Begin what a plan has, and with --wait follow it; the exit code if it is settled by Ctrl-C or --timeout."""
    brokers = {Resource("broker", str(row.as_json()["broker"])) for row in plan.rows}
    with Listening() as stop:
        try:
            if rate is not None:
                changes = {at: [Operation(name=DISK_RATE, how=SET, value=str(rate))] for at in brokers}
                _fail_all(document, await set_throttle(cluster, changes))
            if document.errors or plan.apply is None:
                return None
            await plan.apply(cluster)
            show(document, (ReplicaRow,), plan)
            return await _followed(cluster, document, options, stop)
        finally:
            if rate is not None:
                _fail_all(document, await clear_throttles(cluster, {at: [DISK_RATE] for at in brokers}))


def _fail_all(document: Document, done: dict[Resource, KcliError | None]) -> None:
    for at, problem in done.items():
        if problem is not None:
            document.fail(problem, about(at))


async def _followed(cluster: Cluster, document: Document, options: WaitingOptions, stop: Stop) -> int | None:
    rows = {Replica(row.topic, row.partition, row.broker): row for row in document.of(ReplicaRow)}
    left = {at: row.new for at, row in rows.items() if row.result == MOVING}
    loop = asyncio.get_running_loop()
    give_up = loop.time() + (float("inf") if options.patience is None else options.patience)
    while left:
        arrived = await _arrived(cluster, left)
        for at in arrived:
            rows[at].result = "done"
            del left[at]
        if not left or not options.wait:
            break
        if loop.time() >= give_up:
            late = DeadlineExceeded(f"{plural(len(left), 'replica')} still moving after --timeout; the moves continue")
            document.fail(late)
            return late.exit_code
        await stop.unless(asyncio.sleep(PAUSE))
        if stop.asked:
            say(
                options,
                f"interrupted: {plural(len(left), 'replica')} still moving; kcli logdirs replicas shows them",
            )
            return ended_by(stop.by, INTERRUPTED)
    if left:
        say(options, f"{plural(len(left), 'replica')} moving; kcli logdirs replicas shows them")
    return None


async def _arrived(cluster: Cluster, wanted: Mapping[Replica, str]) -> list[Replica]:
    """The replicas that are at their target and not in two places."""
    here = await directories(cluster, wanted)
    return [at for at, name in wanted.items() if here.get((at, False)) == name and (at, True) not in here]


async def remember(cluster: Cluster, wanted: Mapping[Replica, str]) -> None:
    """Tell brokers the directories of replicas that they do not have yet: they refuse, and use them later."""
    known = {node.id for node in await cluster.nodes()}
    await alter_log_dirs(cluster, {at: name for at, name in wanted.items() if at.broker in known})


async def follow(cluster: Cluster, document: Document, wanted: Mapping[Replica, str], *, there: bool) -> None:
    """Directories that a plan names for replicas which may only be about to be made: a broker says
    REPLICA_NOT_AVAILABLE until it has begun. With `there` until they are in them."""
    give_up, left = asyncio.get_running_loop().time() + PATIENCE, dict(wanted)
    while left:
        done = await alter_log_dirs(cluster, left)
        left = {at: left[at] for at, problem in done.items() if _not_yet(problem)}
        late = asyncio.get_running_loop().time() >= give_up
        for at, problem in done.items():
            if problem is not None and (late or at not in left):
                document.fail(problem, f"{at.topic} [{at.partition}]")
        if late:
            return
        if left:
            await asyncio.sleep(PAUSE)
    going = dict(wanted) if there and not document.errors else {}
    while going:
        for at in await _arrived(cluster, going):
            del going[at]
        if going:
            await asyncio.sleep(PAUSE)


def _not_yet(problem: KcliError | None) -> bool:
    return isinstance(problem, BrokerError) and problem.code is codes.REPLICA_NOT_AVAILABLE


class ReplicaRow(Row, section="replicas"):
    broker: int = column("Id of the broker.", rank=1)
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    old: str = column("The log directory before.", rank=1)
    new: str = column("The log directory after.", rank=1)
    bytes: int = column("Bytes of the replica.", unit="bytes")
    result: str = column("would move, moving, done, failed or unknown.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("reassign.disks", "Replicas that are moved between log directories, or would be.", ReplicaRow)


class DisksOptions(NamedTopics, PatternOptions, WaitingOptions, RateOptions, ChangeOptions):
    brokers: Annotated[
        list[str], KcliOption("--broker", metavar="ID", help="On this broker. Repeatable.", also=("--broker-id",))
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
        raise UsageError("--balance chooses the directories itself, so it cannot be combined with --to or --from")
    rate = None if options.throttle is None else int(bytes_of(options.throttle, "--throttle"))
    if rate is not None and not options.wait:
        raise UsageError("--throttle needs --wait, which removes it at the end")
    if options.patience is not None and not options.wait:
        raise UsageError("--timeout requires --wait")

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
