"""Converts records to Arrow record batches with exactly Spark's schema. Buffers are passed on, not copied."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kcli.errors import KcliError
from kcli.proto.spans import Gathered, Spans

if TYPE_CHECKING:
    from kcli.pipeline.formats.formats import Unknown

Convert = Callable[[pa.Array, Gathered], tuple[pa.Array, dict[int, str]]]
Keep = Callable[[pa.Array, pa.Array, pa.Array, pa.Array, dict[int, str]], None]

_HALF = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
AT_ONCE = 65_536  # rows of a constant column that are created once and sliced


class BadRecord(KcliError):
    """A key or a value is not of its format."""


class UnknownField(KcliError):
    """A key or a value has a field that its columns lack."""


class Frame:
    """Creates the record batches of one range. `convert` converts key and value from binary to the schema's types.

    Values that do not fit are an error, or with `null_bad` null and counted in `bad`; `keep` then gets the raw columns
    (offset, timestamp, key, value) and the problems by row. With `drop_bad`, too, such rows are dropped. `unknown`
    collects, by row, fields that the key and value columns lack; `on_unknown` decides whether these are ignored
    (ignore), an error (fail), or count as not fitting (bad).
    """

    def __init__(
        self,
        schema: pa.Schema,
        topic: str,
        partition: int,
        convert: dict[str, Convert],
        *,
        null_bad: bool = False,
        drop_bad: bool = False,
        keep: Keep | None = None,
        unknown: Mapping[str, Unknown] | None = None,
        on_unknown: str = "ignore",
    ) -> None:
        self.schema = schema
        self.bad = 0
        self._convert = convert
        self._null_bad = null_bad
        self._drop_bad = drop_bad
        self._keep = keep
        self._unknown = unknown or {}
        self._on_unknown = on_unknown
        self._place = f"{topic}[{partition}]"
        self._constants = {
            "topic": pa.scalar(topic, pa.string()),
            "partition": pa.scalar(partition, pa.int32()),
        }
        self._made: dict[str, pa.Array] = {}

    def batch(self, got: Gathered) -> pa.RecordBatch:
        """Return the rows as columns of the schema, in its order. Raises BadRecord."""
        made = {name: self._payload(name, got) for name in ("key", "value") if name in self.schema.names}
        if self._keep is not None and any(errors for _, errors in made.values()):
            self._keep_bad(self._keep, {name: errors for name, (_, errors) in made.items()}, got)
        columns = []
        for field in self.schema:
            if field.name in made:
                columns.append(made[field.name][0])
            elif field.name in ("keyError", "valueError"):
                columns.append(sparse(made[field.name.removesuffix("Error")][1], got.rows))
            elif field.name in ("keyUnknown", "valueUnknown"):
                found = self._unknown.get(field.name.removesuffix("Unknown"))
                columns.append(pa.nulls(got.rows, pa.string()) if found is None else found.column(got.rows))
            else:
                columns.append(self._column(field, got))
        batch = pa.record_batch(columns, schema=self.schema)
        bad = [row for _, errors in made.values() for row in errors] if self._drop_bad else []
        if not bad:
            return batch
        good = np.ones(got.rows, bool)
        good[bad] = False
        return batch.filter(pa.array(good))

    @staticmethod
    def _keep_bad(keep: Keep, errors: dict[str, dict[int, str]], got: Gathered) -> None:
        """Pass on the records that did not fit, unchanged."""
        assert got.keys is not None
        assert got.values is not None
        reasons: dict[int, str] = {}
        for name, wrong in errors.items():
            for row, why in wrong.items():
                reasons[row] = f"{reasons[row]}; {name}: {why}" if row in reasons else f"{name}: {why}"
        times = micros(fixed(pa.timestamp("ms", "UTC"), got.rows, got.timestamps))
        keep(fixed(pa.int64(), got.rows, got.offsets), times, binary(got.keys), binary(got.values), reasons)

    def _payload(self, name: str, got: Gathered) -> tuple[pa.Array, dict[int, str]]:
        """Return the keys or the values, and the problems of some of them."""
        spans = got.keys if name == "key" else got.values
        assert spans is not None
        cells = binary(spans)
        if name not in self._convert:
            return cells, {}
        unknown = self._unknown.get(name)
        if unknown is not None:
            unknown.clear()
        made, errors = self._convert[name](cells, got)
        if unknown and self._on_unknown == "fail":
            row, paths = unknown.first()
            raise UnknownField(
                f"{self._at(row, got)}: its {name} has fields without a column: {paths} (option unknownFields=fail)"
            )
        if unknown and self._on_unknown == "bad":
            errors = {row: f"fields that no column has: {paths}" for row, paths in unknown.by_row().items()} | errors
        if errors and not self._null_bad:
            row = min(errors)
            raise BadRecord(f"{self._at(row, got)}: bad {name}: {errors[row]}; onBad=null makes it null")
        self.bad += len(errors)
        return made, errors

    def _at(self, row: int, got: Gathered) -> str:
        """Return the position of a record in a form that `errors.record_of` parses."""
        return f"{self._place} offset {fixed(pa.int64(), got.rows, got.offsets)[row].as_py()}"

    def _column(self, field: pa.Field, got: Gathered) -> pa.Array:
        name = field.name
        if name in self._constants:
            made = self._constant(name, got.rows)
        elif name == "offset":
            made = fixed(pa.int64(), got.rows, got.offsets)
        elif name == "timestamp":
            made = micros(fixed(pa.timestamp("ms", "UTC"), got.rows, got.timestamps))
        elif name == "timestampType":
            made = fixed(pa.int32(), got.rows, got.kinds)
        else:
            made = headers(got, field.type)
        return made

    def _constant(self, name: str, rows: int) -> pa.Array:
        made = self._made.get(name)
        if made is None or len(made) < rows:
            made = self._made[name] = pa.repeat(self._constants[name], max(rows, AT_ONCE))
        return made.slice(0, rows)


def alone(decode: Callable[[pa.Array], tuple[pa.Array, dict[int, str]]]) -> Convert:
    """Wrap a conversion that only needs the cells."""
    return lambda cells, _: decode(cells)


def fixed(kind: pa.DataType, rows: int, data: object) -> pa.Array:
    """Return a column without nulls from packed integers."""
    return pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(data)])


def binary(spans: Spans, kind: pa.DataType | None = None) -> pa.Array:
    """Return a binary (or string) column."""
    valid = None if spans.valid is None else pa.py_buffer(spans.valid)
    buffers = [valid, pa.py_buffer(spans.ends), pa.py_buffer(spans.data)]
    return pa.Array.from_buffers(kind or pa.binary(), spans.rows, buffers, spans.nulls)


def sparse(texts: dict[int, str], rows: int) -> pa.Array:
    """Return a text column of `rows` rows, few of which are not null."""
    if not texts:
        return pa.nulls(rows, pa.string())
    return pa.array([texts.get(row) for row in range(rows)], pa.string())


def micros(times: pa.Array) -> pa.Array:
    """Return milliseconds as Spark's microseconds. A time out of range becomes the nearest valid one."""
    try:
        return times.cast(pa.timestamp("us", "UTC"))
    except pa.ArrowInvalid:
        most = 2**63 // 1000 - 1
        plain = times.cast(pa.int64())
        held = pc.max_element_wise(pc.min_element_wise(plain, most), -most)
        return held.cast(pa.timestamp("ms", "UTC")).cast(pa.timestamp("us", "UTC"))


def text(cells: pa.Array) -> pa.Array:
    """Return bytes as text; invalid UTF-8 becomes U+FFFD, as in Java."""
    try:
        return cells.cast(pa.string())
    except pa.ArrowInvalid:
        rows = [None if cell is None else _replaced(cell) for cell in cells.to_pylist()]
        return pa.array(rows, pa.string())


def strict_text(cells: pa.Array, instead: str | None = None) -> tuple[pa.Array, dict[int, str]]:
    """Return bytes as text, and by row what is not UTF-8, which becomes `instead`."""
    try:
        return cells.cast(pa.string()), {}
    except pa.ArrowInvalid:
        rows: list[str | None] = []
        errors: dict[int, str] = {}
        for row, cell in enumerate(cells.to_pylist()):
            try:
                rows.append(None if cell is None else cell.decode())
            except UnicodeDecodeError as problem:
                rows.append(instead)
                errors[row] = f"not UTF-8: byte 0x{cell[problem.start]:02x} at {problem.start}"
        return pa.array(rows, pa.string()), errors


def _replaced(cell: bytes) -> str:
    """Replace an invalid cell: three bytes of an unpaired surrogate are one wrong character in Java, and three in
    Python."""
    return _HALF.sub(b"\xef\xbf\xbd", cell).decode("utf-8", "replace")


def headers(got: Gathered, kind: pa.DataType) -> pa.Array:
    """Return the headers column: null for a record without headers, as in Spark's own source."""
    assert got.header_ends is not None
    assert got.header_names is not None
    assert got.header_values is not None
    ends = fixed(pa.int32(), got.rows + 1, got.header_ends)
    pairs = pa.StructArray.from_arrays(
        [text(binary(got.header_names)), binary(got.header_values)], fields=list(kind.value_type)
    )
    none = pc.equal(ends.slice(1), ends.slice(0, got.rows))
    valid = pc.invert(none)
    return pa.Array.from_buffers(
        kind, got.rows, [_bits(valid), ends.buffers()[1]], pc.sum(none).as_py() or 0, children=[pairs]
    )


def _bits(valid: pa.Array) -> pa.Buffer:
    return valid.buffers()[1]
