"""Records written out one by one, each by a function of the caller."""

from __future__ import annotations

from kcli.proto.plain.walk import cut_off, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.proto.plain.walk import Header, Walked


def write(h: Header, data: bytes, out: bytearray, limit: int, show: Callable[[Walked], bytes]) -> tuple[int, int]:
    """Append what `show` makes of each record in the window."""
    parts: list[bytes] = []
    after = max(h.first, h.base_offset)
    try:
        for row in walk(h, data):
            if len(parts) == limit:
                break
            parts.append(show(row))
            after = row[0] + 1
        else:
            after = _stop_of(h)
    except IndexError as error:
        raise cut_off(error) from None
    out += b"".join(parts)
    return len(parts), after


def value_of(data: bytes, row: Walked, null: bytes) -> bytes:
    return null if row[5] < 0 else data[row[4] : row[4] + row[5]]


def _stop_of(h: Header) -> int:
    return min(h.stop, h.last_offset + 1)
