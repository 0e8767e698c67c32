"""The records before and after an offset of each partition. Offsets have gaps, so records are counted by reading."""

from __future__ import annotations

from kcli.cli.commands.consume.bounded import to_the_end
from kcli.cli.commands.consume.selection import finished
from kcli.consumer.consumer import Consumer
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.settings import ConsumerSettings
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.model import Cluster
    from kcli.proto.batch import Batch

    Found = dict[TopicPartition, list["Around"]]

READ, NEXT, WAITING = "read", "next", "waiting"
FURTHER = (1, 16, 1024)
"""How far back N records are looked for, in multiples of N: markers and compaction leave gaps."""


class Span(Frozen):
    """Where a log starts and ends, and what a group has committed."""

    start: int = 0
    committed: int = 0
    end: int = 0


class Around(Frozen):
    """A record, and its place by the committed offset."""

    offset: int = 0
    place: str = READ
    timestamp: int = -1
    key: bytes | None = None
    value: bytes | None = None


async def read_around(cluster: Cluster, spans: dict[TopicPartition, Span], before: int, after: int) -> Found:
    """Of each partition the last `before` records before the committed offset, the record there, and `after` behind
    it. Raises KcliError for a partition that cannot be read."""
    records = await _read(cluster, {at: (span.committed, span.end) for at, span in spans.items()}, after + 1)
    rows: Found = {
        at: [_placed(record, NEXT if number == 0 else WAITING) for number, record in enumerate(some[: after + 1])]
        for at, some in records.items()
    }
    earlier = await _earlier(cluster, spans, before) if before else {}
    return {at: [*(_placed(record, READ) for record in earlier.get(at, ())), *rows.get(at, ())] for at in sorted(spans)}


async def _earlier(cluster: Cluster, spans: dict[TopicPartition, Span], before: int) -> Found:
    """The last records before each committed offset."""
    rows: Found = {}
    open_spans = dict(spans)
    for further in FURTHER:
        ranges = {
            at: (max(span.start, min(span.committed, span.end) - before * further), min(span.committed, span.end))
            for at, span in open_spans.items()
        }
        records = await _read(cluster, ranges, None)
        rows |= {at: some[-before:] for at, some in records.items()}
        open_spans = {
            at: span for at, span in open_spans.items() if len(rows.get(at, ())) < before and ranges[at][0] > span.start
        }
        if not open_spans:
            break
    return rows


async def _read(cluster: Cluster, ranges: dict[TopicPartition, tuple[int, int]], most: int | None) -> Found:
    """The first records of [start, end) of each partition: `most`, or all."""
    rows: Found = {}
    wanted = {at: (start, end) for at, (start, end) in ranges.items() if start < end}
    async with Consumer(cluster, ConsumerSettings(isolation="read_committed")) as consumer:
        consumer.assign({at: Bound("offset", start) for at, (start, _) in wanted.items()})
        consumer.stop_at({at: end for at, (_, end) in wanted.items()})
        left = set(wanted)
        if not left:
            return rows
        async for fetched in to_the_end(consumer):
            at = TopicPartition(fetched.topic, fetched.partition)
            some = rows.setdefault(at, [])
            for batch in fetched.batches:
                some += _records(batch)
            if fetched.error is not None:
                raise finished(fetched.error, at, fetched.next_offset, "read")
            if at in left and (fetched.next_offset >= wanted[at][1] or (most is not None and len(some) >= most)):
                left.discard(at)
                consumer.pause(at)
                if not left:
                    break
    return rows


def _records(batch: Batch) -> list[Around]:
    columns = batch.columns()
    return [
        Around(offset=offset, timestamp=columns.timestamps[n], key=columns.key(n), value=columns.value(n))
        for n, offset in enumerate(columns.offsets)
    ]


def _placed(record: Around, place: str) -> Around:
    return Around(offset=record.offset, place=place, timestamp=record.timestamp, key=record.key, value=record.value)
