"""Lines in bulk: the record core cuts them out of a chunk straight into open batches. The work is per batch."""

from __future__ import annotations

import asyncio

from kcli.producer.intake.send_records import OVERHEAD, now_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Sequence

    from kcli.producer.engine.engine import Engine
    from kcli.producer.intake.placement import Placement
    from kcli.producer.intake.send_records import Records, Row
    from kcli.proto.buffer import Buffer
    from kcli.proto.columns import Lines
    from kcli.settings import ProducerSettings

KEYED_STEP = 1 << 18  # bytes of keyed lines that are cut up at once


class Bulk:
    """`check` raises when nothing may be sent now."""

    def __init__(
        self, engine: Engine, placement: Placement, settings: ProducerSettings, check: Callable[[], None],
        records: Records,
    ) -> None:  # fmt: skip
        self._engine = engine
        self._placement = placement
        self._settings = settings
        self._check = check
        self._records = records

    async def send(
        self, topic: str, chunk: Buffer, start: int, end: int, delimiter: int, key_delimiter: bytes | None,
        key: bytes | None, partition: int | None, timestamp: int | None, empty_is_null: bool,
    ) -> int:  # fmt: skip
        """See `Producer.send_lines`."""
        self._check()
        ticket = self._engine.enter()
        try:
            everyone = self._placement.known(topic, partition) or await self._placement.look_up(topic, partition)
            stamp = now_ms(timestamp)
            if key_delimiter is not None:
                return await self._keyed(
                    topic, chunk, start, end, delimiter, key_delimiter, partition, stamp, empty_is_null, everyone
                )
            if key is not None:
                return await self._under_one_key(
                    topic, chunk, start, end, delimiter, key, partition, stamp, empty_is_null
                )
            return await self._values(topic, chunk, start, end, delimiter, partition, stamp, empty_is_null, everyone)
        finally:
            self._engine.leave(ticket)

    async def _under_one_key(
        self, topic: str, chunk: Buffer, start: int, end: int, delimiter: int, key: bytes, partition: int | None,
        stamp: int, empty_is_null: bool,
    ) -> int:  # fmt: skip
        cut = bytes((delimiter,))
        stop = bytes(memoryview(chunk)[start:end]).rfind(cut) + 1
        values = bytes(memoryview(chunk)[start : start + stop]).split(cut)[:-1]
        rows: list[Row] = [(partition, stamp, key, v if v or not empty_is_null else None, ()) for v in values]
        await self._records.send_rows(topic, rows)
        return start + stop

    async def _values(
        self, topic: str, chunk: Buffer, start: int, end: int, delimiter: int, partition: int | None, stamp: int,
        empty_is_null: bool, everyone: Sequence[int],
    ) -> int:  # fmt: skip
        settings, engine = self._settings, self._engine
        budget, accumulator = engine.budget, engine.accumulator
        at = start
        while at < end:
            most = accumulator.sizing.limit(topic)
            room = min(10 * (end - at), most)
            await budget.take(room, 1, settings.max_block)
            grown = added = 0
            try:
                self._check()
                sticky = self._placement.sticky(topic) if partition is None else None
                chosen = sticky.choose(everyone) if sticky is not None else partition
                assert chosen is not None
                queue = accumulator.queue(topic, chosen)
                batch = accumulator.open(queue, asyncio.get_running_loop().time())
                builder = batch.builder
                size, count = builder.size, builder.count
                limit = min(settings.batch_records, count + budget.max_records - budget.records + 1)
                stop = builder.append_lines(chunk, at, end, delimiter, stamp, most, limit, empty_is_null)
                grown, added = builder.size - size, builder.count - count
            finally:
                budget.give(room - grown, 1 - added)
            batch.charged += grown
            engine.ledger.counts.accepted += added
            full = stop < end and count + added > 0
            if sticky is not None:
                sticky.went(grown, full=full)
            accumulator.appended(queue, batch, full=full)
            if stop == at and not count:
                return at  # no whole line
            at = stop
            if at < end:
                await engine.pace(queue)
        return at

    async def _keyed(
        self, topic: str, chunk: Buffer, start: int, end: int, delimiter: int, key_delimiter: bytes,
        partition: int | None, stamp: int, empty_is_null: bool, everyone: Sequence[int],
    ) -> int:  # fmt: skip
        """Room is taken for a step's lines together, so the steps are small; one with no whole line in it grows."""
        from kcli.proto.core import split_lines

        budget, settings, at = self._engine.budget, self._settings, start
        usual = step = min(KEYED_STEP, settings.buffer_memory // (OVERHEAD + 1), settings.buffer_records)
        while at < end:
            stop = min(at + step, end)
            lines = split_lines(chunk, at, stop, delimiter, key_delimiter, empty_is_null)
            if not lines.count:
                if stop == end:
                    return at
                step *= 2
                continue
            if step > usual:  # it grew for one long line; of short ones behind it there might be too many at once
                stop = at + bytes(memoryview(chunk)[at:stop]).index(delimiter) + 1
                lines = split_lines(chunk, at, stop, delimiter, key_delimiter, empty_is_null)
                step = usual
            room = lines.consumed - at + OVERHEAD * lines.count
            await budget.take(room, lines.count, settings.max_block)
            grown = added = 0
            try:
                self._check()
                places = self._placement.rows(topic, chunk, lines, everyone) if partition is None else None
                for wanted in (partition,) if places is None else sorted(set(places)):
                    assert wanted is not None
                    more, taken = self.add_rows(topic, chunk, lines, places, wanted, stamp)
                    grown += more
                    added += taken
            finally:
                budget.give(room - grown, lines.count - added)
            at = lines.consumed
            await asyncio.sleep(0)
        return at

    def add_rows(
        self, topic: str, chunk: Buffer, lines: Lines, places: array[int] | None, wanted: int, stamp: int,
        timestamps: array[int] | None = None,
    ) -> tuple[int, int]:  # fmt: skip
        """Append the rows of one partition, over as many batches as they fill; the bytes and records they are."""
        accumulator, counts = self._engine.accumulator, self._engine.ledger.counts
        queue = accumulator.queue(topic, wanted)
        most, records = accumulator.sizing.limit(topic), self._settings.batch_records
        row = grown = added = 0
        while row < lines.count:
            batch = accumulator.open(queue, asyncio.get_running_loop().time())
            builder = batch.builder
            size, count = builder.size, builder.count
            row = builder.append_rows(chunk, lines, row, places, wanted, stamp, most, records, timestamps)
            batch.charged += builder.size - size
            grown += builder.size - size
            added += builder.count - count
            counts.accepted += builder.count - count
            accumulator.appended(queue, batch, full=row < lines.count)
        return grown, added


def rows_of(chunk: Buffer, lines: Lines, key: bytes | None, partition: int | None, timestamp: int | None) -> list[Row]:
    """Cut lines as rows, for those who have to see records one by one."""
    view = memoryview(chunk)

    def cut(start: int, length: int) -> bytes | None:
        return bytes(view[start : start + length]) if length >= 0 else None

    return [
        (partition, timestamp, key if key is not None else cut(key_at, key_size), cut(value_at, value_size), ())
        for key_at, key_size, value_at, value_size in zip(
            lines.key_starts, lines.key_lengths, lines.value_starts, lines.value_lengths, strict=True
        )
    ]
