"""keyFormat and valueFormat: bytes as typed columns. What cannot be read as the format says becomes null.

JSON goes through Arrow's reader for a whole batch at a time; a batch in which that fails (a record that is no JSON,
or of other types) is read record by record.
"""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc

from kcli.errors import UsageError
from kcli.pipeline.arrow import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kcli.pipeline.arrow import Convert


def converter(form: str, kind: pa.DataType) -> Convert | None:
    """How binary cells become `kind`; None for binary itself. Raises UsageError where the decoder is not installed."""
    if form == "binary":
        return None
    if form == "string":
        return text
    if form == "json":
        return lambda cells: from_json(cells, kind)
    try:
        from msgpack import unpackb
    except ImportError:
        raise UsageError("the format msgpack needs its decoder: pip install msgpack") from None
    return lambda cells: each(cells, kind, lambda cell: unpackb(cell, strict_map_key=False))


def from_json(cells: pa.Array, kind: pa.DataType) -> pa.Array:
    """JSON objects as structs; null for what is none."""
    if cells.null_count == 0 and len(cells):
        made = _all_at_once(cells, kind)
        if made is not None:
            return made
    return each(cells, kind, json.loads)


def _all_at_once(cells: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """None where a line is not one object of these types. Fields of the schema that are in no record are null."""
    from pyarrow import json as reader

    if pc.any(pc.match_substring(cells, "\n")).as_py():
        return None
    if not pc.all(pc.starts_with(pc.cast(cells, pa.binary()), "{")).as_py():
        return None
    joined = pc.binary_join(
        pa.ListArray.from_arrays(pa.array([0, len(cells)], pa.int32()), cells), pa.scalar(b"\n", cells.type)
    )[0].as_buffer()
    how = reader.ParseOptions(explicit_schema=pa.schema(list(kind)), unexpected_field_behavior="ignore")
    try:
        table = reader.read_json(
            pa.BufferReader(joined),
            read_options=reader.ReadOptions(use_threads=False, block_size=max(len(joined) + 1, 1 << 16)),
            parse_options=how,
        )
    except pa.ArrowInvalid:
        return None
    if table.num_rows != len(cells):
        return None
    columns = [table.column(field.name).combine_chunks() for field in kind]
    flat = [column.chunk(0) if isinstance(column, pa.ChunkedArray) else column for column in columns]
    return pa.StructArray.from_arrays(flat, fields=list(kind))


def each(cells: pa.Array, kind: pa.DataType, read: Callable[[bytes], Any]) -> pa.Array:
    """Record by record."""
    rows = []
    for cell in cells.to_pylist():
        try:
            found = None if cell is None else read(cell)
        except (ValueError, TypeError, RecursionError):  # msgpack: a map whose key is a list or a map
            found = None
        rows.append(fitting(found, kind) if isinstance(found, dict) else None)
    return pa.array(rows, kind)


def fitting(value: Any, kind: pa.DataType) -> Any:
    """The value as Arrow takes it for `kind`, null where it is of another type, through structs, lists and maps. Raises
    nothing: a record that fits badly must not end a task."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        if not isinstance(value, dict):
            return None
        return {field.name: fitting(value.get(field.name), field.type) for field in kind}
    if pa.types.is_list(kind):
        return [fitting(one, kind.value_type) for one in value] if isinstance(value, list) else None
    if pa.types.is_map(kind):
        return _map(value, kind) if isinstance(value, dict) else None
    try:
        return _cell(value, kind)
    except (ValueError, TypeError, OverflowError, NotImplementedError):  # Arrow's own are kinds of these
        return None


def _map(value: dict[Any, Any], kind: pa.DataType) -> Any:
    """The entries whose keys fit: Arrow knows no null there."""
    entries = ((fitting(key, kind.key_type), fitting(one, kind.item_type)) for key, one in value.items())
    return [(key, one) for key, one in entries if key is not None]


def _cell(value: Any, kind: pa.DataType) -> Any:
    if pa.types.is_string(kind) and not isinstance(value, str):
        if isinstance(value, bytes):
            return None
        value = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, str):
        value = value.encode("utf-8", "replace").decode()  # half a surrogate pair, which JSON can say, is ? as in Java
        if pa.types.is_temporal(kind):
            return pa.scalar(value).cast(kind).as_py()
    if isinstance(value, bool) != pa.types.is_boolean(kind):
        return None
    return pa.scalar(value, kind).as_py()
