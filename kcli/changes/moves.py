"""Changes of moves between brokers: those under way are cancelled, or held to a rate."""

from __future__ import annotations

from kcli.admin.configs.resources import DELETE, Operation
from kcli.admin.reassign import assignment_file, throttles
from kcli.admin.reassign.reassignments import Ongoing, about, alter_reassignments, list_reassignments
from kcli.admin.storage.disks import Replica, alter_log_dirs, directories
from kcli.changes import configs
from kcli.changes.change import Plan, Row, Undo
from kcli.errors import KcliError
from kcli.values import field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kcli.admin.configs.resources import Resource
    from kcli.admin.reassign.reassignments import Assignment
    from kcli.model import Cluster, TopicPartition


class MoveRow(Row):
    """A move that is cancelled: the partition gets its previous replicas."""

    at: TopicPartition = field()
    move: Ongoing = field()
    words: tuple[str, str, str] = ("would cancel", "", "cancelled")
    result: str = "would cancel"
    columns = (
        *("topic=at.topic", "partition=at.partition", "old=move.replicas", "new=move.sources"),
        *("adding=move.adding", "removing=move.removing", "result"),
    )


def undo_of(assignment: Assignment) -> Undo:
    """What moves partitions back to these replicas; nothing where there are none."""
    return Undo(document=assignment_file.document(assignment) if assignment else {}, file="reassign")


async def plan_cancel(
    cluster: Cluster, chosen: Callable[[TopicPartition], bool], dirs: Mapping[Replica, str] | None = None
) -> Plan:
    """The plan that cancels the moves of the chosen partitions, and those of replicas to these directories, which have
    no rows and cannot be begun again by undoing it."""
    rows = [
        MoveRow(at=at, move=move, about=about(at), old=_brokers(move.replicas), new=_brokers(move.sources))
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
                made.failed[f"{replica.topic} [{replica.partition}]"] = problem

    made.apply = apply
    return made


def _brokers(numbers: list[int]) -> str:
    return f"broker{'s' * (len(numbers) != 1)} {' '.join(map(str, numbers))}"


async def plan_throttle(cluster: Cluster, throttled: Mapping[Resource, Mapping[str, str]], rate: int | None) -> Plan:
    """The plan that holds the moves under way to `rate` bytes a second at each broker; None removes what is throttled.
    It keeps no undo: a throttle that comes back after its moves slows down replicas. Raises KcliError."""
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
