"""The memory of a watch: samples of every partition, and the state of each group at the last refresh.

It is fed with snapshots of a cluster or of a recording, and sends no request and reads no clock.
"""

from __future__ import annotations

from collections import deque

from kcli.admin.groups.rows import Described
from kcli.lag.figures import Sample, Total, total
from kcli.lag.partition_lag import UNSEEN, WINDOW, Log, PartitionFigures, Track, eta, stand
from kcli.lag.status import CALM, PATIENCE, STALLED, STUCK, UNKNOWN, Facts, patience
from kcli.lag.timeline import Timeline
from kcli.model import TopicPartition
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kcli.errors import KcliError
    from kcli.lag.events import Event
    from kcli.lag.partition_lag import Stood
    from kcli.lag.snapshot import Snapshot

    Standstills = dict[str, dict[TopicPartition, Stood]]  # of each group

KEEP = 900.0  # seconds of samples
TICK = 0.001  # seconds between two snapshots if the clock was set back between them
USUAL = 3  # a pause of up to this many usual intervals between refreshes is not a gap


class GroupStanding(Value):
    """A group at one moment, summed over its partitions. A rate is unknown while that of a partition is.

    `growth` is the net change of its lag, in offsets per second; `falling` is the same if it grows by more than
    uncommitted records. `eta` is the longest of its partitions (seconds), None if one never catches up or is unknown;
    `time_lag` is the longest, too. `status` is that of its worst partitions, of which there are `total.alike`.
    """

    described: Described = field(factory=Described)
    total: Total = field(factory=Total)
    partitions: list[PartitionFigures] = field(factory=list)
    in_rate: float | None = None
    out_rate: float | None = None
    eta: float | None = None
    growth: float | None = None
    falling: float | None = None
    time_lag: float | None = None
    time_lag_least: bool = False
    time_lag_exact: bool = False
    loss_in: float | None = None
    peak: int = 0
    status: str = ""
    records: int | None = None
    """Number of records in its lag, if they were counted, which `History` does not do."""

    @property
    def stuck(self) -> int:
        """Number of stuck partitions."""
        return sum(partition.status == STUCK for partition in self.partitions)

    @property
    def in_least(self) -> float:
        """Offsets per second that arrive, at least, if the rate of some partitions is unknown."""
        return _least(self.in_rate, [partition.in_rate for partition in self.partitions])

    @property
    def out_least(self) -> float:
        """Offsets per second that it reads, at least."""
        return _least(self.out_rate, [partition.out_rate for partition in self.partitions])

    def date(self) -> None:
        """Set the group's time lag: the longest of its partitions. It is a lower bound if that of a partition which is,
        or may be, behind is unknown or a lower bound itself, and None if none of those is known."""
        behind = [partition for partition in self.partitions if partition.lag.lag or partition.status == UNKNOWN]
        dated = [standing for standing in behind if standing.time_lag is not None]
        self.time_lag, self.time_lag_least, self.time_lag_exact = None, False, False
        if behind and not dated:
            return
        longest = max(
            dated or [partition for partition in self.partitions if partition.time_lag is not None],
            key=_time_lag,
            default=None,
        )
        if longest is not None:
            self.time_lag = longest.time_lag
            self.time_lag_least = any(standing.time_lag is None or standing.time_lag_least for standing in behind)
            self.time_lag_exact = longest.time_lag_exact and not self.time_lag_least


class History:
    """`window` is the period for rates, `keep` how far back samples are kept, in seconds; lag up to `threshold`
    is OK."""

    def __init__(self, *, window: float = WINDOW, keep: float = KEEP, threshold: int = 0) -> None:
        self._window, self._keep, self._threshold = window, max(keep, window), threshold
        self._logs: dict[TopicPartition, Log] = {}
        self._tracks: dict[str, dict[TopicPartition, Track]] = {}
        self._before: dict[str, GroupStanding] = {}
        self._peaks: dict[str, int] = {}
        self._stood: Standstills = {}  # from an earlier watch, until each is found again
        self._read: set[TopicPartition] = set()  # whose ends were taken from the newest snapshot
        self._timelines: dict[str, Timeline] = {}
        self._time = 0.0  # of the newest snapshot
        self._intervals: deque[float] = deque(maxlen=5)  # seconds between the newest refreshes
        self.news: list[Event] = []  # of the newest snapshot
        self.failed: dict[str, KcliError] = {}
        self.brokers: dict[int, KcliError] = {}

    def add(self, time: float, snapshot: Snapshot) -> list[GroupStanding]:
        """Add a refresh of all groups and return the current state of each. Errors are in `failed` and `brokers`; a
        group with an error is omitted and keeps its samples."""
        return list(self.adding(time, snapshot))

    def adding(self, time: float, snapshot: Snapshot) -> Iterator[GroupStanding]:
        """Like `add`, group by group, for callers with other work in between; has to be iterated to its end."""
        self._advance(time)
        self.failed, self.brokers = snapshot.failed, snapshot.brokers
        self.news, self._read = [], set()
        for shot in snapshot.groups:
            yield self._add_group(time, shot.described, shot.samples)
        there = {shot.described.group for shot in snapshot.groups} | set(snapshot.failed)
        if not snapshot.brokers:  # otherwise a group may only be missing because its coordinator is
            self._forget_groups(time, there)
        for log in self._logs.values():
            log.forget_before(time - self._keep)

    def _advance(self, time: float) -> None:
        """Set the time of a new snapshot. If the clock was set back, shift earlier samples to keep their ages."""
        if self._time and time <= self._time:
            by = self._time - time + TICK
            for log in self._logs.values():
                log.shift(by)
            for tracks in self._tracks.values():
                for track in tracks.values():
                    track.shift(by)
            for timeline in self._timelines.values():
                timeline.shift(by)
        elif self._time:
            self._intervals.append(time - self._time)
        self._time = time

    @property
    def _slack(self) -> float:
        """Return the longest time between two samples, in seconds, that is not a gap."""
        return max(UNSEEN, USUAL * min(self._intervals, default=0.0))

    def begin(self, at: TopicPartition, ends: list[tuple[float, int]]) -> None:
        """Add log ends from before the first sample: (time, offset), oldest first, so that the incoming rate is known
        from the first refresh."""
        log = self._log(at)
        if not len(log.end):
            for time, offset in ends:
                log.end.add(time, offset)

    def go_on(self, stood: Standstills) -> None:
        """Add what did not move in an earlier watch, before the first sample of its group: a partition found at the
        same offset has not moved since."""
        self._stood = {group: dict(some) for group, some in stood.items()}

    @property
    def watched(self) -> dict[str, Collection[TopicPartition]]:
        """Return the partitions of each group."""
        return {group: tracks.keys() for group, tracks in self._tracks.items()}

    def standstills(self) -> Standstills:
        """Return the partitions with unread records that have not moved for longer than a member's patience, and those
        that commit rarely."""
        found = {group: dict(some) for group, some in self._stood.items()}  # those without a sample yet
        for name, standing in self._before.items():
            for at, stood in self._standing(name, standing):
                found.setdefault(name, {})[at] = stood
        return found

    def _standing(self, group: str, standing: GroupStanding) -> Iterator[tuple[TopicPartition, Stood]]:
        tracks = self._tracks[group]
        moved = _moved(tracks.values())
        for part in standing.partitions:
            at = TopicPartition(part.lag.sample.topic, part.lag.sample.partition)
            track = tracks[at]
            halted = part.still > PATIENCE and part.lag.lag
            if track.slow or (halted and (part.status in (STALLED, STUCK) or part.still > self._patience(track))):
                yield at, track.stands(moved[track.sample.member_id])

    def _patience(self, track: Track) -> float:
        return patience(Facts(commit_interval=track.interval(track.done.last, self._window)))

    def _log(self, at: TopicPartition) -> Log:
        log = self._logs.get(at)
        if log is None:
            log = self._logs[at] = Log(at)
        return log

    @property
    def events(self) -> list[Event]:
        """The events of all groups, oldest first."""
        return sorted(
            (event for some in self._timelines.values() for event in some.events), key=lambda event: event.time
        )

    def events_of(self, group: str) -> list[Event]:
        """Return the newest events of one group, oldest first, however many others have."""
        timeline = self._timelines.get(group)
        return list(timeline.events) if timeline is not None else []

    def _add_group(self, time: float, described: Described, samples: list[Sample]) -> GroupStanding:
        tracks = self._tracks.setdefault(described.group, {})
        seen = set()
        for sample in samples:
            log = self._log(TopicPartition(sample.topic, sample.partition))
            at = log.at  # one key for all groups that read it
            seen.add(at)
            if at not in self._read:  # another group of this refresh may have had the same ends
                self._read.add(at)
                log.add(time, sample)
            track = tracks.get(at)
            if track is None:
                track = tracks[at] = Track()
            track.add(time, sample)
            track.done.forget_before(time - self._keep)
        if self._stood:
            self._find_again(described.group, tracks)
        for gone in tracks.keys() - seen:
            del tracks[gone]
        places = sorted(tracks)
        moved = _moved(tracks.values())
        partitions = [
            stand(
                tracks[at],
                self._logs[at],
                time,
                window=self._window,
                threshold=self._threshold,
                member_moved=moved[tracks[at].sample.member_id],
                slack=self._slack,
            )
            for at in places
        ]
        now = summed(described, partitions)
        now.peak = self._peaks[described.group] = max(self._peaks.get(described.group, 0), now.total.lag or 0)
        self._tell(time, now, places)
        self._before[described.group] = now
        return now

    def _find_again(self, group: str, tracks: dict[TopicPartition, Track]) -> None:
        stood, left = self._stood.pop(group, {}), {}
        for at in stood.keys() & tracks.keys():
            track = tracks[at]
            if len(track.done):
                track.go_on(stood[at])
            elif track.sample.error is not None or track.sample.end is None:
                left[at] = stood[at]  # its offset is not known yet
        if left:
            self._stood[group] = left

    def _tell(self, time: float, now: GroupStanding, places: list[TopicPartition]) -> None:
        timeline = self._timelines.setdefault(now.described.group, Timeline())
        before = self._before.get(now.described.group)
        if before is None:
            timeline.begin(time, zip(places, now.partitions, strict=True))
            return
        old = {
            (partition.lag.sample.topic, partition.lag.sample.partition): partition for partition in before.partitions
        }
        pairs = ((at, old.get(at), partition) for at, partition in zip(places, now.partitions, strict=True))
        self.news += timeline.add(time, (before.described, now.described), pairs)

    def _forget_groups(self, time: float, there: set[str]) -> None:
        for unknown in self._stood.keys() - there:
            del self._stood[unknown]
        for gone in self._tracks.keys() - there:
            del self._tracks[gone]
            if gone in self._before:
                self.news += self._timelines[gone].add(time, (self._before.pop(gone).described, None), ())
        for name in [
            name for name, timeline in self._timelines.items() if name not in self._tracks and timeline.over(time)
        ]:
            del self._timelines[name]
        used = {at for tracks in self._tracks.values() for at in tracks}
        for unused in self._logs.keys() - used:
            del self._logs[unused]

    def clear(self) -> None:
        """Forget everything, in pieces so that other threads are not blocked."""
        for some in (self._tracks, self._before, self._timelines, self._logs):
            while some:
                some.popitem()

    def rate_over(self, window: float) -> None:
        """Compute rates over this many seconds, from the next refresh on."""
        self._window, self._keep = window, max(self._keep, window)

    def lags(self, group: str, at: TopicPartition, moments: list[float]) -> list[int | None]:
        """Return the lag of a partition at each of these times (seconds since the epoch), for a sparkline; None if
        unknown."""
        track, log = self._tracks.get(group, {}).get(at), self._logs.get(at)
        if track is None or log is None:
            return [None] * len(moments)
        slack = self._slack
        pairs = [(log.end.seen(moment, slack), track.done.seen(moment, slack)) for moment in moments]
        past = track.sample.stable_end  # then a commit past the end is not lag
        return [
            None if end is None or done is None or (done > end and not past) else max(end - done, 0)
            for end, done in pairs
        ]


def summed(described: Described, partitions: list[PartitionFigures]) -> GroupStanding:
    """Sum the partitions of a group."""
    sums = total([partition.lag for partition in partitions], described.group)
    sums.members = len(described.members)
    sums.hosts = sorted({member.host for member in described.members})
    out = GroupStanding(described=described, total=sums, partitions=partitions, status=sums.status)
    read = [partition for partition in partitions if partition.lag.sample.committed is not None]
    if not sums.unreadable:  # otherwise the other rates would be taken for those of the group
        out.in_rate = _sum([partition.in_rate for partition in partitions])
        out.out_rate = _sum([standing.out_rate for standing in read])
        out.growth = _sum([standing.growth for standing in read])
    if out.status not in CALM:
        out.falling = out.growth if out.growth and out.growth > 0 else None
    out.eta = eta(partitions) if partitions else None
    out.date()
    out.loss_in = min((partition.loss_in for partition in partitions if partition.loss_in is not None), default=None)
    return out


def topics_of(group: GroupStanding, only: str = "") -> list[GroupStanding]:
    """Return a group split by topic; with `only`, just that topic, if the group reads it."""
    parts: dict[str, list[PartitionFigures]] = {}
    for partition in group.partitions:
        if not only or partition.lag.sample.topic == only:
            parts.setdefault(partition.lag.sample.topic, []).append(partition)
    standings = []
    for topic, some in parts.items():
        standing = summed(group.described, some)
        standing.total.topic = topic
        members = {standing.lag.sample.member_id for standing in some if standing.lag.sample.member_id is not None}
        standing.total.members = len(members)
        standing.total.hosts = sorted(
            {standing.lag.sample.host or "" for standing in some if standing.lag.sample.member_id is not None}
        )
        standing.peak = sum(standing.peak for standing in some)
        standings.append(standing)
    return standings


def _moved(tracks: Iterable[Track]) -> dict[str | None, float]:
    """Return when a partition of each member was last seen to move."""
    moved: dict[str | None, float] = {}
    for track in tracks:
        member = track.sample.member_id
        moved[member] = max(moved.get(member, 0.0), track.moved)
    return moved


def _time_lag(standing: PartitionFigures) -> float:
    return standing.time_lag or 0.0


def _least(rate: float | None, parts: list[float | None]) -> float:
    """Return a sum of rates, or of the known ones."""
    return sum(part or 0.0 for part in parts) if rate is None else rate


def _sum(values: list[float | None]) -> float | None:
    """Return the sum of a group's partitions; None without any, and while one of them is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None
