"""Converts Avro payloads to Arrow arrays from the columns that the record core fills, without copying."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kcli.proto import core
from kcli.proto.faults import FAULTS
from kcli.serde.avro.columns import Column, layout_of

SIMPLE = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "local": pa.timestamp("us"),
    "string": pa.string(),
    "binary": pa.binary(),
}


def arrow_type(column: Column) -> pa.DataType:
    """Return the Arrow type of a column in Spark's form: everything except map keys is nullable."""
    if column.kind == "decimal":
        return pa.decimal128(column.precision, column.scale)
    if column.kind == "array":
        return pa.list_(pa.field("element", arrow_type(column.parts[0])))
    if column.kind == "map":
        return pa.map_(arrow_type(column.parts[0]), pa.field("value", arrow_type(column.parts[1])))
    if column.kind == "struct":
        return pa.struct([pa.field(part.name, arrow_type(part)) for part in column.parts])
    return SIMPLE[column.kind]


class AvroColumns:
    """The columns of one reader's schema."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.type = arrow_type(column)
        self._layout = layout_of(column)

    def read(
        self, cells: pa.Array, skips: array[int], which: array[int], readers: Sequence[core.AvroReader]
    ) -> tuple[pa.Array, dict[int, str]]:
        """Convert binary cells to the columns' type, each with its reader after `skips` bytes; -1 makes a row null.
        Unreadable rows are null, too, each with its reason."""
        data, starts, lengths = spans_of(cells)
        buffers, faults = core.avro_columns(self._layout, data, starts, lengths, skips, which, readers)
        made = _array(self.type, iter(buffers))
        return made, {row: FAULTS[fault] for row, fault in faults}


def spans_of(cells: pa.Array) -> tuple[Any, Any, Any]:
    """Return the bytes of a binary array, and the start and length of each cell; -1 for null."""
    rows = len(cells)
    if not rows:
        return b"", np.empty(0, np.int32), np.empty(0, np.int32)
    ends = np.frombuffer(cells.buffers()[1], np.int32)[cells.offset : cells.offset + rows + 1]
    starts, lengths = np.ascontiguousarray(ends[:-1]), np.diff(ends)
    if cells.null_count:
        lengths[cells.is_null().to_numpy(zero_copy_only=False)] = -1
    return memoryview(cells.buffers()[2] or b"").cast("B"), starts, lengths


def _array(kind: pa.DataType, buffers: Iterator[Any]) -> pa.Array:
    """Return the core's next column, with its parts."""
    rows, valid, data, text = next(buffers)
    bits = None if valid is None else pa.py_buffer(valid)
    if pa.types.is_null(kind):
        return pa.nulls(rows)
    if pa.types.is_struct(kind):
        return pa.Array.from_buffers(kind, rows, [bits], children=[_array(one.type, buffers) for one in kind])
    cells = pa.py_buffer(data)
    if pa.types.is_map(kind):
        entries = pa.struct([kind.key_field, kind.item_field])
        return pa.Array.from_buffers(kind, rows, [bits, cells], children=[_array(entries, buffers)])
    if pa.types.is_list(kind):
        return pa.Array.from_buffers(kind, rows, [bits, cells], children=[_array(kind.value_type, buffers)])
    return pa.Array.from_buffers(kind, rows, [bits, cells] if text is None else [bits, cells, pa.py_buffer(text)])
