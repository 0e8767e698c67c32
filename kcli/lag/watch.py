"""Repeated refreshes of groups: a snapshot, its figures, and the transactions that block groups (docs/lag.md)."""

from __future__ import annotations

import asyncio
import time

from kcli.admin.transactions.producers import describe_producers
from kcli.asking.fan_out import good
from kcli.asking.offsets import list_offsets
from kcli.backoff import every
from kcli.errors import Hint, KcliError
from kcli.lag.history import GroupStanding, History, summed
from kcli.lag.partition_lag import UNREAD
from kcli.lag.record_times import HANDFUL, PATIENCE, first_records, spot
from kcli.lag.snapshot import Snapshot, take
from kcli.lag.status import TXN_BLOCKED
from kcli.model import TopicPartition
from kcli.tasks import retrieve
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from kcli.lag.events import Event
    from kcli.lag.partition_lag import PartitionFigures
    from kcli.lag.record_times import Spot
    from kcli.lag.snapshot import Selection
    from kcli.model import Cluster
    from kcli.text.names import Names

TURN = 0.01  # seconds of computing before others get a turn
DATED = 100
"""Partitions per refresh for which the time of the first unread record is requested, unless the caller wants all."""
BELIEVED = 60.0
"""Seconds for which a partition's samples are trusted to show the age of its records, after a comparison."""
BACK = (60.0, 45.0, 30.0, 15.0)
"""Seconds before the first refresh at which log ends are looked up: enough points for a rate."""
BACK_MOST = 2000
"""Partitions for which they are looked up, those with the most lag first: a broker reads a log for each."""
NEAR, NEARLY = 5.0, 0.1
"""Samples show the right time if they are off by at most this many seconds and this fraction of the age."""


class LagSnapshot(Value):
    """All groups at one moment (seconds since the epoch): the snapshot, the events since the previous refresh, and the
    errors. `why` explains statuses that need a name: (group, topic, partition) to a sentence."""

    time: float = 0.0
    took: float = 0.0
    snapshot: Snapshot = field(factory=Snapshot)
    groups: list[GroupStanding] = field(factory=list)
    events: list[Event] = field(factory=list)
    failed: dict[str, KcliError] = field(factory=dict)
    brokers: dict[int, KcliError] = field(factory=dict)
    why: dict[tuple[str, str, int], str] = field(factory=dict)


class Watch:
    """Refreshes the named groups, or all.

    `exact` reads the timestamp of the first unread record of each partition whose time lag the samples do not show, and
    of those where no refresh has yet confirmed that records are as old as the samples show: for `most` partitions per
    refresh (None: all). Each timestamp is read once. With `back`, the first refresh looks up where logs ended in the
    minute before, so that it has incoming rates. The selection is passed to `snapshot.take`, which resolves patterns.
    """

    def __init__(
        self,
        cluster: Cluster,
        groups: list[str] | Names,
        history: History,
        *,
        exact: bool = False,
        back: bool = False,
        most: int | None = None,
        clock: Callable[[], float] = time.time,
        **selection: Unpack[Selection],
    ) -> None:
        self._cluster = cluster
        self._groups = groups
        self._selection = selection
        self._history = history
        self._exact = exact
        self._back = back
        self._most = most
        self._written: dict[Spot, int] = {}  # when the record there was written, in ms
        self._drained: dict[Spot, int] = {}  # offset up to which no record follows
        self._in_step: dict[TopicPartition, float] = {}  # when samples last showed the right age of a record
        self._clock = clock
        self._meeting: asyncio.Task[None] | None = None

    def _meet(self) -> None:
        """Refresh the list of brokers while groups are refreshed: a new or returned broker may hold groups that the
        others do not know. The refresh of groups does not wait for it, and reports itself if no broker responds."""
        if self._meeting is None or self._meeting.done():
            self._meeting = asyncio.get_running_loop().create_task(self._cluster.refresh([]), name="meet brokers")
            self._meeting.add_done_callback(retrieve)

    async def refresh(self) -> LagSnapshot:
        """Refresh once. Raises KcliError if no broker can be reached."""
        begun = self._clock()
        self._meet()
        shot = await take(self._cluster, self._groups, stable=True, **self._selection)
        now = self._clock()
        self._mark(shot)
        if self._back and shot.groups:
            self._back = False
            await self._read_back(now, shot)
        groups = await self._add(now, shot)
        snapshot = LagSnapshot(time=now, snapshot=shot, groups=groups, events=self._history.news)
        snapshot.failed, snapshot.brokers = shot.failed, shot.brokers
        await self._date(groups, now)
        snapshot.why = await self._blocked(groups, now)
        snapshot.took = self._clock() - begun
        return snapshot

    def _mark(self, shot: Snapshot) -> None:
        """Mark partitions without a record to read, which have received none since."""
        for group in shot.groups if self._drained else ():
            for sample in group.samples:
                sample.drained = sample.end is not None and self._drained.get(spot(sample), -1) >= sample.end

    async def _read_back(self, now: float, shot: Snapshot) -> None:
        """Look up where logs ended in the minute before, by record timestamps. A log without a record that recent, or
        with timestamps out of order, gives nothing; one that never had a record ended where it does now."""
        lags: dict[TopicPartition, tuple[int, int]] = {}
        for group in shot.groups:
            for sample in group.samples:
                if sample.end is not None:
                    at, lag = TopicPartition(sample.topic, sample.partition), sample.end - (sample.committed or 0)
                    lags[at] = (max(lag, lags.get(at, (0, 0))[0]), sample.end)
        wanted = sorted(lags, key=lambda at: -lags[at][0])[:BACK_MOST]
        rounds = [
            list_offsets(self._cluster, dict.fromkeys(wanted, round((now - back) * 1000)), patience=PATIENCE)
            for back in BACK
        ]
        answers = [good(some) for some in await asyncio.gather(*rounds)]
        for at in wanted:
            offsets = [some[at].offset for some in answers if at in some]
            ends = [lags[at][1] if offset == -1 else offset for offset in offsets]
            tells = offsets[:1] != [-1] or not lags[at][1]
            if len(offsets) == len(BACK) and tells and ends == sorted(ends) and ends[-1] <= lags[at][1]:
                self._history.begin(at, [(now - back, end) for back, end in zip(BACK, ends, strict=True)])

    async def _add(self, now: float, shot: Snapshot) -> list[GroupStanding]:
        """Compute the state of every group; with 100,000 partitions that takes seconds, so others get turns in
        between."""
        groups = []
        turn = time.perf_counter()
        for group in self._history.adding(now, shot):
            groups.append(group)
            if time.perf_counter() - turn > TURN:
                await asyncio.sleep(0)
                turn = time.perf_counter()
        return groups

    async def _date(self, groups: list[GroupStanding], now: float) -> None:
        """Set the time lag from the records themselves, if the samples do not reach back far enough, and if records are
        older than their arrival: a copy, or a delayed write, gives them older timestamps. A group that has only markers
        left is done."""
        wanted: dict[Spot, list[PartitionFigures]] = {}
        for group in groups:
            for partition in group.partitions:
                if partition.lag.lag and partition.lag.sample.committed is not None:
                    wanted.setdefault(spot(partition.lag.sample), []).append(partition)
        self._drained = {place: end for place, end in self._drained.items() if place in wanted}
        self._written = {place: written for place, written in self._written.items() if place in wanted}
        times, empty = await first_records(self._cluster, self._worth_asking(wanted, now)[: self._most])
        self._written |= times
        self._drained |= empty
        for place, standings in wanted.items():
            for partition in standings:
                if place in self._written:
                    self._compare(place[0], partition, self._written[place], now)
                    partition.date(self._written[place], now)
                elif partition.lag.sample.end is not None and self._drained.get(place, -1) >= partition.lag.sample.end:
                    partition.drain(now)  # markers only
        for number, group in enumerate(groups):
            if any(partition.lag.sample.drained for partition in group.partitions):
                groups[number], peak = summed(group.described, group.partitions), group.peak
                groups[number].peak = peak
            groups[number].date()

    def _worth_asking(self, wanted: dict[Spot, list[PartitionFigures]], now: float) -> list[Spot]:
        """Return places with unknown times: with `exact`, first those that the samples cannot show, last those not
        confirmed lately; in between those where only markers may be left."""
        dark, near, doubtful = [], [], []
        for place, standings in wanted.items():
            end = standings[0].lag.sample.end or 0
            if place in self._written or self._drained.get(place, -1) >= end:
                continue
            if self._exact and any(standing.time_lag is None or standing.time_lag_least for standing in standings):
                dark.append(place)
            elif end - place[1] <= HANDFUL and any(map(_may_be_done, standings)):
                near.append(place)
            elif self._exact and abs(now - self._in_step.get(place[0], 0.0)) > BELIEVED:
                doubtful.append(place)
        return dark + near + doubtful

    def _compare(self, at: TopicPartition, standing: PartitionFigures, written: int, now: float) -> None:
        """Note whether the samples showed the age of a record whose timestamp is known."""
        if standing.time_lag is None or standing.time_lag_least or standing.time_lag_exact:
            return
        age = max(now - written / 1000, 0.0)
        if abs(standing.time_lag - age) <= NEAR + NEARLY * age:
            self._in_step[at] = now
        else:
            self._in_step.pop(at, None)

    async def _blocked(self, groups: list[GroupStanding], now: float) -> dict[tuple[str, str, int], str]:
        """Return whose transaction a blocked partition waits for, and how long ago it last wrote."""
        blocked = {
            (
                partition.lag.sample.group,
                partition.lag.sample.topic,
                partition.lag.sample.partition,
            ): partition.lag.sample
            for group in groups
            for partition in group.partitions
            if partition.status == TXN_BLOCKED
        }
        if not blocked:
            return {}
        producers = good(await describe_producers(self._cluster, {TopicPartition(t, p) for _, t, p in blocked}))
        why = {}
        for (group, topic, partition), sample in blocked.items():
            states = producers.get(TopicPartition(topic, partition), [])
            first = min(
                (state for state in states if state.open_since is not None),
                key=lambda state: state.open_since or 0,
                default=None,
            )
            if first is not None:
                age = max(now - first.last_timestamp / 1000, 0.0)
                why[group, topic, partition] = (
                    f"waits at {sample.committed} for the transaction of producer id {first.producer_id}, "
                    f"epoch {first.epoch}, whose last record is {age:.0f} s old"
                    f"{Hint('judge-transaction', topic=topic, partition=partition)}"
                )
        return why


def _may_be_done(standing: PartitionFigures) -> bool:
    """Whether it has, or seems to have, unread records and does not move."""
    return standing.status in UNREAD and (standing.still > 0 or standing.time_lag is None)


def pause(interval: float) -> float:
    """Return the jittered pause until the next refresh, in seconds."""
    return every(interval)
