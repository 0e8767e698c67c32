"""The plan of a reset: which groups may be changed, the state of their partitions, and the change itself (E43).

Live members would overwrite a reset with their own commits. So the coordinator refuses it, and the plan says so before,
with the members' names.
"""

from __future__ import annotations

import asyncio
from itertools import groupby

from kcli import codes
from kcli.admin.groups.commits import delete_commits, delete_starts, write_commits, write_starts
from kcli.admin.groups.committed import committed_offsets
from kcli.admin.groups.groups import find_groups, some_members
from kcli.admin.groups.reset import Change, Standing, decide
from kcli.admin.groups.rows import Described, GroupMissing
from kcli.asking.fan_out import PATIENCE, good
from kcli.asking.leaders import TopicMissing
from kcli.asking.offsets import LogOffset, bounds
from kcli.errors import BrokerError, KcliError, UnknownOutcome
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.admin.groups.kinds import ShareStart
    from kcli.admin.groups.reset import Form
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
"""What a coordinator says to a commit from outside when the group has members."""


class GroupLive(KcliError):
    """The group has members, so its offsets are theirs."""

    def __init__(self, group: Described) -> None:
        who = some_members(group.members)
        super().__init__(
            f"{group.group}: the group is {group.state} with {who}; its offsets can be changed when it is Empty: stop "
            "the members (one that died leaves when its session times out)"
        )
        self.group = group.group


class Target(Value):
    """A group to be changed. `described` is None for a group that does not exist yet; `refusal` is the reason why it
    must not be changed."""

    group: str = ""
    described: Described | None = None
    refusal: KcliError | None = None
    commits: dict[TopicPartition, OffsetAndMetadata | KcliError] = field(factory=dict)

    @property
    def share(self) -> bool:
        """Whether it is a share group, whose commits are the offsets at which it starts."""
        return self.described is not None and self.described.type == "share"

    @property
    def committed(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """The committed offsets, without partitions that failed or have no commit."""
        return {at: commit for at, commit in good(self.commits).items() if commit.offset >= 0}


async def targets(coordinators: Coordinators, groups: Iterable[str]) -> dict[str, Target]:
    """The state of the groups. Commits of a transaction that is ending are awaited (KIP-447)."""
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
    """The starts of a share group as if they were commits; -1 where it has not started to read."""
    return {
        at: start
        if isinstance(start, KcliError)
        else OffsetAndMetadata(-1 if start.start is None else start.start, start.leader_epoch)
        for at, start in starts.items()
    }


def refusal(group: Described) -> KcliError | None:
    """Why the offsets of this group may not be changed from outside now."""
    if group.members or group.state not in WITHOUT_MEMBERS:
        return GroupLive(group)
    return None


async def standings(
    cluster: Cluster, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, tuple[int, int] | KcliError]:
    """(start, end) of each log; the end is the high watermark, as Kafka's own tool has it. A partition that the topic
    does not have is an error of its own."""
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
    """The topic is there, and has no partition of this number."""

    def __init__(self, at: TopicPartition, count: int) -> None:
        super().__init__(f"{at.topic} [{at.partition}]: the topic has partitions 0 to {count - 1} only")


async def numbers_of(cluster: Cluster, topic: str) -> set[int] | KcliError:
    """The partitions of a topic, or why they are not known."""
    try:
        return set(await cluster.partitions(topic))
    except BrokerError as error:
        return TopicMissing(topic) if error.code is codes.UNKNOWN_TOPIC_OR_PARTITION else error
    except KcliError as error:
        return error


def standing(target: Target, at: TopicPartition, log: tuple[int, int] | KcliError) -> Standing | KcliError:
    """The state of one partition of a group."""
    old = target.commits.get(at)
    if isinstance(old, KcliError):
        return old
    if isinstance(log, KcliError):
        return log
    return Standing(start=log[0], end=log[1], old=old if old is not None and old.offset >= 0 else None)


async def plan(cluster: Cluster, wanted: Iterable[tuple[Target, list[TopicPartition], Form]]) -> list[Change]:
    """A row for each partition of each group, by name and number: what its form wants. Where a group refuses, the rows
    say so."""
    some = list(wanted)
    logs = await standings(cluster, (at for _, partitions, _ in some for at in partitions))
    rows: list[Change] = []
    for target, partitions, form in some:
        for at in sorted(partitions):
            change = decide(target.group, at, standing(target, at, logs[at]), form)
            change.share = target.share
            if change.share and change.result == "unchanged" and change.new is not None:
                change.result = "would reset"  # records after the start may be acknowledged already
            if target.refusal is not None:
                change.result, change.error = "refused", target.refusal
            rows.append(change)
        refuse_parts_of_topics(target, rows)
    return sorted(rows, key=lambda row: (row.group, row.at))


def refuse_parts_of_topics(target: Target, rows: Iterable[Change]) -> None:
    """Refuse to delete the start of some partitions of a topic: a share group forgets a topic as a whole."""
    if not target.share:
        return
    gone: dict[str, list[Change]] = {}
    for row in rows:
        if row.group == target.group and row.result == "would delete":
            gone.setdefault(row.at.topic, []).append(row)
    for topic, some in gone.items():
        stay = {at for at in target.committed if at.topic == topic} - {row.at for row in some}
        if stay:
            error = KcliError(
                f"{target.group}: a share group forgets all partitions of a topic or none: delete its offsets of the "
                f"whole topic {topic}"
            )
            for row in some:
                row.result, row.error = "refused", error


async def execute(coordinators: Coordinators, changes: Iterable[Change], *, patience: float = PATIENCE) -> None:
    """Execute the open rows of the plan; each row gets its own outcome."""
    by_group: dict[str, list[Change]] = {}
    for change in changes:
        if change.open:
            by_group.setdefault(change.group, []).append(change)
    await asyncio.gather(*(_one_group(coordinators, name, some, patience) for name, some in by_group.items()))


async def _one_group(coordinators: Coordinators, group: str, changes: list[Change], patience: float) -> None:
    write, delete = (write_starts, delete_starts) if changes[0].share else (write_commits, delete_commits)
    written = {change.at: change.new for change in changes if change.new is not None}
    gone = [change.at for change in changes if change.new is None]
    done = await write(coordinators, group, written, patience=patience) if written else {}
    if gone:
        done |= await delete(coordinators, group, gone, patience=patience)
    live: KcliError | None = None
    for change in changes:
        outcome = done[change.at]
        if not isinstance(outcome, KcliError):
            change.result = "deleted" if change.new is None else "reset"
            continue
        if isinstance(outcome, BrokerError) and outcome.code in LIVE:
            live = live or await _now_live(coordinators, group, outcome)
            outcome = live
        change.error = outcome
        change.result = "unknown" if isinstance(outcome, UnknownOutcome) else "failed"


async def _now_live(coordinators: Coordinators, group: str, error: KcliError) -> KcliError:
    """Name the members that joined after the check."""
    described = (await find_groups(coordinators, [group]))[0][group]
    if isinstance(described, Described) and described.members:
        return GroupLive(described)
    return error
