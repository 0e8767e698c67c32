"""One look at the lag of many groups (lag.md, Sampling).

Committed offsets are read first and end offsets after, so lag is never negative by construction. Requests grow with
coordinators and leaders: groups are batched per coordinator, partitions of all groups per leader.
"""

from __future__ import annotations

import asyncio

from kcli.admin.coordinators import Coordinators
from kcli.admin.gather import PATIENCE, bad, good
from kcli.admin.groups import Described, Member, find_groups
from kcli.admin.lag import Sample
from kcli.admin.offsets import EARLIEST, LATEST, Committed, LogOffset, committed_offsets, list_offsets
from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.model import Cluster

    Ends = dict[TopicPartition, LogOffset | KcliError]
    Commits = dict[TopicPartition, Committed | KcliError]


class GroupSnapshot(Value):
    """A group with a sample of each partition that it committed or owns, sorted by topic and partition."""

    described: Described = field(factory=Described)
    samples: list[Sample] = field(factory=list)


class Snapshot(Value):
    """All groups that could be read, and what could not: groups by name, brokers by id."""

    groups: list[GroupSnapshot] = field(factory=list)
    failed: dict[str, KcliError] = field(factory=dict)
    brokers: dict[int, KcliError] = field(factory=dict)


async def take(
    cluster: Cluster,
    groups: Iterable[str] = (),
    *,
    states: Iterable[str] = (),
    isolation: str = "read_uncommitted",
    topics: Iterable[str] = (),
    stable: bool = False,
    patience: float = PATIENCE,
) -> Snapshot:
    """A snapshot of the named groups, or of all. Share groups have no committed offsets and are left out. `states`
    keeps groups in these states, whatever their case; `topics` keeps only these topics. `isolation` says which end
    counts: high watermark or last stable offset; with `stable` the last stable offset is read in any case."""
    coordinators = Coordinators(cluster)
    named = list(dict.fromkeys(groups))
    found, brokers = await find_groups(coordinators, named, patience=patience)
    wanted_states = {state.lower() for state in states}
    described = {
        name: group
        for name, group in good(found).items()
        if group.type != "share" and (not wanted_states or group.state.lower() in wanted_states)
    }
    commits = await committed_offsets(coordinators, described, patience=patience)
    failed = bad(found) | bad(commits)
    for name, group in good(found).items():
        if name in named and group.type == "share":
            failed[name] = KcliError(f"{name}: a share group commits no offsets, so it has no lag of this kind")
    kept = set(topics)
    committed: dict[str, Commits] = {}
    for name, partitions in good(commits).items():
        both: Commits = {at: Committed() for at in owners(described[name])}
        both |= partitions
        committed[name] = {at: where for at, where in both.items() if not kept or at.topic in kept}
    everywhere = {at for some in committed.values() for at in some}
    ends, starts, stables = await bounds(cluster, everywhere, isolation, patience, stable=stable)
    shots = [
        GroupSnapshot(described=described[name], samples=samples_of(described[name], some, ends, starts, stables))
        for name, some in committed.items()
    ]
    return Snapshot(groups=sorted(shots, key=lambda shot: shot.described.group), failed=failed, brokers=brokers)


async def bounds(
    cluster: Cluster, partitions: Iterable[TopicPartition], isolation: str, patience: float = PATIENCE,
    *, stable: bool = False,
) -> tuple[Ends, Ends, Ends]:  # fmt: skip
    """The ends, the starts and, if wanted, the last stable offsets of these partitions, all read at the same time."""
    wanted = sorted(partitions)
    if not wanted:
        return {}, {}, {}
    if any(cluster.leader_id(at) < 0 for at in wanted):
        try:
            await cluster.refresh(sorted({at.topic for at in wanted}))
        except KcliError as error:
            return dict.fromkeys(wanted, error), {}, {}
    also = wanted if stable and isolation != "read_committed" else []
    ends, starts, stables = await asyncio.gather(
        list_offsets(cluster, LATEST, wanted, isolation=isolation, patience=patience),
        list_offsets(cluster, EARLIEST, wanted, patience=patience),
        list_offsets(cluster, LATEST, also, isolation="read_committed", patience=patience),
    )
    return ends, starts, stables if also else ends if isolation == "read_committed" else {}


def owners(group: Described) -> dict[TopicPartition, Member]:
    """Who owns which partition."""
    return {at: member for member in group.members for at in member.assignment}


def samples_of(group: Described, committed: Commits, ends: Ends, starts: Ends, stables: Ends) -> list[Sample]:
    """The samples of one group, sorted by topic and partition."""
    owner = owners(group)
    samples = []
    for at in sorted(committed):
        where, end, start, member = committed[at], ends.get(at), starts.get(at), owner.get(at)
        stable = stables.get(at)
        problem = next((answer for answer in (where, end, start) if isinstance(answer, KcliError)), None)
        samples.append(
            Sample(
                group=group.group,
                topic=at.topic,
                partition=at.partition,
                committed=where.offset if isinstance(where, Committed) and where.offset >= 0 else None,
                end=end.offset if isinstance(end, LogOffset) else None,
                start=start.offset if isinstance(start, LogOffset) else None,
                stable=stable.offset if isinstance(stable, LogOffset) else None,
                owned=True if member else False if group.owners_known else None,
                member_id=member.member_id if member else None,
                client_id=member.client_id if member else None,
                host=member.host if member else None,
                error=str(problem) if problem is not None else None,
            )
        )
    return samples
