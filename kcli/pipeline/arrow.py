"""Gathered records as Arrow record batches of exactly the schema Spark expects. Buffers are handed over, not copied."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.proto.spans import Gathered, Spans

    Convert = Callable[[pa.Array], pa.Array]

AT_ONCE = 65_536  # rows of a constant column that are made once and cut from then on


class Frame:
    """Makes record batches of one range. `convert` turns key and value from binary into what the schema says."""

    def __init__(self, schema: pa.Schema, topic: str, partition: int, convert: dict[str, Convert]) -> None:
        self.schema = schema
        self._convert = convert
        self._constants = {
            "topic": pa.scalar(topic, pa.string()),
            "partition": pa.scalar(partition, pa.int32()),
        }
        self._made: dict[str, pa.Array] = {}

    def batch(self, got: Gathered) -> pa.RecordBatch:
        """The rows as the schema's columns, in its order."""
        return pa.record_batch([self._column(field, got) for field in self.schema], schema=self.schema)

    def _column(self, field: pa.Field, got: Gathered) -> pa.Array:
        name = field.name
        if name in ("key", "value"):
            spans = got.keys if name == "key" else got.values
            assert spans is not None
            cells = binary(spans)
            made = self._convert[name](cells) if name in self._convert else cells
        elif name in self._constants:
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


def fixed(kind: pa.DataType, rows: int, data: object) -> pa.Array:
    """A column without nulls over packed integers."""
    return pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(data)])


def binary(spans: Spans, kind: pa.DataType | None = None) -> pa.Array:
    """A binary (or string) column."""
    valid = None if spans.valid is None else pa.py_buffer(spans.valid)
    buffers = [valid, pa.py_buffer(spans.ends), pa.py_buffer(spans.data)]
    return pa.Array.from_buffers(kind or pa.binary(), spans.rows, buffers, spans.nulls)


def micros(times: pa.Array) -> pa.Array:
    """Milliseconds as Spark's microseconds. A time so far out that it has none becomes the farthest there is."""
    try:
        return times.cast(pa.timestamp("us", "UTC"))
    except pa.ArrowInvalid:
        most = 2**63 // 1000 - 1
        plain = times.cast(pa.int64())
        held = pc.max_element_wise(pc.min_element_wise(plain, most), -most)
        return held.cast(pa.timestamp("ms", "UTC")).cast(pa.timestamp("us", "UTC"))


def text(cells: pa.Array) -> pa.Array:
    """Bytes as text; what is not UTF-8 becomes U+FFFD, as in Java."""
    try:
        return cells.cast(pa.string())
    except pa.ArrowInvalid:
        rows = [None if cell is None else cell.decode("utf-8", "replace") for cell in cells.to_pylist()]
        return pa.array(rows, pa.string())


def headers(got: Gathered, kind: pa.DataType) -> pa.Array:
    """The headers column: null for a record without any, as in Spark's own source."""
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
