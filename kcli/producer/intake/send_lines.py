"""Bulk input of lines: the record core cuts them from a chunk directly into open batches. Work is per batch."""

from __future__ import annotations

import asyncio

from kcli.proto.batch import RESERVED, seal
from kcli.proto.columns import OVERHEAD, now_ms
from kcli.proto.core import Builder, spread_rows
from kcli.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Sequence
    from typing import TypedDict

    from kcli.producer.batches.queue import PartitionQueue
    from kcli.producer.engine.engine import Engine
    from kcli.producer.intake.placement import Placement
    from kcli.producer.intake.send_records import Records, Row
    from kcli.proto.batch import SealedBatch
    from kcli.proto.buffer import Buffer
    from kcli.proto.columns import Lines
    from kcli.settings import ProducerSettings

    class LineOptions(TypedDict, total=False):
        """The options of a `LineBlock`."""

        delimiter: int
        key_delimiter: bytes | None
        key: bytes | None
        partition: int | None
        timestamp: int | None
        empty_is_null: bool


KEYED_STEP = 1 << 18  # bytes of keyed lines that are cut at a time
FEW = 16  # records per batch


class Bulk:
    """`check` raises if nothing may be sent now."""

    def __init__(
        self,
        engine: Engine,
        placement: Placement,
        settings: ProducerSettings,
        check: Callable[[], None],
        records: Records,
    ) -> None:
        self._engine = engine
        self._placement = placement
        self._settings = settings
        self._check = check
        self._records = records
        self._small = SmallBatches(engine, settings, check)

    async def send(self, block: LineBlock) -> int:
        """See `Producer.send_lines`."""
        topic, partition = block.topic, block.partition
        self._check()
        ticket = self._engine.enter()
        try:
            everyone = self._placement.known(topic, partition) or await self._placement.look_up(topic, partition)
            stamp = now_ms(block.timestamp)
            if block.key is not None and block.key_delimiter is None:
                return await self._under_one_key(block, stamp)
            much = self._engine.accumulator.rush.begin(block.end - block.start)
            try:
                if block.key_delimiter is not None:
                    return await self._keyed(block, stamp, everyone)
                return await self._values(block, stamp, everyone)
            finally:
                if much:
                    self._engine.accumulator.rush.end(self._engine.loop.time())
        finally:
            self._engine.leave(ticket)

    async def _under_one_key(self, block: LineBlock, stamp: int) -> int:
        delimiter = bytes((block.delimiter,))
        text = bytes(memoryview(block.chunk)[block.start : block.end])
        values = text.split(delimiter)
        rest = values.pop()
        rows: list[Row] = [
            (block.partition, stamp, block.key, value if value or not block.empty_is_null else None, ())
            for value in values
        ]
        await self._records.send_rows(block.topic, rows)
        return block.start + len(text) - len(rest)

    async def _values(self, block: LineBlock, stamp: int, everyone: Sequence[int]) -> int:
        settings, engine = self._settings, self._engine
        budget, accumulator = engine.budget, engine.accumulator
        topic, chunk, partition, end = block.topic, block.chunk, block.partition, block.end
        at = await self._whole_batches(block, stamp, everyone)
        sticky = self._placement.sticky(topic) if partition is None else None
        partition = -1 if partition is None else partition
        now = -1.0  # loop time, read again after a wait
        while at < end:
            most = accumulator.sizing.limit(topic)
            room = min(10 * (end - at), most)
            if not budget.take_now(room, 1):
                await budget.take(room, 1, settings.max_block)
                now = -1.0
            grown = added = 0
            try:
                if now < 0:
                    self._check()
                    now = engine.loop.time()
                queue = accumulator.queue(topic, partition if sticky is None else sticky.choose(everyone))
                batch = accumulator.open(queue, now)
                builder = batch.builder
                size, count = builder.size, builder.count
                limit = min(settings.batch_records, count + budget.max_records - budget.records + 1)
                stop = builder.append_lines(chunk, at, end, block.delimiter, stamp, most, limit, block.empty_is_null)
                grown, added = builder.size - size, builder.count - count
            finally:
                budget.give(room - grown, 1 - added)
            engine.ledger.counts.accepted += added
            full = stop < end and count + added > 0
            if sticky is not None:
                sticky.went(grown, full=full)
            accumulator.appended(queue, batch, full=full)
            if stop == at and not count:
                return at  # no whole line
            at = stop
            if at < end and engine.pacing.runs_ahead(queue):
                await engine.pacing.pause(queue)
                now = -1.0
        return at

    async def _whole_batches(self, block: LineBlock, stamp: int, everyone: Sequence[int]) -> int:
        """Send whole batches; return the start of the remaining lines, which fill no batch or are spread batch by batch
        by the partitioner."""
        partition = everyone[0] if len(everyone) == 1 else block.partition
        if partition is None or not self._small.used:
            return block.start
        return await self._small.send(self._engine.accumulator.queue(block.topic, partition), block, stamp)

    async def _keyed(self, block: LineBlock, stamp: int, everyone: Sequence[int]) -> int:
        """Send keyed lines in small steps, because buffer space is taken for a whole step; a step without a whole line
        grows."""
        from kcli.proto.core import split_lines

        budget, settings = self._engine.budget, self._settings
        topic, chunk, partition = block.topic, block.chunk, block.partition
        at, end = block.start, block.end
        usual = step = min(KEYED_STEP, settings.buffer_memory // (OVERHEAD + 1), settings.buffer_records)
        while at < end:
            stop = min(at + step, end)
            lines = split_lines(chunk, at, stop, block.delimiter, block.key_delimiter, block.empty_is_null)
            if not lines.count:
                if stop == end:
                    return at
                step *= 2
                continue
            if step > usual:  # the step grew for one long line; short lines after it might exceed the space
                stop = at + bytes(memoryview(chunk)[at:stop]).index(block.delimiter) + 1
                lines = split_lines(chunk, at, stop, block.delimiter, block.key_delimiter, block.empty_is_null)
                step = usual
            room = lines.consumed - at + OVERHEAD * lines.count
            await budget.take(room, lines.count, settings.max_block)
            grown = added = 0
            try:
                self._check()
                if partition is None:
                    places = self._placement.rows(topic, chunk, lines, everyone)
                else:
                    places = type(lines.key_starts)("i", [partition]) * lines.count
                grown, added = self.add_rows(topic, chunk, lines, places, stamp), lines.count
            finally:
                budget.give(room - grown, lines.count - added)
            at = lines.consumed
            await asyncio.sleep(0)
        return at

    def add_rows(
        self,
        topic: str,
        chunk: Buffer,
        lines: Lines,
        places: array[int],
        stamp: int,
        timestamps: array[int] | None = None,
        headers: tuple[array[int], array[int]] | None = None,
    ) -> int:
        """Append each row to the open batch of its partition, filling as many batches as needed; return the number of
        bytes.

        The record core passes over the rows once, however many partitions there are, so the work in Python is per
        batch.
        """
        accumulator, counts = self._engine.accumulator, self._engine.ledger.counts
        most, records = accumulator.sizing.limit(topic), self._settings.batch_records
        builders = accumulator.builders(topic, max(places, default=-1) + 1)
        row = grown = 0
        while row < lines.count:
            at, more = spread_rows(builders, places, chunk, lines, row, stamp, most, records, timestamps, headers)
            grown += more
            counts.accepted += at - row
            row = at
            if row < lines.count:
                queue = accumulator.queue(topic, places[row])
                accumulator.close(queue)
                accumulator.open(queue, self._engine.loop.time())
        return grown


class SmallBatches:
    """Sends small batches directly in sealed form. `check` raises if nothing may be sent now. `used`: whether the
    settings allow it, because batches are small and need no further processing."""

    def __init__(self, engine: Engine, settings: ProducerSettings, check: Callable[[], None]) -> None:
        self._engine = engine
        self._check = check
        self._records = settings.batch_records
        self._max_block = settings.max_block
        self._transactional = settings.transactional_id is not None
        self.used = settings.compression == "none" and self._records <= min(FEW, settings.buffer_records)

    async def send(self, queue: PartitionQueue, block: LineBlock, stamp: int) -> int:
        """Send the lines that fill whole batches, and return the start of the rest. Raises like
        `Producer.send_lines`."""
        engine, records, at = self._engine, self._records, block.start
        budget, pacing = engine.budget, engine.pacing
        while at < block.end:
            room = min(10 * (block.end - at), engine.accumulator.sizing.limit(block.topic))
            if not budget.take_now(room, records):
                await budget.take(room, records, self._max_block)
            grown = added = 0
            try:
                self._check()
                if queue.open is not None:
                    break  # the open batch is filled first
                most = min(pacing.room(queue), 1 + (budget.max_records - budget.records) // records)
                whole, grown, at = self._cut(block, at, stamp, room, most)
                added = len(whole) * records
            finally:
                budget.give(room - grown, records - added)
            if not whole:
                break
            engine.ledger.counts.accepted += added
            engine.accumulator.add_whole(queue, whole, engine.loop.time())
            if at < block.end and pacing.runs_ahead(queue):
                await pacing.pause(queue)
        return at

    def _cut(self, block: LineBlock, at: int, stamp: int, room: int, most: int) -> tuple[list[SealedBatch], int, int]:
        """Cut up to `most` whole batches with at most `room` bytes of records. Returns them, their bytes, and the start
        of the next line."""
        chunk, end, delimiter, empty_is_null = block.chunk, block.end, block.delimiter, block.empty_is_null
        records, transactional, builder = self._records, self._transactional, Builder()
        whole: list[SealedBatch] = []
        grown = 0
        for _ in range(most):
            stop = builder.append_lines(chunk, at, end, delimiter, stamp, room - grown, records, empty_is_null)
            if builder.count < records or grown + builder.size > room:
                break
            sealed = seal(builder.take(), records, stamp, stamp, transactional=transactional)
            whole.append(sealed)
            grown += sealed.size - RESERVED
            at = stop
        return whole, grown, at


class LineBlock(Value):
    """Whole lines of chunk[start:end], each one record for `topic`.

    A line is a value, or key and value separated by `key_delimiter`, or a value for the fixed `key`. `delimiter` is one
    byte, `timestamp` is in ms (None: now). Without `partition` the partitioner chooses. With `empty_is_null`, empty
    keys and values are null.
    """

    topic: str = ""
    chunk: Buffer = b""
    start: int = 0
    end: int = 0
    delimiter: int = 10
    key_delimiter: bytes | None = None
    key: bytes | None = None
    partition: int | None = None
    timestamp: int | None = None
    empty_is_null: bool = False


def rows_of(block: LineBlock, lines: Lines) -> list[Row]:
    """Return a block's lines as rows for interceptors, which see each record."""
    view = memoryview(block.chunk)
    key, partition, timestamp = block.key, block.partition, block.timestamp

    def cut(start: int, length: int) -> bytes | None:
        return bytes(view[start : start + length]) if length >= 0 else None

    return [
        (partition, timestamp, key if key is not None else cut(key_at, key_size), cut(value_at, value_size), ())
        for key_at, key_size, value_at, value_size in zip(
            lines.key_starts, lines.key_lengths, lines.value_starts, lines.value_lengths, strict=True
        )
    ]
