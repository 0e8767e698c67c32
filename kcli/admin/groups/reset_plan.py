"""The state before a reset: which groups may be changed, and their partitions.

Active members would overwrite a reset with their own commits, so the coordinator rejects it. The plan reports that in
advance, with the members' names.
"""

from __future__ import annotations

from itertools import groupby

from kcli import codes
from kcli.admin.groups.commits import committed_offsets
from kcli.admin.groups.groups import find_groups, some_members
from kcli.admin.groups.rows import Described, GroupMissing
from kcli.asking.fan_out import PATIENCE, good
from kcli.asking.leaders import TopicMissing
from kcli.asking.offsets import LogOffset, bounds
from kcli.errors import BrokerError, KcliError
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.admin.groups.kinds import ShareStart
    from kcli.asking.coordinators import Coordinators
    from kcli.model import Cluster

WITHOUT_MEMBERS = ("Empty", "Dead", "")
LIVE = frozenset(
    (
        codes.UNKNOWN_MEMBER_ID,
        codes.ILLEGAL_GENERATION,
        codes.REBALANCE_IN_PROGRESS,
        codes.STALE_MEMBER_EPOCH,
        codes.NON_EMPTY_GROUP,
    )
)
"""Errors of a coordinator for a commit from outside while the group has members."""


class PartitionOffsets(Value):
    """A partition of a group: the bounds of its log, and the commit (None: none)."""

    start: int = 0
    end: int = 0
    old: OffsetAndMetadata | None = None


class GroupLive(KcliError):
    """The group has members, so its offsets belong to them."""

    def __init__(self, group: Described) -> None:
        who = some_members(group.members)
        super().__init__(
            f"{group.group}: the group is {group.state} with {who}; its offsets can be changed when it is Empty: stop "
            "the members (one that died leaves when its session times out)"
        )
        self.group = group.group


class Target(Value):
    """A group to be changed. `described` is None for a group that does not exist yet; `refusal` is why it must not be
    changed."""

    group: str = ""
    described: Described | None = None
    refusal: KcliError | None = None
    commits: dict[TopicPartition, OffsetAndMetadata | KcliError] = field(factory=dict)

    @property
    def missing(self) -> bool:
        """Whether the group does not exist."""
        return self.described is None and self.refusal is None

    @property
    def share(self) -> bool:
        """Whether it is a share group, whose commits are its start offsets."""
        return self.described is not None and self.described.type == "share"

    @property
    def committed(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """The committed offsets, without partitions that failed or have no commit."""
        return {at: commit for at, commit in good(self.commits).items() if commit.offset >= 0}


async def targets(coordinators: Coordinators, groups: Iterable[str]) -> dict[str, Target]:
    """Return the state of the groups. Waits for commits of a transaction that is ending (KIP-447)."""
    from kcli.admin.groups.kinds import share_offsets

    names = list(dict.fromkeys(groups))
    groups_by_name, _ = await find_groups(coordinators, names)
    shared = [name for name, group in good(groups_by_name).items() if group.type == "share"]
    others = [name for name in names if name not in shared]
    commits = await committed_offsets(coordinators, others, stable=True)
    if shared:
        starts = await share_offsets(coordinators, shared, patience=PATIENCE)
        commits |= {name: some if isinstance(some, KcliError) else _commits(some) for name, some in starts.items()}
    targets: dict[str, Target] = {}
    for name in names:
        described, some = groups_by_name[name], commits[name]
        target = targets[name] = Target(group=name)
        if isinstance(described, Described):
            target.described, target.refusal = described, refusal(described)
        elif not isinstance(described, GroupMissing):
            target.refusal = described
        if isinstance(some, KcliError):
            target.refusal = target.refusal or some
        else:
            target.commits = some
    return targets


def _commits(
    starts: dict[TopicPartition, ShareStart | KcliError],
) -> dict[TopicPartition, OffsetAndMetadata | KcliError]:
    """Return the start offsets of a share group in the form of commits; -1 if it has not started to read."""
    return {
        at: start
        if isinstance(start, KcliError)
        else OffsetAndMetadata(-1 if start.start is None else start.start, start.leader_epoch)
        for at, start in starts.items()
    }


def refusal(group: Described) -> KcliError | None:
    """Return why the offsets of this group must not be changed from outside now."""
    if group.members or group.state not in WITHOUT_MEMBERS:
        return GroupLive(group)
    return None


async def standings(
    cluster: Cluster, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, tuple[int, int] | KcliError]:
    """Return (start, end) of each log; the end is the high watermark, as in Kafka's own tool. A partition that the
    topic does not have gets an error."""
    wanted = sorted(set(partitions))
    log_bounds: dict[TopicPartition, tuple[int, int] | KcliError] = {}
    for topic, ats in groupby(wanted, key=lambda at: at.topic):
        numbers = await numbers_of(cluster, topic)
        for at in ats:
            if isinstance(numbers, KcliError):
                log_bounds[at] = numbers
            elif at.partition not in numbers:
                log_bounds[at] = NoPartition(at, len(numbers))
    ends, starts, _ = await bounds(cluster, [at for at in wanted if at not in log_bounds], "read_uncommitted")
    for at in ends:
        start, end = starts.get(at), ends[at]
        if isinstance(start, LogOffset) and isinstance(end, LogOffset):
            log_bounds[at] = (start.offset, end.offset)
        else:
            log_bounds[at] = next(
                error for error in (end, start, TopicMissing(at.topic)) if isinstance(error, KcliError)
            )
    return log_bounds


class NoPartition(KcliError):
    """The topic exists, but has no partition with this number."""

    def __init__(self, at: TopicPartition, count: int) -> None:
        super().__init__(f"{at.topic} [{at.partition}]: the topic has partitions 0 to {count - 1} only")


async def numbers_of(cluster: Cluster, topic: str) -> set[int] | KcliError:
    """Return the partitions of a topic, or why they are unknown."""
    try:
        return set(await cluster.partitions(topic))
    except BrokerError as error:
        return TopicMissing(topic) if error.code is codes.UNKNOWN_TOPIC_OR_PARTITION else error
    except KcliError as error:
        return error


def standing(target: Target, at: TopicPartition, log: tuple[int, int] | KcliError) -> PartitionOffsets | KcliError:
    """Return the state of one partition of a group."""
    old = target.commits.get(at)
    if isinstance(old, KcliError):
        return old
    if isinstance(log, KcliError):
        return log
    return PartitionOffsets(start=log[0], end=log[1], old=old if old is not None and old.offset >= 0 else None)
