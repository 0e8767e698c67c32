"""Writes records one by one with a function of the caller."""

from __future__ import annotations

from kcli.proto.plain.walk import cut_off, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.proto.plain.walk import Header, Walked


def write(h: Header, data: bytes, out: bytearray, limit: int, show: Callable[[Walked], bytes]) -> tuple[int, int]:
    """Append the result of `show` for each record in the window."""
    return write_after(h, data, out, b"", (0, 0), limit, show)


def write_after(
    h: Header,
    data: bytes,
    out: bytearray,
    shown: bytes,
    done: tuple[int, int],
    limit: int,
    show: Callable[[Walked], bytes],
) -> tuple[int, int]:
    """The same if the first records are already `shown`: `done` is where the next one starts, and how many they are,
    all in the window. Nothing is appended if a later record is broken."""
    at, before = done
    parts: list[bytes] = [shown]
    after = max(h.first, h.base_offset)
    try:
        for row in walk(h, data, at, before):
            if before + len(parts) - 1 == limit:
                break
            parts.append(show(row))
            after = row[0] + 1
        else:
            after = _stop_of(h)
    except IndexError as error:
        raise cut_off(error) from None
    out += b"".join(parts)
    return before + len(parts) - 1, after


def value_of(data: bytes, row: Walked, null: bytes) -> bytes:
    return null if row[5] < 0 else data[row[4] : row[4] + row[5]]


def _stop_of(h: Header) -> int:
    return min(h.stop, h.last_offset + 1)
