"""`produce --input json`, `envelope` and `kcat`: lines that are as consume writes them go to the producer as columns;
others are read one by one, by the reader that knows what is wrong with them."""

from __future__ import annotations

from array import array

from kcli.cli.commands.produce.input.source import records_of
from kcli.proto.columns import now_ms
from kcli.proto.core import read_envelopes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.cli.commands.produce.plan import Plan
    from kcli.producer.producer import Producer
    from kcli.proto.columns import Envelopes

    ByLine = Callable[[list[bytes], int], Awaitable[int]]

MOST_BY_LINE = 4096


def in_columns(plan: Plan) -> bool:
    """Whether envelopes are sent as they are: no option changes a key, a value or a header, or bounds the rate."""
    keyed = plan.key is not None or plan.key_from is not None
    changed = plan.nulls or plan.msgpack or plan.encoding is not None or keyed or plan.headers
    alone = plan.rate_limit is None and plan.settings.transactional_id is None
    return plan.input in ("json", "envelope", "kcat") and len(plan.delimiter) == 1 and not changed and alone


class EnvelopeSending:
    """A block of lines. `count` gets the number of records of each part, before they are sent."""

    def __init__(self, plan: Plan, producer: Producer, count: Callable[[int], None]) -> None:
        self._plan = plan
        self._producer = producer
        self._count = count

    async def block(self, buffer: bytearray, end: int, line: int, by_line: ByLine) -> int:
        """Send the whole lines of a block; returns the number of lines up to here. `by_line` reads lines one by one and
        sends them, and returns the same; it gets more lines each time, until columns would have had more."""
        at, few = 0, 1
        cut, kcat, readable = self._plan.delimiter, self._plan.input == "kcat", self._plan.input == "json"
        while at < end:
            read = read_envelopes(buffer, at, end, cut[0], kcat, now_ms(self._plan.timestamp), readable)
            few = 1 if read.lines.count > few else few
            if read.lines.count:
                await self._send(read)
            at, line = read.lines.consumed, line + read.lines_read
            if at < end:
                stop = at
                for _ in range(few):
                    stop = buffer.find(cut, stop, end) + 1 if stop < end else end
                line = await by_line(records_of(buffer, at, stop, cut), line)
                at, few = stop, min(2 * few, MOST_BY_LINE)
        return line

    async def _send(self, read: Envelopes) -> None:
        plan, rows = self._plan, read.lines.count
        places: array[int] | None = read.partitions
        if plan.partition is not None:
            places = array("i", [plan.partition]) * rows
        elif plan.by_key or max(read.partitions) < 0:
            places = None
        times = read.timestamps if plan.timestamp is None else array("q", [plan.timestamp]) * rows
        headers = read.headers if any(read.headers[1]) else None
        self._count(rows)
        await self._producer.send_columns(plan.topic, read.arena, read.lines, places, times, headers)
