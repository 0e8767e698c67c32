"""Rows given as columns: keys and values inside a chunk, optionally with partitions and timestamps per row."""

from __future__ import annotations

import asyncio

from kcli.errors import UsageError
from kcli.proto.columns import OVERHEAD, Lines, now_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Sequence

    from kcli.producer.engine.engine import Engine
    from kcli.producer.intake.placement import Placement
    from kcli.producer.intake.send_lines import Bulk
    from kcli.proto.buffer import Buffer
    from kcli.settings import ProducerSettings

STEP_ROWS, STEP_BYTES = 8192, 1 << 20  # rows and bytes for which buffer space is taken at a time


class Columnar:
    """`check` raises if nothing may be sent now."""

    def __init__(
        self, engine: Engine, placement: Placement, settings: ProducerSettings, check: Callable[[], None], bulk: Bulk
    ) -> None:
        self._engine = engine
        self._placement = placement
        self._settings = settings
        self._check = check
        self._bulk = bulk

    async def send(
        self,
        topic: str,
        chunk: Buffer,
        lines: Lines,
        places: array[int] | None,
        timestamps: array[int] | None,
        headers: tuple[array[int], array[int]] | None,
    ) -> None:
        """See `Producer.send_columns`."""
        self._check()
        ticket = self._engine.enter()
        try:
            everyone = self._placement.known(topic, None) or await self._placement.look_up(topic, None)
            if places is not None and lines.count:
                highest = max(places)
                if min(places) < -1:
                    raise UsageError(f"{topic} has no partition {min(places)}")
                if highest not in everyone and highest >= 0:
                    everyone = await self._placement.look_up(topic, highest)
            rush = self._engine.accumulator.rush
            much = rush.begin(len(chunk))
            try:
                await self._in_steps(topic, chunk, lines, places, timestamps, headers, everyone)
            finally:
                if much:
                    rush.end(self._engine.loop.time())
        finally:
            self._engine.leave(ticket)

    async def _in_steps(
        self,
        topic: str,
        chunk: Buffer,
        lines: Lines,
        places: array[int] | None,
        timestamps: array[int] | None,
        headers: tuple[array[int], array[int]] | None,
        everyone: Sequence[int],
    ) -> None:
        row = 0
        while row < lines.count:
            stop = self._step(lines, headers, row)
            cut = _cut(lines, row, stop), _part(places, row, stop), _part(timestamps, row, stop)
            tails = None if headers is None else (headers[0][row:stop], headers[1][row:stop])
            await self._some(topic, chunk, *cut, tails, everyone)
            row = stop

    def _step(self, lines: Lines, headers: tuple[array[int], array[int]] | None, row: int) -> int:
        """Return where the next step ends: about STEP_BYTES, and never more than the buffer holds."""
        settings = self._settings
        most = min(STEP_BYTES, settings.buffer_memory // 2)
        stop = min(row + min(STEP_ROWS, settings.buffer_records), lines.count)
        while stop > row + 1 and _size(lines, headers, row, stop) > most:
            stop = row + max(1, (stop - row) * most // _size(lines, headers, row, stop) or 1)
        return stop

    async def _some(
        self,
        topic: str,
        chunk: Buffer,
        lines: Lines,
        places: array[int] | None,
        timestamps: array[int] | None,
        headers: tuple[array[int], array[int]] | None,
        everyone: Sequence[int],
    ) -> None:
        room = _size(lines, headers, 0, lines.count)
        budget = self._engine.budget
        await budget.take(room, lines.count, self._settings.max_block)
        grown = added = 0
        try:
            self._check()
            sticks = None
            if places is None and max(lines.key_lengths) < 0:
                size = sum(lines.value_lengths) + (0 if headers is None else sum(headers[1]))
                sticks = self._placement.keyless(topic, size, everyone)
            if sticks is None:
                places = self._places(topic, chunk, lines, places, everyone)
            else:
                places = type(lines.key_starts)("i", [sticks]) * lines.count
            grown = self._bulk.add_rows(topic, chunk, lines, places, now_ms(None), timestamps, headers)
            added = lines.count
        finally:
            budget.give(room - grown, lines.count - added)
        await asyncio.sleep(0)

    def _places(
        self, topic: str, chunk: Buffer, lines: Lines, given: array[int] | None, everyone: Sequence[int]
    ) -> array[int]:
        """Return each row's partition: the given one, or the one for its key."""
        if given is not None and -1 not in given:
            return given
        chosen = self._placement.rows(topic, chunk, lines, everyone)
        if given is None:
            return chosen
        return type(given)("i", [by if place < 0 else place for place, by in zip(given, chosen)])


def _size(lines: Lines, headers: tuple[array[int], array[int]] | None, row: int, stop: int) -> int:
    """Return the largest size that the rows can have in a batch. Nulls count as -1, which OVERHEAD compensates."""
    size = sum(lines.key_lengths[row:stop]) + sum(lines.value_lengths[row:stop]) + OVERHEAD * (stop - row)
    return size if headers is None else size + sum(headers[1][row:stop])


def _part(column: array[int] | None, row: int, stop: int) -> array[int] | None:
    return None if column is None else column[row:stop]


def _cut(lines: Lines, row: int, stop: int) -> Lines:
    keys = lines.key_starts[row:stop], lines.key_lengths[row:stop]
    return Lines(*keys, lines.value_starts[row:stop], lines.value_lengths[row:stop], 0)
