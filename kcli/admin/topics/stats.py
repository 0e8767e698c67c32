"""Topics with figures: metadata, sizes, end offsets, their rates, and the last write.

Sends one Metadata request, one ListOffsets per leader, one DescribeLogDirs per broker, whatever the number of topics.
"""

from __future__ import annotations

import asyncio
import time

from kcli.admin.storage import log_dirs
from kcli.admin.topics.topics import Topic, describe_topics, described
from kcli.asking.fan_out import good
from kcli.asking.offsets import EARLIEST, LATEST, MAX_TIMESTAMP, LogOffset, list_offsets, tiered_offsets
from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kcli.model import Cluster

BACK = (60.0, 45.0, 30.0, 15.0)
"""Seconds before now at which end offsets are looked up when rates are wanted from a single run."""
LEAST = 4.0
"""Shortest period in seconds of an even rate: with bursts of writes, shorter ones give zero or far too much."""


class TopicStats(Value):
    """A topic. `size` is the bytes of its leaders' logs, None if one is not reported; `records` is end minus start, in
    offsets; `rate` is offsets per second since the previous refresh, or as described in
    `TopicStatsReader`; None at first."""

    topic: Topic = field(factory=Topic)
    size: int | None = None
    records: int | None = None
    rate: float | None = None
    last_write: float | None = None
    problem: str = ""


class TopicStatsReader:
    """Collects figures repeatedly, and remembers the last end offsets for rates. With `even`, rates cover that many
    seconds or more, however often it is called, and at least `LEAST` seconds at the start."""

    def __init__(self, even: float = 0.0) -> None:
        self._even = even
        self._summed: list[tuple[float, dict[str, int]]] = []  # the ends of each topic added up, oldest first
        self._ends: dict[TopicPartition, int] = {}
        self._topics: dict[str, Topic | KcliError] = {}  # from the last run for all topics
        self._at = 0.0

    async def read(
        self, cluster: Cluster, names: Iterable[str] | None = None, *, internal: bool = False
    ) -> list[TopicStats]:
        """Return all topics, or those named. Raises KcliError if the metadata cannot be read; other missing figures
        stay None."""
        if names is None:
            answer = await cluster.metadata()  # also updates the cached leaders
            topics_now = self._topics = described(answer, internal=internal, known=self._topics)
            del answer
        else:
            topics_now = await describe_topics(cluster, names)
        topics = [topic for topic in topics_now.values() if isinstance(topic, Topic)]
        every = [
            TopicPartition(topic.topic, p.partition) for topic in topics for p in topic.partitions if p.leader >= 0
        ]

        async def timed_ends() -> tuple[dict[TopicPartition, LogOffset | KcliError], float]:
            return await list_offsets(cluster, dict.fromkeys(every, LATEST)), time.monotonic()

        (ends, now), starts, (places, _) = await asyncio.gather(
            timed_ends(),
            list_offsets(cluster, dict.fromkeys(every, EARLIEST)),
            _sizes(cluster),
        )
        known, begin = _offsets(ends), _offsets(starts)
        rows = [self._row(topic, known, begin, places, now - self._at) for topic in topics]
        if self._even:
            self._rate_evenly(rows, known, now)
        self._at = now
        self._keep(known)
        return rows

    def _rate_evenly(self, rows: list[TopicStats], ends: dict[TopicPartition, int], now: float) -> None:
        """Set rates since the latest run that is old enough, or since the oldest run."""
        sums = {row.topic.topic: 0 for row in rows if row.records is not None}
        for at, end in ends.items():
            if at.topic in sums:
                sums[at.topic] += end
        answers = self._summed
        while len(answers) > 1 and now - answers[1][0] >= self._even:
            del answers[0]
        then, before = answers[0] if answers else (now, sums)
        for row in rows:
            name = row.topic.topic
            compared = row.rate is not None and name in before and name in sums and now - then >= LEAST
            row.rate = max(sums[name] - before[name], 0) / (now - then) if compared else None
        if not answers or now - answers[-1][0] >= LEAST:
            answers.append((now, sums))

    def _keep(self, ends: dict[TopicPartition, int]) -> None:
        """Remember the ends. Unchanged values remain the same objects, so that the memory of a response is freed as a
        whole; mixed with new ones, a little more would be taken each time."""
        kept = self._ends
        for gone in [at for at in kept if at not in ends]:
            del kept[gone]
        for at, end in ends.items():
            if kept.get(at) != end:
                kept[at] = end

    async def rates_before(self, cluster: Cluster, topics: Iterable[Topic]) -> dict[str, float]:
        """Return the records written per second to topics in the minute before the last run, by record timestamps.
        Topics without writes, and topics with a partition that did not respond, are missing."""
        every = [TopicPartition(topic.topic, p.partition) for topic in topics for p in topic.partitions]
        ends = {at: self._ends[at] for at in every if at in self._ends}  # a newer run may finish meanwhile
        then = round((time.time() - BACK[0]) * 1000)
        answers = await list_offsets(cluster, dict.fromkeys(ends, then))
        written: dict[str, int] = {}
        for at, begin in _offsets(answers).items():
            written[at.topic] = written.get(at.topic, 0) + max(ends[at] - begin, 0)
        unknown = {at.topic for at in every if not isinstance(answers.get(at), LogOffset)}
        return {topic: many / BACK[0] for topic, many in written.items() if topic not in unknown}

    def _row(
        self,
        topic: Topic,
        ends: dict[TopicPartition, int],
        starts: dict[TopicPartition, int],
        sizes: dict[tuple[str, int, int], int] | None,
        took: float,
    ) -> TopicStats:
        row = TopicStats(topic=topic)
        records, moved, known, compared = 0, 0, True, bool(topic.partitions)
        for partition in topic.partitions:
            at = TopicPartition(topic.topic, partition.partition)
            end, start, before = ends.get(at), starts.get(at), self._ends.get(at)
            if end is None or start is None:
                known = False
            else:
                records += end - start
            if end is None or before is None:
                compared = False
            else:
                moved += end - before
        row.records = records if known else None
        if compared and took > 0:
            row.rate = max(moved, 0) / took
        if sizes is not None:
            on_disk = [
                sizes.get((topic.topic, partition.partition, partition.leader)) for partition in topic.partitions
            ]
            row.size = None if None in on_disk else sum(size or 0 for size in on_disk)
        row.problem = problem(topic)
        return row


def _offsets(answers: dict[TopicPartition, LogOffset | KcliError]) -> dict[TopicPartition, int]:
    """Return the known offsets."""
    return {at: answer.offset for at, answer in answers.items() if isinstance(answer, LogOffset) and answer.offset >= 0}


def problem(topic: Topic) -> str:
    """Return the problem of a topic's replicas; "" without one."""
    problems = []
    if topic.leaderless:
        problems.append(f"{topic.leaderless} without leader")
    if topic.under_replicated:
        problems.append(f"{topic.under_replicated} under-replicated")
    return ", ".join(problems)


async def _sizes(cluster: Cluster) -> tuple[dict[tuple[str, int, int], int] | None, dict[int, KcliError]]:
    """Return bytes by topic, partition and broker; None if no broker permits or supports it."""
    places, failed = await log_dirs(cluster)
    if not places:
        return None, failed
    replicas = [replica for place in places for replica in place.replicas if not replica.future]
    return {(replica.topic, replica.partition, replica.broker): replica.size for replica in replicas}, failed


async def ends_before(
    cluster: Cluster, ends: Mapping[TopicPartition, int], *, now: float, back: Sequence[float] = BACK
) -> list[tuple[float, int]]:
    """Return the sum of these ends, read at `now` (seconds since the epoch), at times `back` seconds earlier, by record
    timestamps, with each time. Empty if unknown: no record is that recent, or timestamps are not in order."""
    moments = [dict.fromkeys(ends, round((now - seconds) * 1000)) for seconds in back]
    answers = await asyncio.gather(*(list_offsets(cluster, wanted) for wanted in moments))
    sums = []
    for answer in answers:
        known = {at: one.offset for at, one in good(answer).items()}
        if len(known) < len(ends):
            return []
        sums.append(sum(ends[at] if offset < 0 else min(offset, ends[at]) for at, offset in known.items()))
    end = sum(ends.values())
    if not sums or sums != sorted(sums) or sums[0] >= end:
        return []
    return [(now - seconds, one) for seconds, one in zip(back, sums, strict=True)]


async def last_writes(cluster: Cluster, topics: list[Topic]) -> dict[str, float]:
    """Return the last write to each topic, in seconds since the epoch: its largest timestamp (KIP-734). Topics without
    records, and topics on brokers before 3.0, are omitted."""
    every = [TopicPartition(topic.topic, p.partition) for topic in topics for p in topic.partitions if p.leader >= 0]
    times: dict[str, float] = {}
    for at, offset in good(await list_offsets(cluster, dict.fromkeys(every, MAX_TIMESTAMP))).items():
        if offset.timestamp >= 0:
            times[at.topic] = max(times.get(at.topic, 0.0), offset.timestamp / 1000)
    return times


async def remote_offsets(cluster: Cluster, topics: Iterable[Topic]) -> dict[str, int | None]:
    """Return how many offsets of each topic with tiered storage are in remote storage, including those also on disk;
    None if a partition does not report it. Brokers do not report the bytes in remote storage."""
    every = [TopicPartition(topic.topic, p.partition) for topic in topics for p in topic.partitions if p.leader >= 0]
    tiers = await tiered_offsets(cluster, every)
    starts = await list_offsets(cluster, dict.fromkeys(tiers, EARLIEST))
    counts: dict[str, int | None] = {}
    for at, tier in tiers.items():
        start, known = starts[at], counts.get(at.topic, 0)
        if known is None or not isinstance(start, LogOffset):
            counts[at.topic] = None
        else:
            counts[at.topic] = known + (0 if tier.last is None else max(tier.last + 1 - start.offset, 0))
    return counts


async def spans(cluster: Cluster, topics: dict[str, Topic]) -> dict[str, int | None]:
    """Return the number of offsets in the logs of each topic; None if one of them is unknown, because a partial sum
    would understate what is deleted."""
    partitions = [TopicPartition(p.topic, p.partition) for topic in topics.values() for p in topic.partitions]
    starts, ends = await asyncio.gather(
        list_offsets(cluster, dict.fromkeys(partitions, EARLIEST), patience=1.0),
        list_offsets(cluster, dict.fromkeys(partitions, LATEST), patience=1.0),
    )
    counts: dict[str, int | None] = {}
    for at in partitions:
        start, end, known = starts[at], ends[at], counts.get(at.topic, 0)
        if known is None or not isinstance(start, LogOffset) or not isinstance(end, LogOffset):
            counts[at.topic] = None
        else:
            counts[at.topic] = known + end.offset - start.offset
    return counts
