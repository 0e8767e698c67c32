"""The newest records of all partitions together, found from the ends of the logs backwards."""

from __future__ import annotations

from array import array
from heapq import heappushpop

from kcli.cli.commands.consume.reading import Reading
from kcli.cli.commands.consume.selection import finished
from kcli.consumer.stall import Stall
from kcli.errors import DecodeError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.consume.selection import Selection
    from kcli.cli.commands.consume.sink import Sink
    from kcli.cli.output.records.printer import Printer
    from kcli.client import Client
    from kcli.proto.batch import Batch

    Last = list[tuple[int, int, str, int, int, Batch]]
    """timestamp, offset, topic, partition, a number that tells equals apart, the batch that holds it, or its kept
    part"""
    from kcli.cli.commands.consume.plan import Plan
    from kcli.consumer.consumer import Consumer
    from kcli.consumer.poll import Fetched

LARGE = 256 * 1024  # plain bytes of a batch that is not held for a few of its records
WIDEN = 8  # how much further to look back where filters, gaps and markers hid records


async def newest(plan: Selection, client: Client, span: dict[TopicPartition, tuple[int, int]], most: int) -> Last:
    """The newest `most` records by time that the plan keeps, the oldest of them first. Each partition is read
    backwards from the end of its span until it has given that many records or its beginning is reached: because of
    markers, compaction and aborted transactions there may be fewer records than offsets. Raises KcliError."""
    held: Last = []
    look = {at: stop for at, (_, stop) in span.items()}
    back = max(most, 1)
    seen: dict[TopicPartition, int] = {}
    while most and look:
        starts = {at: max(span[at][0], stop - back) for at, stop in look.items()}
        for at, count in (await _collect(plan, client, starts, look, held, most)).items():
            seen[at] = seen.get(at, 0) + count
        look = {at: starts[at] for at in look if starts[at] > span[at][0] and seen.get(at, 0) < most}
        back *= WIDEN
    return sorted(held, key=lambda row: row[:4])


async def print_held(plan: Selection, printer: Printer, sink: Sink, rows: Last) -> None:
    """Print records one by one, in this order."""
    for _, offset, topic, partition, _, batch in rows:
        first, stop = batch.first, batch.stop
        batch.first, batch.stop = offset, offset + 1
        printer.put(sink.buffer, batch, topic, partition, 1)
        at = TopicPartition(topic, partition)
        if plan.decoding is not None:
            plan.decoding.printed(at, offset)
        sink.holds = at, offset
        batch.first, batch.stop = first, stop
    await sink.flush()


async def _collect(
    plan: Selection,
    client: Client,
    starts: dict[TopicPartition, int],
    ends: dict[TopicPartition, int],
    held: Last,
    most: int,
) -> dict[TopicPartition, int]:
    """Read [start, end) of each partition into `held`, which keeps the latest N; returns how many each had."""
    seen: dict[TopicPartition, int] = {}
    number = len(held)
    work = {at: (start, ends[at]) for at, start in starts.items() if start < ends[at]}
    if not work:
        return seen
    async with plan.consumer(client) as consumer:
        plan.read(consumer, work)
        stall = Stall(consumer)
        while not consumer.finished:
            got = await consumer.poll(stall.step)
            stall.check(got)
            for fetched in got:
                at = TopicPartition(fetched.topic, fetched.partition)
                for left_out in fetched.skipped:
                    plan.leave_out(left_out, at)
                for batch in fetched.batches:
                    try:
                        shown = plan.kept(batch, at)
                        if shown is None:
                            continue
                        columns = shown.columns()
                    except DecodeError as broken:
                        plan.leave_out(broken, at)
                        continue
                    seen[at] = seen.get(at, 0) + len(columns.offsets)
                    for timestamp, offset in zip(columns.timestamps, columns.offsets, strict=True):
                        number += 1
                        row = (timestamp, offset, at.topic, at.partition, number, shown)
                        if len(held) < most:
                            held.append(row)
                            if len(held) == most:
                                held.sort(key=lambda entry: entry[:5])
                        elif row[:5] > held[0][:5]:
                            heappushpop(held, row)
                if fetched.error is not None:
                    raise finished(fetched.error, at, fetched.next_offset, "read")
                _let_go(held)
    return seen


def _let_go(held: Last) -> None:
    """Of what was compressed keep the records that are held, not the batches they came in."""
    rows: dict[int, list[int]] = {}
    for number, (*_, batch) in enumerate(held):
        if batch.attributes & 7 and batch.body_end - batch.body_start > LARGE:
            rows.setdefault(id(batch), []).append(number)
    for numbers in rows.values():
        offsets = array("q", sorted(held[number][1] for number in numbers))
        kept = held[numbers[0]][5].picked(offsets)
        for number in numbers:
            held[number] = (*held[number][:5], kept)


# `consume --per-partition N`: N records of each partition, then it is read no further.


class CountedReading(Reading):
    """A run that stops once each partition has given `most` records, or has come to its end."""

    def __init__(self, plan: Plan, consumer: Consumer, sink: Sink, most: int) -> None:
        super().__init__(plan, consumer, sink)
        self._most = most
        self._given: dict[TopicPartition, int] = {}

    async def _print(self, fetched: Fetched) -> None:
        at = TopicPartition(fetched.topic, fetched.partition)
        rest = self._most - self._given.get(at, 0)
        if rest <= 0:
            return
        total, before = self.left, self.written
        self.left = rest if total < 0 else min(rest, total)
        try:
            await super()._print(fetched)
        finally:
            written = self.written - before
            self._given[at] = self._given.get(at, 0) + written
            self.left = total if total < 0 else total - written
        if self._given[at] >= self._most:
            self.consumer.pause(at)

    @property
    def finished(self) -> bool:
        assigned = self.consumer.assignment
        full = [at for at in assigned if self._given.get(at, 0) >= self._most]
        return super().finished or (len(full) == len(assigned) > 0)
