"""`kcli lag --records`: how many records a group has still to read, counted by reading them.

Offsets are not records (E70): compaction, markers and aborted transactions leave offsets that nobody is given.
"""

from __future__ import annotations

from kcli.cli.commands.consume.selection import finished
from kcli.consumer.consumer import Consumer
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.settings import ConsumerSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.lag.measured import Measured
    from kcli.cli.output.render import Document
    from kcli.model import Cluster


async def add_records(cluster: Cluster, measured: list[Measured], document: Document, isolation: str) -> None:
    """Set `records` in every row of the document. A group is read at a time. Raises KcliError for a partition that
    cannot be read."""
    counts: dict[tuple[str, str, int], int] = {}
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
            counts[group, at.topic, at.partition] = count
    for rows_of in document.rows.values():
        for row in rows_of:
            own = [
                count
                for (group, topic, partition), count in counts.items()
                if row["group"] == group
                and row.get("topic", topic) == topic
                and row.get("partition", partition) == partition
            ]
            row["records"] = sum(own) if own else None


async def _count(
    cluster: Cluster, spans: dict[TopicPartition, tuple[int, int]], isolation: str
) -> dict[TopicPartition, int]:
    """Records in [start, end) of each partition."""
    counts = dict.fromkeys(spans, 0)
    ends = {at: end for at, (start, end) in spans.items() if start < end}
    async with Consumer(cluster, ConsumerSettings(isolation=isolation, decompress=False)) as consumer:
        consumer.assign({at: Bound("offset", spans[at][0]) for at in ends})
        consumer.stop_at(ends)
        while not consumer.finished:
            for fetched in await consumer.poll(None):
                at = TopicPartition(fetched.topic, fetched.partition)
                counts[at] += sum(batch.visible for batch in fetched.batches)
                if fetched.error is not None:
                    raise finished(fetched.error, at, fetched.next_offset, "counted")
    return counts
