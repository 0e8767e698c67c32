"""`kcli lag --records`: how many records a group has still to read, counted by reading them.

Offsets are not records (E70): compaction, markers and aborted transactions leave offsets that no consumer receives.
"""

from __future__ import annotations

from collections import Counter

from kcli.cli.commands.consume.bounded import to_the_end
from kcli.cli.commands.consume.selection import finished
from kcli.cli.commands.lag.measured import GroupRow, PartitionRow, TopicRow
from kcli.consumer.consumer import Consumer
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.settings import ConsumerSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.lag.measured import Measured
    from kcli.cli.output.tables.document import Document
    from kcli.model import Cluster


async def add_records(cluster: Cluster, measured: list[Measured], document: Document, isolation: str) -> None:
    """Set `records` in every row of the document. A group is read at a time. Raises KcliError for a partition that
    cannot be read."""
    counts: Counter[tuple[str | int, ...]] = Counter()
    """By group, by group and topic, and by all three."""
    for snapshot, rows, _ in measured:
        spans = {
            TopicPartition(row.sample.topic, row.sample.partition): (
                max(row.sample.committed, row.sample.start or 0),
                row.sample.end,
            )
            for row in rows
            if row.sample.committed is not None and row.sample.end is not None
        }
        group = snapshot.described.group
        for at, count in (await _count(cluster, spans, isolation)).items():
            counts.update(dict.fromkeys([(group,), (group, at.topic), (group, at.topic, at.partition)], count))
    for group_row in document.of(GroupRow):
        group_row.records = counts.get((group_row.group,))
    for topic_row in document.of(TopicRow):
        topic_row.records = counts.get((topic_row.group, topic_row.topic))
    for row in document.of(PartitionRow):
        row.records = counts.get((row.group, row.topic, row.partition))


async def _count(
    cluster: Cluster, spans: dict[TopicPartition, tuple[int, int]], isolation: str
) -> dict[TopicPartition, int]:
    """Records in [start, end) of each partition."""
    counts = dict.fromkeys(spans, 0)
    ends = {at: end for at, (start, end) in spans.items() if start < end}
    async with Consumer(cluster, ConsumerSettings(isolation=isolation, decompress=False)) as consumer:
        consumer.assign({at: Bound("offset", spans[at][0]) for at in ends})
        consumer.stop_at(ends)
        async for fetched in to_the_end(consumer):
            at = TopicPartition(fetched.topic, fetched.partition)
            counts[at] += sum(batch.visible for batch in fetched.batches)
            if fetched.error is not None:
                raise finished(fetched.error, at, fetched.next_offset, "counted")
    return counts
