"""One snapshot of the lag of many groups (docs/lag.md).

Committed offsets are read first and end offsets after them, so lag is never negative. The number of requests grows with
coordinators and leaders: groups are batched per coordinator, partitions of all groups per leader.
"""

from __future__ import annotations

from kcli.admin.groups.commits import committed_offsets
from kcli.admin.groups.groups import find_groups, match_groups, progress_of
from kcli.admin.groups.rows import Described, Member
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import PATIENCE, bad, good
from kcli.asking.offsets import LogOffset, bounds
from kcli.errors import BrokerError, KcliError
from kcli.lag.figures import Lag, Sample, Total, measure, total
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.text.names import Names
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypedDict

    from kcli.model import Cluster

    Ends = dict[TopicPartition, LogOffset | KcliError]
    Commits = dict[TopicPartition, OffsetAndMetadata | KcliError]
    Counted = dict[tuple[str, TopicPartition], int]
    Begins = dict[tuple[str, TopicPartition], int | KcliError]

    class Selection(TypedDict, total=False):
        """The arguments of `take` that select what is read of the groups."""

        states: Iterable[str]
        topics: Iterable[str] | Names
        isolation: str
        own: bool


class GroupSnapshot(Value):
    """A group with a sample of each partition that it committed or owns, sorted by topic and partition."""

    described: Described = field(factory=Described)
    samples: list[Sample] = field(factory=list)


class Snapshot(Value):
    """All groups, and the errors: of groups by name, of brokers by id. `own` are the omitted groups with kcli's own
    progress."""

    groups: list[GroupSnapshot] = field(factory=list)
    own: list[str] = field(factory=list)
    failed: dict[str, KcliError] = field(factory=dict)
    brokers: dict[int, KcliError] = field(factory=dict)


class GroupLag(Value):
    """The current lag of a group: `total` is its sum, `partitions` has each partition that it committed or owns."""

    total: Total = field(factory=Total)
    partitions: dict[TopicPartition, Lag] = field(factory=dict)

    @property
    def lag(self) -> int | None:
        """Offsets behind, in total; None if no partition's lag is known. With `at_least` it may be more."""
        return self.total.lag

    @property
    def at_least(self) -> bool:
        """Whether the lag of some partitions is unknown."""
        return self.total.at_least

    @property
    def status(self) -> str:
        """The worst status of a partition."""
        return self.total.status


async def lag_of(cluster: Cluster, group: str, isolation: str = "read_uncommitted") -> GroupLag:
    """Return the lag of one group. Raises GroupMissing, and KcliError if the group cannot be read."""
    shot = await take(cluster, Names([group], literal=True), isolation=isolation)
    for error in (*shot.failed.values(), *shot.brokers.values()):
        raise error
    rows = [measure(sample) for one in shot.groups for sample in one.samples]
    found = {TopicPartition(row.sample.topic, row.sample.partition): row for row in rows}
    return GroupLag(total=total(rows, group), partitions=found)


async def take(
    cluster: Cluster,
    groups: Iterable[str] | Names = (),
    *,
    states: Iterable[str] = (),
    isolation: str = "read_uncommitted",
    topics: Iterable[str] | Names = (),
    stable: bool = False,
    own: bool = True,
    patience: float = PATIENCE,
) -> Snapshot:
    """Take a snapshot of the named groups, or of all; groups with kcli's own progress only with `own`.

    A share group's commit is the start of its window, its lag that of its coordinator. `states` selects groups in these
    states (in any case), `topics` only these topics. `isolation` selects the end: high watermark or last stable offset;
    with `stable` the last stable offset is read in any case.
    """
    coordinators = Coordinators(cluster)
    wanted = _names(groups)
    match, unlisted = await match_groups(cluster, wanted, own=own)
    absent: dict[str, KcliError] = {text: match.refusal("group") for text in match.unmatched if not unlisted}
    named = match.names
    if wanted.words and not named:
        return Snapshot(failed=absent, brokers=unlisted)
    answers, brokers = await find_groups(coordinators, named, patience=patience)
    hidden = sorted(name for name in answers if not (own or named) and progress_of(name))
    answers = {name: group for name, group in answers.items() if name not in hidden}
    described = _in_states(good(answers), states)
    counted: Counted = {}
    commits = await _commits(coordinators, described, counted, patience, named=set(named))
    failed = absent | bad(answers) | bad(commits)
    committed = _of_topics(good(commits), described, _names(topics))
    everywhere = {at for some in committed.values() for at in some}
    logs = await bounds(cluster, everywhere, isolation, patience, stable=stable)
    lso = isolation == "read_committed"
    begins = await _begins(cluster, described, committed, logs[0])
    shots = [
        GroupSnapshot(described=group, samples=samples_of(group, some, *logs, counted, begins, stable_end=lso))
        for group, some in ((described[name], some) for name, some in committed.items())
    ]
    return Snapshot(
        groups=sorted(shots, key=lambda shot: shot.described.group),
        failed=failed,
        brokers=unlisted | brokers,
        own=hidden,
    )


def _in_states(described: dict[str, Described], states: Iterable[str]) -> dict[str, Described]:
    """Return the groups in these states (in any case); all groups if no state is given."""
    wanted = {state.lower() for state in states}
    return {name: group for name, group in described.items() if not wanted or group.state.lower() in wanted}


async def _commits(
    coordinators: Coordinators, described: dict[str, Described], counted: Counted, patience: float, *, named: set[str]
) -> dict[str, Commits | KcliError]:
    """Return the committed offsets of each group; for share groups see `_share_commits`. Coordinators may take seconds
    for share groups, while other groups and their topics move, so share groups come first."""
    shared = [name for name, group in described.items() if group.type == "share"]
    others = [name for name in described if name not in shared]
    commits: dict[str, Commits | KcliError] = {}
    if shared:
        commits |= await _share_commits(coordinators, shared, counted, patience, named=named)
    return commits | await committed_offsets(coordinators, others, patience=patience)


def _of_topics(commits: dict[str, Commits], described: dict[str, Described], topics: Names) -> dict[str, Commits]:
    """Return the commits of these topics, or of all; a partition with an owner and no commit has an empty one."""
    rows: dict[str, Commits] = {}
    meant: dict[str, bool] = {}
    for name, partitions in commits.items():
        both: Commits = {at: OffsetAndMetadata() for at in owners(described[name])}
        both |= partitions
        for topic in {at.topic for at in both} - meant.keys():
            meant[topic] = topics.covers(topic)
        rows[name] = {at: where for at, where in both.items() if meant[at.topic]}
    return rows


def _names(words: Iterable[str] | Names) -> Names:
    return words if isinstance(words, Names) else Names(words, literal=True)


async def _share_commits(
    coordinators: Coordinators, groups: list[str], counted: Counted, patience: float, *, named: set[str]
) -> dict[str, Commits | KcliError]:
    """Return the start offsets of share groups in the form of commits, and add their lag to `counted`. If a broker does
    not report them, groups that were not named are omitted."""
    from kcli.admin.groups.kinds import ShareStart, share_offsets

    commits: dict[str, Commits | KcliError] = {}
    for name, answer in (await share_offsets(coordinators, groups, patience=patience)).items():
        if isinstance(answer, KcliError):
            if name in named or isinstance(answer, BrokerError):
                commits[name] = answer
            continue
        rows: Commits = {}
        commits[name] = rows
        for at, where in answer.items():
            if isinstance(where, ShareStart):
                rows[at] = OffsetAndMetadata(-1 if where.start is None else where.start, where.leader_epoch)
                if where.lag is not None:
                    counted[name, at] = where.lag
            else:
                rows[at] = where
    return commits


async def _begins(
    cluster: Cluster, described: dict[str, Described], committed: dict[str, Commits], ends: Ends
) -> Begins:
    """Return where share groups will start partitions that they have not read."""
    from kcli.admin.groups.kinds import share_begins

    unread = {
        name: some
        for name, partitions in committed.items()
        if described[name].type == "share"
        and (some := [at for at, where in good(partitions).items() if where.offset < 0])
    }
    return await share_begins(cluster, unread, ends) if unread else {}


def owners(group: Described) -> dict[TopicPartition, Member]:
    """Return the owner of each partition; if members share one, the first."""
    return {at: member for member in reversed(group.members) for at in member.assignment}


def _common(group: Described) -> set[TopicPartition]:
    """Return partitions that several members of a share group read: none of them owns it."""
    seen: set[TopicPartition] = set()
    everywhere = (at for member in group.members for at in member.assignment)
    return {at for at in everywhere if at in seen or seen.add(at)} if group.type == "share" else set()  # type: ignore[func-returns-value]


def samples_of(
    group: Described,
    committed: Commits,
    ends: Ends,
    starts: Ends,
    stables: Ends,
    counted: Counted | None = None,
    begins: Begins | None = None,
    *,
    stable_end: bool = False,
) -> list[Sample]:
    """Return the samples of one group, sorted by topic and partition."""
    owner, common = owners(group), _common(group)
    samples = []
    for at in sorted(committed):
        where, end, start = committed[at], ends.get(at), starts.get(at)
        member = None if at in common else owner.get(at)
        stable = stables.get(at)
        first = (begins or {}).get((group.group, at))
        problem = next((answer for answer in (where, end, start, first) if isinstance(answer, KcliError)), None)
        samples.append(
            Sample(
                group=group.group,
                topic=at.topic,
                partition=at.partition,
                committed=where.offset if isinstance(where, OffsetAndMetadata) and where.offset >= 0 else None,
                begins=first if isinstance(first, int) else None,
                end=end.offset if isinstance(end, LogOffset) else None,
                start=start.offset if isinstance(start, LogOffset) else None,
                stable=stable.offset if isinstance(stable, LogOffset) else None,
                owned=True if at in owner else False if group.owners_known else None,
                member_id=member.member_id if member else None,
                client_id=member.client_id if member else None,
                host=member.host if member else None,
                error=str(problem) if problem is not None else None,
                counted=(counted or {}).get((group.group, at)),
                stable_end=stable_end,
            )
        )
    return samples
