"""Collects rows of many batches in buffers of Arrow's columnar format; the twin of `compiled/gather.pxi`.

The layout (Arrow columnar format 1.x, little-endian): fixed columns are packed integers; a binary column is a validity
bitmap (None: no nulls), int32 offsets, one more than rows, and the bytes. Arrow itself is not imported.
"""

from __future__ import annotations

import sys
from array import array

from kcli.errors import DecodeError
from kcli.proto.plain.walk import body, cut_off, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.proto.plain.walk import Header
    from kcli.proto.spans import Gathered, Spans

LARGEST = 2**31 - 1
"""Largest int32 offset: the limit of a column's bytes between two calls of `take`."""


class Gather:
    """Collects the requested columns. `rows` and `size`, the bytes of keys, values and headers, are since `take`."""

    def __init__(self, keys: bool = True, values: bool = True, headers: bool = False) -> None:
        self._wanted = keys, values, headers
        self._reset()

    def _reset(self) -> None:
        self._offsets, self._timestamps, self._kinds = array("q"), array("q"), array("i")
        self._keys: list[bytes | None] = []
        self._values: list[bytes | None] = []
        self._headers: list[list[tuple[bytes, bytes | None]]] = []
        self.rows = 0
        self.size = 0

    def add(self, h: Header) -> int:
        """Add the rows of a batch's window; return their number. Raises DecodeError, and has then added nothing."""
        data = body(h)
        if self.size + len(data) > LARGEST:
            raise DecodeError("more than 2 GiB of records at once")
        try:
            rows = list(walk(h, data))
        except IndexError as error:
            raise cut_off(error) from None
        keys, values, headers = self._wanted
        for offset, timestamp, key, key_length, value, value_length, start, count in rows:
            self._offsets.append(offset)
            self._timestamps.append(timestamp)
            if keys:
                self._keys.append(None if key_length < 0 else data[key : key + key_length])
                self.size += max(key_length, 0)
            if values:
                self._values.append(None if value_length < 0 else data[value : value + value_length])
                self.size += max(value_length, 0)
            if headers:
                self._headers.append(_headers(data, start, count))
                self.size += sum(len(name) + len(content or b"") for name, content in self._headers[-1])
        self._kinds.extend([-1 if h.magic == 0 else 1 if h.attributes & 8 else 0] * len(rows))
        self.rows += len(rows)
        return len(rows)

    def take(self) -> Gathered:
        """Take what was collected."""
        from kcli.proto.spans import Gathered

        keys, values, headers = self._wanted
        flat = [pair for row in self._headers for pair in row]
        gathered = Gathered(
            self.rows,
            _little(self._offsets),
            _little(self._timestamps),
            _little(self._kinds),
            spans(self._keys) if keys else None,
            spans(self._values) if values else None,
            _offsets([len(row) for row in self._headers]) if headers else None,
            spans([name for name, _ in flat]) if headers else None,
            spans([content for _, content in flat]) if headers else None,
        )
        self._reset()
        return gathered


def _headers(data: bytes, at: int, count: int) -> list[tuple[bytes, bytes | None]]:
    """Like `walk.read_headers`, with names as bytes."""
    from kcli.proto.varint import read_varint

    found: list[tuple[bytes, bytes | None]] = []
    for _ in range(count):
        length, at = read_varint(data, at)
        name = data[at : at + length]
        length, at = read_varint(data, at + length)
        found.append((name, None if length < 0 else data[at : at + length]))
        at += max(length, 0)
    return found


def spans(cells: list[bytes] | list[bytes | None]) -> Spans:
    """Return cells as an Arrow binary column."""
    from kcli.proto.spans import Spans

    nulls = sum(1 for cell in cells if cell is None)
    bits = None
    if nulls:
        bits = bytearray((len(cells) + 7) // 8)
        for row, cell in enumerate(cells):
            if cell is not None:
                bits[row >> 3] |= 1 << (row & 7)
    sizes = [0 if cell is None else len(cell) for cell in cells]
    return Spans(len(cells), nulls, bits, _offsets(sizes), b"".join(cell for cell in cells if cell is not None))


def _offsets(sizes: list[int]) -> bytes:
    """Return where each cell starts, and where the last one ends."""
    places = array("i", [0])
    total = 0
    for size in sizes:
        total += size
        places.append(total)
    return _little(places)


def _little(column: array[int]) -> bytes:
    if sys.byteorder == "big":
        column = array(column.typecode, column)
        column.byteswap()
    return column.tobytes()
