"""Finds rows of a batch by the content of keys, values and headers, by searching the bytes of the whole batch, without
a step for rows that do not match."""

from __future__ import annotations

import re
from bisect import bisect_right

from kcli.errors import OPTION, UsageError
from kcli.proto.core import read_headers
from kcli.proto.varint import encode_varint
from kcli.text.patterns import compiled, longest, searcher, self_contained

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Sequence
    from typing import Any

    from kcli.proto.columns import Columns

    Rows = Sequence[int]
    from collections.abc import Callable


PROBE = 64
TRIES = 64
"""Candidate places without a matching length before them; after 64 in a row, the row is read instead."""
SWEPT = 1 << 16
"""Bytes of values that a pattern searches at once."""


def spans(columns: Columns, kind: str, rows: Rows) -> list[bytes | None]:
    """Return the keys or values of rows, None for null."""
    starts, lengths = _field(columns, kind)
    held, skip = _section(columns)
    if len(rows) != len(columns):
        return [
            None if (size := lengths[row]) < 0 else bytes(held[(at := starts[row] - skip) : at + size]) for row in rows
        ]
    if skip:
        return [
            None if size < 0 else bytes(held[at - skip : at - skip + size])
            for at, size in zip(starts, lengths, strict=True)
        ]
    return [None if size < 0 else bytes(held[at : at + size]) for at, size in zip(starts, lengths, strict=True)]


def searched_rows(columns: Columns, kind: str, rows: Rows, pattern: Pattern) -> Rows:
    """Return the rows whose key or value matches the pattern."""
    whole = len(rows) == len(columns)
    if pattern.literal and whole:
        return rows_with(columns, kind, pattern.literal)
    if pattern.sweeps and whole and kind == "value":
        return _swept(columns, pattern)
    holds = pattern.holds
    return [row for row, span in zip(rows, spans(columns, kind, rows), strict=True) if span is not None and holds(span)]


def rows_matching(columns: Columns, kind: str, pattern: re.Pattern[bytes]) -> list[int]:
    """Return the rows in whose key or value a match of an internal pattern begins: a short one without anchors or
    lookarounds."""
    starts, lengths = _field(columns, kind)
    held, skip = _section(columns)
    rows: list[int] = []
    total = len(columns)
    if not total:
        return rows
    last = starts[-1] + max(lengths[-1], 0) - skip
    match = pattern.search(held, starts[0] - skip, last)
    while match is not None:
        at = match.start() + skip
        row = bisect_right(starts, at) - 1
        if at < starts[row] + lengths[row]:
            rows.append(row)
        if row + 1 == total:
            break
        match = pattern.search(held, starts[row + 1] - skip, last)
    return rows


def rows_beginning(columns: Columns, kind: str, first: bytes) -> list[int]:
    """Return rows whose key or value may begin with one of these bytes; all that do are included."""
    starts, _ = _field(columns, kind)
    data: Any = columns.data
    try:
        begins = bytes(map(data.__getitem__, starts))
    except IndexError:  # the last one is empty, and nothing follows it
        begins = bytes(map(data.__getitem__, starts[:-1])) + first[:1]
    if len(begins.translate(None, first)) < len(begins):
        return [row for row, byte in enumerate(begins) if byte in first]
    return []


def rows_with(columns: Columns, kind: str, text: bytes) -> list[int]:
    """Return the rows whose key or value contains the text."""
    starts, lengths = _field(columns, kind)
    held, skip = _section(columns)
    rows: list[int] = []
    size, total = len(text), len(columns)
    if not total:
        return rows
    last = starts[-1] + max(lengths[-1], 0) - skip
    at = held.find(text, starts[0] - skip, last) + skip
    while at >= skip:
        row = bisect_right(starts, at) - 1
        if at + size <= starts[row] + lengths[row]:
            rows.append(row)
        if row + 1 == total:
            break
        at = held.find(text, starts[row + 1] - skip, last) + skip
    return rows


def _swept(columns: Columns, pattern: Pattern) -> Rows:
    """Return the rows whose value matches, for a pattern without anchors and lookarounds.

    It searches as many values at once as it can certainly search in time. The first match shows that no earlier row
    matches; a match that extends past its value only shows that this value has to be searched separately.
    """
    starts, lengths = columns.value_starts, columns.value_lengths
    held, skip = _section(columns)
    search, holds, most = pattern.sweep, pattern.holds, min(pattern.longest, SWEPT)
    rows: list[int] = []
    row, total = 0, len(columns)
    while row < total:
        if len(rows) >= PROBE and len(rows) > row // 2:  # most match, so searching each one is less work
            rest = range(row, total)
            return rows + [
                at for at, span in zip(rest, spans(columns, "value", rest)) if span is not None and holds(span)
            ]
        stop = max(bisect_right(starts, starts[row] + most, row) - 1, row + 1)
        end = starts[stop - 1] + max(lengths[stop - 1], 0) - skip
        while stop > row + 1 and end + skip - starts[row] > most:
            stop -= 1
            end = starts[stop - 1] + max(lengths[stop - 1], 0) - skip
        if end + skip - starts[row] > most:  # a single long value
            if holds(bytes(held[starts[row] - skip : end])):
                rows.append(row)
            row = stop
            continue
        while row < stop and (match := search(held, starts[row] - skip, end)) is not None:
            begin, until = match.start() + skip, match.end() + skip
            row = bisect_right(starts, begin, row, stop) - 1
            last = starts[row] + lengths[row]
            if lengths[row] >= 0 and (
                until <= last or (begin <= last and holds(bytes(held[starts[row] - skip : last - skip])))
            ):
                rows.append(row)
            row += 1
        row = stop
    return rows


def equal_rows(columns: Columns, rows: Rows, keys: frozenset[bytes]) -> Rows:
    """Return the rows whose key is one of these."""
    return [row for row, span in zip(rows, spans(columns, "key", rows), strict=True) if span in keys]


def headed_rows(columns: Columns, rows: Rows, name: str, value: bytes | None) -> Rows:
    """Return the rows with a header of that name, and with that value unless it is None."""
    data, at, counts = columns.data, columns.header_starts, columns.header_counts
    if len(rows) == len(columns):
        rows = rows_headed_with(columns, value or name.encode("utf-8", "surrogateescape"))
    return [row for row in rows if counts[row] and has_header(read_headers(data, at[row], counts[row]), name, value)]


def rows_headed_with(columns: Columns, text: bytes) -> list[int]:
    """Return rows that may have a header whose whole name or value is the text; all that do are included. Its length
    precedes it, or ends with a zero byte if it was written in more bytes than needed."""
    starts, following = columns.header_starts, columns.key_starts
    total = len(columns)
    if not total:
        return []
    skip, end = starts[0], following[-1]
    held = bytes(columns.data[skip:end])
    rows: list[int] = []
    before = b"\0" + encode_varint(len(text))[-1:]
    missed = 0  # within the row
    at = held.find(text)
    while at >= 0:
        row = bisect_right(starts, at + skip) - 1
        if row + 1 == total:
            break
        again = starts[row + 1] - skip
        missed += 1
        if at + skip + len(text) <= following[row + 1]:
            if held[at - 1] in before or missed > TRIES:
                rows.append(row)
            else:
                again = at + 1
        if again > at + 1:
            missed = 0
        at = held.find(text, again)
    return [*rows, total - 1]  # the end of the last row's headers is not known here


def has_header(headers: Iterable[tuple[str, bytes | None]], name: str, value: bytes | None) -> bool:
    """Whether one of the headers has that name, and that value unless it is None."""
    return any(known == name and (value is None or held == value) for known, held in headers)


def _field(columns: Columns, kind: str) -> tuple[array[int], array[int]]:
    """Return starts and lengths of the keys or the values."""
    if kind == "key":
        return columns.key_starts, columns.key_lengths
    return columns.value_starts, columns.value_lengths


def _section(columns: Columns) -> tuple[bytes | bytearray, int]:
    """Return the bytes that contain all keys and values, and where they begin in `data`. Of a view of a whole response
    only the batch's part is copied."""
    data: Any = columns.data
    if isinstance(data, bytes | bytearray) or not len(columns):
        return data, 0
    start = columns.key_starts[0]
    return bytes(data[start : columns.value_starts[-1] + max(columns.value_lengths[-1], 0)]), start


# A regular expression over the bytes of keys and values.


LEAST_SWEPT = 1024
"""Bytes: with fewer, there are so few records that searching each one costs no more."""
_PLAIN = re.compile(r"[^\\.^$*+?{}\[\]|()]+")


class Pattern:
    """A regular expression over bytes: `holds(data)`. An ASCII pattern searches the bytes, one with other characters
    the text.

    `literal` is the only text that can match, if there is only one, else b"". `sweeps`: `sweep` may search up to
    `longest` bytes of many values at once.
    """

    def __init__(self, text: str, setting: str) -> None:
        """Raises UsageError that names the setting and the position."""
        try:
            pattern: re.Pattern[Any] = compiled(text.encode()) if text.isascii() else compiled(text)
        except re.error as problem:
            column = "" if problem.pos is None else f"column {problem.pos + 1}: "
            raise UsageError(f"{setting} {text}: {column}{problem.msg}").hinted(OPTION) from None
        self.longest = longest(text)
        self.sweep = pattern.search
        self.sweeps = text.isascii() and self.longest >= LEAST_SWEPT and self_contained(text.encode())
        self.literal = text.encode("utf-8", "surrogateescape") if _PLAIN.fullmatch(text) else b""
        search = searcher(pattern, f"{setting} {text}")
        self.holds: Callable[[bytes], object] = (
            search if text.isascii() else lambda data: search(str(data, "utf-8", "surrogateescape"))
        )
