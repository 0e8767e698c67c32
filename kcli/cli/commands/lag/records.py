"""How many records a group has still to read, counted by reading them: all for `kcli lag --records`, a few for
`kcli groups why`.

Offsets are not records (E70): compaction, markers and aborted transactions leave offsets that no consumer receives.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from copy import copy

from kcli.cli.commands.consume.bounded import to_the_end
from kcli.cli.commands.consume.selection import finished
from kcli.cli.commands.lag.measured import GroupRow, LagTopicRow, PartitionRow
from kcli.consumer.consumer import Consumer
from kcli.errors import KcliError
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.settings import ConsumerSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.cli.commands.lag.measured import Measured
    from kcli.cli.output.tables.document import Document
    from kcli.lag.figures import Lag, Sample, Total
    from kcli.lag.history import GroupStanding
    from kcli.model import Cluster


FEW = 4 * 1024 * 1024
"""Bytes that `groups why` reads at most to say records instead of offsets."""
FEW_OFFSETS = 100_000
"""More offsets than this are hardly ever within FEW bytes: nothing is read then."""
SECONDS = 2.0
"""How long `groups why` waits for the records of a group."""


class BudgetSpent(Exception):
    """More bytes would have to be read than the budget has."""


class Budget:
    """How many bytes may still be read."""

    def __init__(self, size: int) -> None:
        self.bytes = size


async def add_records(
    cluster: Cluster, measured: list[Measured], document: Document, isolation: str | None, *, uncommitted: bool
) -> list[tuple[Total, list[Lag]]]:
    """Set `records` in every row of the document. Returns the groups with their lag in records, for an assertion;
    with `uncommitted` records of partitions without a commit are counted for it too. A group is read at a time. Raises
    KcliError for a partition that cannot be read.

    Records of aborted transactions do not count; those of open ones do, as they may be committed yet. An `isolation`
    counts them all, or the committed ones only."""
    counts: Counter[tuple[str | int, ...]] = Counter()
    """By group, by group and topic, and by all three."""
    found = []
    for snapshot, rows, total in measured:
        samples = [row.sample for row in rows if uncommitted or row.sample.committed is not None]
        behind = await _behind(cluster, samples, isolation)
        group = snapshot.described.group
        parts = [_in_records(row, behind) for row in rows]
        for part in parts:
            if part.lag is not None:
                topic, partition = part.sample.topic, part.sample.partition
                counts.update(dict.fromkeys([(group,), (group, topic), (group, topic, partition)], part.lag))
        lags = [part.lag for part in parts if part.lag is not None]
        whole = copy(total)
        whole.lag, whole.unread = sum(lags) if lags else None, sum(part.unread or 0 for part in parts)
        found.append((whole, parts))
    for group_row in document.of(GroupRow):
        group_row.records = counts.get((group_row.group,))
    for topic_row in document.of(LagTopicRow):
        topic_row.records = counts.get((topic_row.group, topic_row.topic))
    for row in document.of(PartitionRow):
        row.records = counts.get((row.group, row.topic, row.partition))
    return found


def _in_records(row: Lag, behind: dict[TopicPartition, int]) -> Lag:
    """The same with records in place of offsets, where they were counted. A share group may have acknowledged records
    after its start, so it is behind by no more than its coordinator counts."""
    count = behind.get(TopicPartition(row.sample.topic, row.sample.partition))
    if count is None or (row.lag is None and row.unread is None):
        return row
    counted = copy(row)
    if row.lag is None:
        counted.unread = count
    else:
        counted.lag = count if row.sample.counted is None else min(count, row.sample.counted)
    return counted


async def count_few(cluster: Cluster, groups: Iterable[GroupStanding]) -> None:
    """Set `records` of the groups whose lag is at most FEW_OFFSETS, until FEW bytes have been read for all of them.
    A group that could not be read in time keeps None, and its sentence says offsets."""
    budget = Budget(FEW)
    for group in groups:
        if (
            group.total.unknown
            or not group.total.lag
            or group.total.lag > FEW_OFFSETS
            or group.described.type == "share"
        ):
            continue
        samples = [part.lag.sample for part in group.partitions if part.lag.lag]
        try:
            async with asyncio.timeout(SECONDS):
                group.records = sum((await _behind(cluster, samples, None, budget)).values())
        except BudgetSpent:
            return
        except (KcliError, TimeoutError):
            continue


async def _behind(
    cluster: Cluster, samples: Iterable[Sample], isolation: str | None, budget: Budget | None = None
) -> dict[TopicPartition, int]:
    """Records from the commit on; without one from the start of the log, or from where a share group will start."""
    decided, undecided = {}, {}
    for sample in samples:
        if sample.end is None:
            continue
        at = TopicPartition(sample.topic, sample.partition)
        start = max(sample.committed or 0, sample.begins or 0, sample.start or 0)
        stable = sample.end if isolation is not None or sample.stable is None else min(sample.stable, sample.end)
        decided[at] = start, stable
        undecided[at] = max(start, stable), sample.end
    counts = await _count(cluster, decided, isolation or "read_committed", budget)
    for at, count in (await _count(cluster, undecided, "read_uncommitted", budget)).items():
        counts[at] += count
    return counts


async def _count(
    cluster: Cluster, spans: dict[TopicPartition, tuple[int, int]], isolation: str, budget: Budget | None
) -> dict[TopicPartition, int]:
    """Records in [start, end) of each partition. Raises BudgetSpent when more bytes are read than the budget has."""
    counts = dict.fromkeys(spans, 0)
    ends = {at: end for at, (start, end) in spans.items() if start < end}
    if not ends:
        return counts
    settings = ConsumerSettings(isolation=isolation, decompress=False)
    if budget is not None:
        settings = settings.replace(partition_max_bytes=FEW // 16, fetch_max_bytes=FEW // 16, buffer_bytes=FEW // 16)
    async with Consumer(cluster, settings) as consumer:
        consumer.assign({at: Bound("offset", spans[at][0]) for at in ends})
        consumer.stop_at(ends)
        async for fetched in to_the_end(consumer):
            at = TopicPartition(fetched.topic, fetched.partition)
            counts[at] += sum(batch.visible for batch in fetched.batches)
            if fetched.error is not None:
                raise finished(fetched.error, at, fetched.next_offset, "counted")
            if budget is not None and consumer.metrics.fetched_bytes > budget.bytes:
                raise BudgetSpent
        if budget is not None:
            budget.bytes -= consumer.metrics.fetched_bytes
    return counts
