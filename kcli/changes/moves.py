"""Changes of replica placement: moves of partitions between brokers and of replicas between log directories, and
cancelling or throttling moves in progress.

A planner here uses the cluster state from `read_layout`. It starts a move; tracking its progress is up to the command
(`cli/commands/reassign` waits, in batches, with a throttle).
"""

from __future__ import annotations

from collections import Counter

from kcli.admin.configs import DELETE, MIN_ISR, Operation, min_isr
from kcli.admin.reassign import assignment_file, balance, throttles
from kcli.admin.reassign.reassignments import Ongoing, about, alter_reassignments, list_reassignments, replica_sizes
from kcli.admin.storage import Replica, alter_log_dirs, directories, evened
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.changes import configs
from kcli.changes.change import Plan, Row, Undo
from kcli.errors import KcliError, UsageError
from kcli.model import TopicPartition
from kcli.text.numbers import counted
from kcli.values import Frozen, Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from kcli.admin.configs import Resource
    from kcli.admin.reassign.reassignments import Assignment
    from kcli.admin.storage import LogDir
    from kcli.admin.topics.topics import Partition
    from kcli.model import Cluster

WOULD_MOVE, MOVING = "would move", "moving"


class Layout(Value):
    """Where the partitions of a cluster are. `replicas` has every partition, with the brokers before its move if it is
    moving; `sizes` are bytes by partition, `racks` those of all registered brokers, `ongoing` the moves in progress.
    `failed` are the errors of topics without a description, `unmeasured` those of brokers that report no sizes."""

    replicas: Assignment = field(factory=dict)
    sizes: dict[TopicPartition, int] = field(factory=dict)
    racks: dict[int, str | None] = field(factory=dict)
    ongoing: dict[TopicPartition, Ongoing] = field(factory=dict)
    failed: dict[str, KcliError] = field(factory=dict)
    unmeasured: dict[int, KcliError] = field(factory=dict)

    def target(self, at: TopicPartition) -> list[int] | None:
        """Return where a partition is, or moves to."""
        return self.ongoing[at].target if at in self.ongoing else self.replicas.get(at)


async def read_layout(cluster: Cluster) -> Layout:
    """Return the current state of the cluster. Raises KcliError."""
    layout = Layout()
    found: dict[TopicPartition, Partition] = {}
    for name, topic in (await describe_topics(cluster)).items():
        if isinstance(topic, Topic):
            found |= {TopicPartition(one.topic, one.partition): one for one in topic.partitions}
        else:
            layout.failed[name] = topic
    layout.ongoing = await list_reassignments(cluster)
    layout.racks = {node.id: node.rack for node in await cluster.nodes()}
    sizes, layout.unmeasured = await replica_sizes(cluster, None)
    for at, partition in found.items():
        layout.replicas[at] = layout.ongoing[at].sources if at in layout.ongoing else partition.replicas
        here = sizes.get(at, {})
        layout.sizes[at] = here.get(partition.leader, max(here.values(), default=0))
    return layout


class PartitionMove(Row):
    """A partition that gets other replicas, or another preferred leader, which is the first broker."""

    at: TopicPartition = field()
    before: list[int] = field()
    after: list[int] = field()
    bytes: int = 0
    """Bytes to copy, to all its new replicas."""
    words: tuple[str, str, str] = (WOULD_MOVE, "", MOVING)
    result: str = WOULD_MOVE
    columns = "topic=at.topic partition=at.partition old=before new=after adding removing bytes result".split()

    @property
    def adding(self) -> list[int]:
        """Brokers that get a replica."""
        return [node for node in self.after if node not in self.before]

    @property
    def removing(self) -> list[int]:
        """Brokers that lose a replica."""
        return [node for node in self.before if node not in self.after]


class MovePlan(Plan):
    """The result of a plan for a cluster's `layout`: `wanted` has the replicas of all requested partitions, the rows
    those that change, and directories are from a file."""

    layout: Layout = field(factory=Layout)
    wanted: Assignment = field(factory=dict)
    log_dirs: dict[Replica, str] = field(factory=dict)

    @property
    def changes(self) -> Assignment:
        """The new replicas of the partitions that change."""
        return {row.at: row.after for row in self.rows if isinstance(row, PartitionMove)}


async def plan(
    cluster: Cluster,
    layout: Layout,
    wanted: Assignment,
    log_dirs: Mapping[Replica, str] | None = None,
    failed: Mapping[str, KcliError] | None = None,
) -> MovePlan:
    """Return the plan that gives partitions their `wanted` replicas, and replicas their directories.

    Parts that `failed`, or are impossible, block all of it; warnings name topics that will have too few replicas for
    writes. Raises KcliError.
    """
    made = MovePlan(layout=layout, log_dirs=dict(log_dirs or {}), failed={**layout.failed, **(failed or {})})
    for at, brokers in sorted(wanted.items()):
        unknown = [node for node in brokers if node not in layout.racks]
        if at not in layout.replicas:
            made.failed[about(at)] = KcliError(f"{about(at)}: unknown partition")
        elif unknown:
            made.failed[about(at)] = KcliError(f"{about(at)}: broker {unknown[0]} does not exist")
        else:
            made.wanted[at] = brokers
            if brokers != layout.target(at):
                row = PartitionMove(at=at, before=layout.replicas[at], after=brokers, about=about(at))
                row.bytes = layout.sizes.get(at, 0) * len(row.adding)
                made.rows.append(row)
    made.undo = undo_of({at: layout.replicas[at] for at in made.changes})
    made.final = bool(made.log_dirs)
    made.warnings += await _few_replicas(cluster, layout, made.changes)
    if not made.failed and (made.rows or made.log_dirs):

        async def apply(cluster: Cluster) -> None:
            await begin(cluster, made, made.changes)

        made.apply = apply
    return made


async def begin(cluster: Cluster, plan: MovePlan, some: Collection[TopicPartition]) -> Assignment:
    """Start to move some partitions of a plan and update their rows; return those that started."""
    rows = {row.at: row for row in plan.rows if isinstance(row, PartitionMove) and row.at in some}
    for at, problem in (await alter_reassignments(cluster, {at: row.after for at, row in rows.items()})).items():
        rows[at].settle(problem)
    return {at: row.after for at, row in rows.items() if row.result == MOVING}


async def _few_replicas(cluster: Cluster, layout: Layout, changes: Assignment) -> list[str]:
    """Return a warning for each topic that gets fewer replicas than a write with acks=all needs, or if that is
    unknown."""
    least: dict[str, int] = {}
    for at, brokers in changes.items():
        if len(brokers) < len(layout.replicas[at]):
            least[at.topic] = min(len(brokers), least.get(at.topic, len(brokers)))
    sentences = []
    for topic, needed in (await min_isr(cluster, least) if least else {}).items():
        replicas = f"WARNING: {topic} will have {counted(least[topic], 'replica')}"
        if isinstance(needed, KcliError):
            sentences.append(f"{replicas}, and {MIN_ISR} is unknown: {needed}")
        elif needed > least[topic]:
            sentences.append(f"{replicas} and {MIN_ISR}={needed}: no producer can write to it with acks=all")
    return sentences


class Placement(Frozen):
    """Where replicas may be, for a generated plan: on these brokers (None: on all) except those `leaving`.
    `replication` None keeps each partition's own; without `by_rack` racks are ignored, without `even` only what has to
    move moves."""

    brokers: Sequence[int] | None = None
    leaving: Sequence[int] = ()
    replication: int | None = None
    by_rack: bool = True
    even: bool = True


async def place(
    cluster: Cluster,
    layout: Layout,
    partitions: Iterable[TopicPartition],
    placement: Placement,
    failed: Mapping[str, KcliError] | None = None,
) -> MovePlan:
    """Return the plan that spreads partitions over brokers and racks with as few bytes copied as possible. Partitions
    that are already moving are left out. Raises UsageError for an impossible placement, KcliError."""
    moving = [at for at in partitions if at in layout.ongoing]
    some = {at: layout.replicas[at] for at in partitions if at in layout.replicas and at not in layout.ongoing}
    brokers = _brokers_to_use(layout, placement)
    wish = balance.Wish(brokers=brokers, replication=placement.replication, even=placement.even)
    made = await plan(cluster, layout, balance.plan(some, wish, layout.sizes), failed=failed)
    warnings = [_left_out(moving)] if moving else []
    for node, count in sorted(Counter(node for brokers in some.values() for node in brokers).items()):
        if node not in layout.racks:
            its = counted(count, "replica")
            warnings.append(f"WARNING: broker {node} is not available; its {its} would be created elsewhere")
    made.warnings[:0] = warnings
    return made


def _left_out(moving: Sequence[TopicPartition]) -> str:
    return f"{counted(len(moving), 'partition')} already moving, such as {about(moving[0])}: not in this plan"


def _brokers_to_use(layout: Layout, placement: Placement) -> dict[int, str | None]:
    """Return the brokers that may have replicas, with their racks. Raises UsageError."""
    only = list(layout.racks) if placement.brokers is None else placement.brokers
    for node in only:
        if node not in layout.racks:
            raise UsageError(f"unknown broker {node}; known: {', '.join(map(str, sorted(layout.racks)))}")
    usable = [node for node in only if node not in placement.leaving]
    if not usable:
        raise UsageError("no broker is left to move replicas to")
    racks = {node: layout.racks[node] for node in usable}
    if not placement.by_rack:
        return dict.fromkeys(racks)
    without = [node for node, rack in racks.items() if rack is None]
    if without and len(without) < len(racks):
        raise UsageError(f"broker {without[0]} has no rack, but others do").hinted("without-racks")
    return racks


class ReplicaMove(Row):
    """A replica that moves to another log directory of its broker; `old` and `new` are the directories."""

    at: Replica = field()
    bytes: int = 0
    words: tuple[str, str, str] = (WOULD_MOVE, "", MOVING)
    result: str = WOULD_MOVE
    columns = "broker=at.broker topic=at.topic partition=at.partition old new bytes result".split()


class DiskPlacement(Frozen):
    """Where the chosen replicas of each broker go: `to` a directory, `away` from one, or, with neither, so that its
    directories are about equally full."""

    chosen: Callable[[TopicPartition], bool] = lambda at: True
    to: str | None = None
    away: str | None = None


def plan_disks(places: Sequence[LogDir], failed: Mapping[str, KcliError], placement: DiskPlacement) -> Plan:
    """Return the plan that moves replicas between the log directories that could be read; anything that `failed` blocks
    all of it. Raises UsageError for a directory that a broker does not have, and for its only one."""
    wanted: dict[Replica, str] = {}
    for broker in dict.fromkeys(place.broker for place in places):
        wanted |= _wanted([place for place in places if place.broker == broker], placement)
    rows = {
        at: ReplicaMove(at=at, old=place.directory, new=wanted[at], bytes=replica.size, about=_replica_about(at))
        for place in places
        for replica in place.replicas
        if not replica.future
        if (at := Replica(replica.topic, replica.partition, replica.broker)) in wanted
    }
    made = Plan(rows=list(rows.values()), failed=dict(failed))
    if failed:
        return made

    async def apply(cluster: Cluster) -> None:
        for at, problem in (await alter_log_dirs(cluster, {at: str(row.new) for at, row in rows.items()})).items():
            rows[at].settle(problem)

    return made.applied_by(apply)


def _wanted(mine: list[LogDir], placement: DiskPlacement) -> dict[Replica, str]:
    """Return the directories for replicas of one broker. Raises UsageError."""
    to, away = placement.to, placement.away
    names = [place.directory for place in mine if not place.cordoned]
    for name in (to, away):
        if name is not None and name not in [place.directory for place in mine]:
            raise UsageError(f"broker {mine[0].broker} has no directory {name}; it has {', '.join(names)}")
    some = {
        Replica(replica.topic, replica.partition, replica.broker): (place.directory, replica.size)
        for place in mine
        for replica in place.replicas
        if placement.chosen(TopicPartition(replica.topic, replica.partition)) and not replica.future
        if away in (None, place.directory)
    }
    if to is not None:
        return {at: to for at, (name, _) in some.items() if name != to}
    return evened(mine, some) if away is None else _emptied(mine, some, away)


def _emptied(mine: list[LogDir], some: Mapping[Replica, tuple[str, int]], away: str) -> dict[Replica, str]:
    """Move everything to the other directories, always to the emptiest, the largest first."""
    sizes = {place.directory: place.size for place in mine if place.directory != away and not place.cordoned}
    if not sizes:
        raise UsageError(f"broker {mine[0].broker} has no directory except {away}")
    moves: dict[Replica, str] = {}
    for at, (_, size) in sorted(some.items(), key=lambda item: (-item[1][1], item[0])):
        moves[at] = min(sizes, key=lambda name: (sizes[name], name))
        sizes[moves[at]] += size
    return moves


def _replica_about(at: Replica) -> str:
    return f"{at.topic} [{at.partition}]"


class CancelledMove(Row):
    """A cancelled move: the partition gets its previous replicas."""

    at: TopicPartition = field()
    move: Ongoing = field()
    words: tuple[str, str, str] = ("would cancel", "", "cancelled")
    result: str = "would cancel"
    columns = (
        *("topic=at.topic", "partition=at.partition", "old=move.replicas", "new=move.sources"),
        *("adding=move.adding", "removing=move.removing", "result"),
    )


def undo_of(assignment: Assignment) -> Undo:
    """Return the undo data that moves partitions back to these replicas, or nothing if there are none."""
    return Undo(document=assignment_file.document(assignment) if assignment else {}, file="reassign")


async def plan_cancel(
    cluster: Cluster, chosen: Callable[[TopicPartition], bool], dirs: Mapping[Replica, str] | None = None
) -> Plan:
    """Return the plan that cancels the moves of the chosen partitions, and those of replicas to these directories,
    which have no rows and cannot be restarted by undo."""
    rows = [
        CancelledMove(at=at, move=move, about=about(at), old=_brokers(move.replicas), new=_brokers(move.sources))
        for at, move in (await list_reassignments(cluster)).items()
        if chosen(at)
    ]
    here = await directories(cluster, dirs) if dirs else {}
    back = {at: here[at, False] for at in dirs or {} if here.keys() >= {(at, True), (at, False)}}
    made = Plan(rows=list(rows), undo=undo_of({row.at: row.move.target for row in rows}), final=bool(back))
    if not rows and not back:
        return made

    async def apply(cluster: Cluster) -> None:
        outcomes = await alter_reassignments(cluster, {row.at: None for row in rows})
        for row in rows:
            row.settle(outcomes[row.at])
        for replica, problem in (await alter_log_dirs(cluster, back)).items():
            if problem is not None:
                made.failed[_replica_about(replica)] = problem

    made.apply = apply
    return made


def _brokers(numbers: list[int]) -> str:
    return f"broker{'s' * (len(numbers) != 1)} {' '.join(map(str, numbers))}"


async def plan_throttle(cluster: Cluster, throttled: Mapping[Resource, Mapping[str, str]], rate: int | None) -> Plan:
    """Return the plan that limits the moves in progress to `rate` bytes per second at each broker; None removes
    throttles. It has no undo, because a throttle restored after its moves slows down replication. Raises KcliError."""
    if rate is None:
        changes = {at: [Operation(name=name, how=DELETE) for name in some] for at, some in throttled.items()}
    else:
        ongoing = await list_reassignments(cluster)
        if not ongoing:
            raise KcliError("nothing moves, so there is nothing to throttle")
        changes = throttles.wanted(throttles.moves({}, {}, ongoing), rate)
    made = await configs.plan(cluster, changes, alter=throttles.set_throttle)
    made.undo, made.warnings = None, []
    return made
