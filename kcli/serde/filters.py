"""Which records of a batch are wanted: columns in, rows out, and a batch that has only those.

The cheap tests go first and on bytes: where a text that must be there is nowhere in a batch, its records are
only checked. What is left is an encoded batch again, so whatever prints, counts or forwards batches needs to know
nothing of filters.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from itertools import repeat

from kcli.errors import UsageError
from kcli.proto.core import read_headers
from kcli.serde.decoded import headers_of, key_of, value_of
from kcli.text.patterns import compiled, searcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from kcli.proto.batch import Batch
    from kcli.proto.columns import Columns, Record
    from kcli.serde.where import Where
    from kcli.serde.within import Within

    Rows = Sequence[int]

_PLAIN = re.compile(r"[^\\.^$*+?{}\[\]|()]+")


class Pattern:
    """A regular expression over bytes: `holds(data)`. A pattern of ASCII is searched in the bytes, one with other
    letters in the text. `literal` is a text that every match contains, or b""."""

    def __init__(self, text: str, flag: str) -> None:
        """Raises UsageError that names the option and the column."""
        try:
            pattern: re.Pattern[Any] = compiled(text.encode()) if text.isascii() else compiled(text)
        except re.error as problem:
            column = "" if problem.pos is None else f"column {problem.pos + 1}: "
            raise UsageError(f"{flag} {text}: {column}{problem.msg}") from None
        self.literal = text.encode("utf-8", "surrogateescape") if _PLAIN.fullmatch(text) else b""
        search = searcher(pattern, f"{flag} {text}")
        self.holds: Callable[[bytes], object] = (
            search if text.isascii() else lambda data: search(str(data, "utf-8", "surrogateescape"))
        )


class Filter:
    """All conditions of a command line; a record is kept when every one holds. A null value or key matches none."""

    def __init__(
        self,
        *,
        grep: Iterable[str] = (),
        keys: Iterable[bytes] = (),
        key_grep: Iterable[str] = (),
        headers: Iterable[tuple[str, bytes | None]] = (),
        where: Iterable[Where] = (),
        value: Callable[[bytes | None], Any] = value_of,
        within: Within | None = None,
    ) -> None:
        """`grep` and `key_grep` are regular expressions of which every one must be found; `keys` are whole keys, of
        which one must be equal; `headers` are a name and a value, or None for any value; `value` is how `where` sees
        a value; `within` looks last, at what all others keep. Raises UsageError."""
        self._grep = [Pattern(text, "--grep") for text in grep]
        self._keys = frozenset(keys)
        self._key_grep = [Pattern(text, "--key-grep") for text in key_grep]
        self._headers = tuple(headers)
        self._where = tuple(where)
        self._value = value
        self.within = within
        self._names = frozenset(name for where in self._where for name in where.names)
        musts = [pattern.literal for pattern in (*self._grep, *self._key_grep) if pattern.literal]
        musts += [*self._keys] if len(self._keys) == 1 else []
        musts += [name.encode("utf-8", "surrogateescape") for name, _ in self._headers]
        self._musts = [text for text in musts if text]

    def batch(self, batch: Batch, topic: str, partition: int) -> Batch | None:
        """A batch of the records that are kept, with the same window; None where there are none, the batch itself
        where all are. Raises CorruptBatch, as reading it would."""
        if not all(map(batch.may_contain, self._musts)):
            batch.check()  # whatever is looked for, a damaged batch is an error
            return None
        columns = batch.columns()
        rows = self.rows(columns, topic, partition)
        if not rows:
            return None
        if len(rows) == len(columns):
            return batch
        offsets = columns.offsets
        return batch.picked(array("q", [offsets[row] for row in rows]))

    def count(self, batch: Batch, topic: str, partition: int) -> int:
        """How many records of a batch are kept. Raises CorruptBatch, as reading it would."""
        if not all(map(batch.may_contain, self._musts)):
            batch.check()
            return 0
        return len(self.rows(batch.columns(), topic, partition))

    def rows(self, columns: Columns, topic: str, partition: int) -> Rows:
        """The rows that are kept, ascending."""
        rows: Rows = range(len(columns))
        if self._keys:
            rows = _equal(columns, rows, self._keys)
        for pattern in self._key_grep:
            rows = _searched(columns, "key", rows, pattern)
        for pattern in self._grep:
            rows = _searched(columns, "value", rows, pattern)
        for name, value in self._headers:
            rows = _headed(columns, rows, name, value)
        if self._where and rows:
            rows = self._tested(columns, rows, topic, partition)
        if self.within is not None and rows:
            rows = self.within.rows(rows, _spans(columns, "value", rows), columns.offsets, topic, partition)
        return rows

    def record(self, record: Record, topic: str, partition: int) -> bool:
        """The same for one record."""
        if self._keys and record.key not in self._keys:
            return False
        if not all(record.key is not None and pattern.holds(record.key) for pattern in self._key_grep):
            return False
        if not all(record.value is not None and pattern.holds(record.value) for pattern in self._grep):
            return False
        if not all(_has(record.headers, name, value) for name, value in self._headers):
            return False
        if self._where:
            seen = (key_of(record.key), self._value(record.value), headers_of(record.headers))
            place = (topic, partition, record.offset, record.timestamp)
            if not all(_holds(where, (*seen, *place)) for where in self._where):
                return False
        return self.within is None or bool(self.within.rows([0], [record.value], [record.offset], topic, partition))

    def _tested(self, columns: Columns, rows: Rows, topic: str, partition: int) -> Rows:
        names, nothing = self._names, repeat(None)
        data, at, counts = columns.data, columns.header_starts, columns.header_counts
        arguments = zip(
            map(key_of, _spans(columns, "key", rows)) if "key" in names else nothing,
            map(self._value, _spans(columns, "value", rows)) if "value" in names else nothing,
            [headers_of(read_headers(data, at[row], counts[row])) for row in rows] if "headers" in names else nothing,
            repeat(topic),
            repeat(partition),
            [columns.offsets[row] for row in rows],
            [columns.timestamps[row] for row in rows],
            strict=False,
        )
        return [
            row for row, seen in zip(rows, arguments, strict=True) if all(_holds(where, seen) for where in self._where)
        ]


def _holds(where: Where, seen: tuple[Any, ...]) -> bool:
    try:
        return bool(where.test(*seen))
    except RecursionError:  # values nested deeper than can be compared are equal to nothing
        return False


def _section(columns: Columns) -> tuple[bytes | bytearray, int]:
    """The bytes that hold all keys and values, and where they begin in `data`. A view of a whole answer is not copied
    whole, only the batch's part of it."""
    data: Any = columns.data
    if isinstance(data, bytes | bytearray) or not len(columns):
        return data, 0
    start = columns.key_starts[0]
    return bytes(data[start : columns.value_starts[-1] + max(columns.value_lengths[-1], 0)]), start


def _field(columns: Columns, kind: str) -> tuple[array[int], array[int]]:
    """Starts and lengths of the keys or the values."""
    if kind == "key":
        return columns.key_starts, columns.key_lengths
    return columns.value_starts, columns.value_lengths


def _spans(columns: Columns, kind: str, rows: Rows) -> list[bytes | None]:
    """The keys or values of rows, None for null."""
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


def _searched(columns: Columns, kind: str, rows: Rows, pattern: Pattern) -> Rows:
    if pattern.literal and len(rows) == len(columns):
        return _found(columns, kind, pattern.literal)
    holds = pattern.holds
    spans = _spans(columns, kind, rows)
    return [row for row, span in zip(rows, spans, strict=True) if span is not None and holds(span)]


def _found(columns: Columns, kind: str, text: bytes) -> Rows:
    """Rows whose field has the text in it, by looking for it in the whole section: no step for a row without it."""
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


def _equal(columns: Columns, rows: Rows, keys: frozenset[bytes]) -> Rows:
    spans = _spans(columns, "key", rows)
    return [row for row, span in zip(rows, spans, strict=True) if span in keys]


def _headed(columns: Columns, rows: Rows, name: str, value: bytes | None) -> Rows:
    data, at, counts = columns.data, columns.header_starts, columns.header_counts
    return [row for row in rows if counts[row] and _has(read_headers(data, at[row], counts[row]), name, value)]


def _has(headers: Iterable[tuple[str, bytes | None]], name: str, value: bytes | None) -> bool:
    return any(known == name and (value is None or held == value) for known, held in headers)
