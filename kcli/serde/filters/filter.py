"""Filters the records of a batch: columns in, rows out, and a batch of only the selected records.

Cheap tests on bytes come first: if a required text is nowhere in a batch, its records are only checked for damage. The
result is an encoded batch again, so code that prints, counts or forwards batches need not know about filters.
"""

from __future__ import annotations

from array import array
from itertools import repeat

from kcli.proto.core import read_headers
from kcli.serde.decoded import decoded_key_bytes, decoded_key_of, headers_of, key_of, value_of
from kcli.serde.filters.row_search import Pattern, equal_rows, has_header, headed_rows, rows_with, searched_rows, spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any

    from kcli.proto.batch import Batch
    from kcli.proto.columns import Columns, Record
    from kcli.serde.filters.typed import Plan, Plans
    from kcli.serde.filters.where import Where
    from kcli.serde.filters.within import Within
    from kcli.serde.schemas.typed_rows import TypedRows

    Rows = Sequence[int]


SAMPLE, SMALL = 100, 16 * 1024
"""Values kept for the message about fields that no record has, and their maximum size in bytes."""


class Filter:
    """All conditions of a command line; a record must match every one. Null values and keys match none."""

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
        decoded: bool = False,
    ) -> None:
        """`grep` and `key_grep` are regular expressions that must all be found; `keys` are whole keys, one of which
        must be equal; `headers` are a name and a value, or None for any value.

        `value` decodes a value for `where`; `within` is applied last. `decoded`: keys may be decoded to JSON strings,
        and are then compared without quotes. Raises UsageError.
        """
        self._grep = [Pattern(text, "grep") for text in grep]
        self._keys = frozenset(keys)
        self._decoded_keys = self._keys | {_quoted(key) for key in self._keys} if decoded else self._keys
        self._key_grep = [Pattern(text, "key_grep") for text in key_grep]
        self._headers = tuple(headers)
        self._where = tuple(where)
        self._value = value
        self.within = within
        plain = value is value_of  # hints search only what is stored as it is decoded
        self._names = frozenset(name for where in self._where for name in where.names)
        self._decoded = decoded and "key" in self.sees  # otherwise it does not matter how keys are stored
        on_keys = [] if decoded else self._key_grep  # JSON has other bytes for some characters
        musts = [pattern.literal for pattern in (*self._grep, *on_keys) if pattern.literal]
        musts += [*self._decoded_keys] if len(self._decoded_keys) == 1 else []
        musts += [name.encode("utf-8", "surrogateescape") for name, _ in self._headers]
        musts += [value for _, value in self._headers if value]
        self._hints = [hint for where in self._where for hint in where.hints if hint.part == "headers" or plain]
        musts += [hint.text for hint in self._hints if hint.part == "headers"]
        self._musts = [text for text in musts if text]
        self._types: Mapping[str, TypedRows] = {}
        self._plans: dict[str, Plans] = {}
        self.kept = False
        """Whether any record matched."""
        self._sample: list[bytes] = []

    @property
    def sees(self) -> tuple[str, ...]:
        """Which of key and value the conditions use."""
        keys = self._keys or self._key_grep or "key" in self._names
        values = self._grep or self.within is not None or "value" in self._names
        return tuple(kind for kind, looks in (("key", keys), ("value", values)) if looks)

    def batch(self, batch: Batch, topic: str, partition: int) -> Batch | None:
        """Return a batch of the matching records with the same window; None if there are none, the batch itself if all
        match. Raises CorruptBatch, like reading it."""
        if not all(map(batch.may_contain, self._musts)):
            batch.check()  # a damaged batch is always an error
            return None
        columns = batch.columns()
        rows = self.rows(columns, topic, partition, self._plain_keys(batch), self._typed(batch))
        if not rows:
            return None
        if len(rows) == len(columns):
            return batch
        offsets = columns.offsets
        return batch.picked(array("q", [offsets[row] for row in rows]))

    def count(self, batch: Batch, topic: str, partition: int) -> int:
        """Return the number of matching records. Raises CorruptBatch, like reading them."""
        if not all(map(batch.may_contain, self._musts)):
            batch.check()
            return 0
        return len(self.rows(batch.columns(), topic, partition, self._plain_keys(batch), self._typed(batch)))

    def _plain_keys(self, batch: Batch) -> Collection[int] | None:
        if not self._decoded:
            return None
        from kcli.serde.schemas.decoded_batch import plain_keys

        return plain_keys(batch)

    def _typed(self, batch: Batch) -> Mapping[str, TypedRows]:
        if not self._where:
            return {}
        from kcli.serde.schemas.decoded_batch import typed_rows

        return typed_rows(batch)

    def rows(
        self,
        columns: Columns,
        topic: str,
        partition: int,
        plain: Collection[int] | None = None,
        typed: Mapping[str, TypedRows] | None = None,
    ) -> Rows:
        """Return the matching rows, ascending. `plain` are the offsets of records whose keys are as stored; None: all.
        `typed` are the types of the keys and values that a schema decoded."""
        whole = range(len(columns))
        self._types = typed or {}
        if plain is None:
            rows = self._rows(columns, whole, topic, partition, decoded=False)
        elif not plain:
            rows = self._rows(columns, whole, topic, partition, decoded=True)
        else:
            offsets = columns.offsets
            parts = [[row for row in whole if (offsets[row] in plain) != decoded] for decoded in (False, True)]
            rows = sorted(
                row
                for some, decoded in zip(parts, (False, True), strict=True)
                for row in self._rows(columns, some, topic, partition, decoded=decoded)
            )
        if self.within is not None and rows:
            rows = self.within.rows(rows, spans(columns, "value", rows), columns.offsets, topic, partition)
        return rows

    def _rows(self, columns: Columns, rows: Rows, topic: str, partition: int, *, decoded: bool) -> Rows:
        """Return the rows that match all conditions except `within`; their keys are decoded, or as stored."""
        if self._keys:
            rows = equal_rows(columns, rows, self._decoded_keys if decoded else self._keys)
        for pattern in self._key_grep:
            if decoded:
                rows = _grepped_keys(columns, rows, pattern)
            else:
                rows = searched_rows(columns, "key", rows, pattern)
        for pattern in self._grep:
            rows = searched_rows(columns, "value", rows, pattern)
        for name, value in self._headers:
            rows = headed_rows(columns, rows, name, value)
        if self._where and rows:
            if len(self._sample) < SAMPLE and "value" in self._names:
                some = spans(columns, "value", rows[: SAMPLE - len(self._sample)])
                self._sample += [bytes(value) for value in some if value is not None and len(value) <= SMALL]
                self._planned("value", [columns.offsets[rows[0]]])
            rows = self._tested(columns, rows, topic, partition, decoded_key_of if decoded else key_of)
        self.kept = self.kept or bool(rows)
        return rows

    def said(self) -> list[str]:
        """Return a sentence for each field in a condition that no record had, if no record matched."""
        if self.kept:
            return []
        impossible = [sentence for plans in self._plans.values() for sentence in plans.impossible]
        if impossible or not self._sample:
            return impossible
        paths = dict.fromkeys(path for where in self._where for path in where.paths)
        values = list(map(self._value, self._sample))
        return [sentence for path in paths if (sentence := _missing(path, values))]

    def record(self, record: Record, topic: str, partition: int) -> bool:
        """Whether one record matches; its key is decoded if the keys of this filter may be."""
        if self._keys and record.key not in self._decoded_keys:
            return False
        key = decoded_key_bytes(record.key) if self._decoded and record.key is not None else record.key
        if not all(key is not None and pattern.holds(key) for pattern in self._key_grep):
            return False
        if not all(record.value is not None and pattern.holds(record.value) for pattern in self._grep):
            return False
        if not all(has_header(record.headers, name, value) for name, value in self._headers):
            return False
        if self._where:
            key_seen = decoded_key_of(record.key) if self._decoded else key_of(record.key)
            seen = (key_seen, self._value(record.value), headers_of(record.headers))
            place = (topic, partition, record.offset, record.timestamp)
            if not all(_holds(where, (*seen, *place)) for where in self._where):
                return False
        return self.within is None or bool(self.within.rows([0], [record.value], [record.offset], topic, partition))

    def _tested(
        self, columns: Columns, rows: Rows, topic: str, partition: int, key_of: Callable[[bytes | None], Any]
    ) -> Rows:
        for hint in self._hints:
            typed = self._types.get(hint.part)
            shown = typed is None or hint.pattern is not None or not typed.hides(hint.text)
            if shown and len(rows) == len(columns):  # otherwise few rows are left
                rows = sorted(hint.rows(columns))
        names, nothing = self._names, repeat(None)
        data, at, counts = columns.data, columns.header_starts, columns.header_counts
        arguments = zip(
            self._seen("key", key_of, columns, rows) if "key" in names else nothing,
            self._seen("value", self._value, columns, rows) if "value" in names else nothing,
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

    def _seen(self, part: str, read: Callable[[bytes | None], Any], columns: Columns, rows: Rows) -> Iterable[Any]:
        """Return the keys, or the values, as conditions see them: by the types of their schema if one decoded them."""
        cells = map(read, spans(columns, part, rows))
        if part not in self._types:
            return cells
        plans = self._planned(part, [columns.offsets[row] for row in rows])
        if plans is None:
            return cells
        return (cell if plan is None else plan.convert(cell) for cell, plan in zip(cells, plans, strict=True))

    def _planned(self, part: str, offsets: Sequence[int]) -> list[Plan | None] | None:
        """Return the plans for the keys, or the values, of these records; None if all are used as shown."""
        if part not in self._types:
            return None
        if part not in self._plans:
            from kcli.serde.filters.typed import Plans

            paths = [path for where in self._where for path in where.all_paths[part]]
            compared = [one for where in self._where for one in where.compared if one.part == part]
            self._plans[part] = Plans(paths, compared)
        return self._plans[part].of(self._types[part], offsets)


def _grepped_keys(columns: Columns, rows: Rows, pattern: Pattern) -> Rows:
    """Return the rows whose decoded key matches the pattern. JSON has a string unchanged unless it contains a
    backslash."""
    if pattern.literal and len(rows) == len(columns):
        rows = sorted({*rows_with(columns, "key", pattern.literal), *rows_with(columns, "key", b"\\")})
    keys = zip(rows, spans(columns, "key", rows), strict=True)
    return [row for row, key in keys if key is not None and pattern.holds(decoded_key_bytes(key))]


def _holds(where: Where, seen: tuple[Any, ...]) -> bool:
    try:
        return bool(where.test(*seen))
    except RecursionError:  # values nested too deeply to compare equal nothing
        return False


def _quoted(key: bytes) -> bytes:
    import json

    return json.dumps(key.decode("utf-8", "replace"), ensure_ascii=False).encode()


def _missing(path: tuple[str | None, ...], values: list[Any]) -> str:
    """Return the sentence for a path of names, in which None is a list element; "" if a value has the field."""
    here = values
    for depth, name in enumerate(path):
        objects = [value for value in here if isinstance(value, dict)]
        lists = [item for value in here if isinstance(value, list) for item in value]
        found = lists if name is None else [value[name] for value in objects if name in value]
        if not found:
            from kcli.text.suggest import did_you_mean

            shown = "value" + "".join(f".{name}" if name is not None else "[…]" for name in path[: depth + 1])
            names = dict.fromkeys(key for value in objects for key in value)
            count = "the record" if len(values) == 1 else f"any of the first {len(values):,} records"
            if not objects and depth == 0 and name is not None:
                return f"{shown}: none of the first {len(values):,} values is a JSON object"
            hint = "" if name is None else did_you_mean(name, names)
            return f"{shown} is not in {count}{hint}"
        here = found
    return ""
