"""keyFormat and valueFormat: bytes as typed columns, cell by cell as Spark's `from_json` makes them.

JSON goes through Arrow's reader for a whole batch at a time. Arrow refuses what it is not sure of; then the batch is
halved until the odd records are single, and those are read one by one (`json_document.py`, `json_cell.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kcli.errors import UsageError
from kcli.pipeline.formats.arrow import text
from kcli.pipeline.formats.json_cell import Cell, Misfit, cell_of
from kcli.pipeline.formats.json_document import SPACE, Malformed, document

Decoded = tuple[pa.Array, dict[int, str]]
"""The cells, and by row what is wrong with a record that did not fit."""
Decode = Callable[[pa.Array], Decoded]

FEW = 16
"""Records that are no longer halved."""
_QUICK = ("int8", "int16", "int32", "int64", "float", "double", "bool", "string")
"""Types that Arrow reads as Spark does, or refuses."""
_ODD = r"[:,\[]\s*-?(?:NaN|Inf)"
"""Numbers of which Arrow knows more than Spark."""


def converter(form: str, kind: pa.DataType) -> Decode | None:
    """How binary cells become `kind`; None for binary itself. Raises UsageError where the decoder is not installed, or
    a type cannot be decoded."""
    if form == "binary":
        return None
    if form == "string":
        return lambda cells: (text(cells), {})
    if form == "json":
        return partial(from_json, kind=kind, cell=cell_of(kind), quick=_is_quick(kind))
    try:
        from msgpack import unpackb
    except ImportError:
        raise UsageError("the format msgpack needs its decoder: pip install msgpack") from None
    return lambda cells: _from_msgpack(cells, kind, lambda cell: unpackb(cell, strict_map_key=False))


def _is_quick(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return kind.num_fields > 0 and all(_is_quick(field.type) for field in kind)
    if pa.types.is_list(kind):
        return _is_quick(kind.value_type)
    return str(kind) in _QUICK


# -- JSON -------------------------------------------------------------------------------------------------------------


def from_json(cells: pa.Array, kind: pa.DataType, cell: Cell, *, quick: bool) -> Decoded:
    """JSON objects as structs. A record that does not fit is null where it does not, and told."""
    errors: dict[int, str] = {}
    parts = _parts(text(cells), kind, cell, quick, 0, errors)
    return pa.concat_arrays(parts) if len(parts) != 1 else parts[0], errors


def _parts(
    cells: pa.Array, kind: pa.DataType, cell: Cell, quick: bool, first: int, errors: dict[int, str]
) -> list[pa.Array]:
    """The cells from row `first` on, in as many pieces as it took."""
    column = _at_once(cells, kind) if quick else None
    if column is not None:
        return [column]
    if not quick or len(cells) <= FEW:
        return [_one_by_one(cells, kind, cell, first, errors)]
    half = len(cells) // 2
    return [
        *_parts(cells.slice(0, half), kind, cell, quick, first, errors),
        *_parts(cells.slice(half), kind, cell, quick, first + half, errors),
    ]


def _at_once(cells: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """All of them by Arrow; None where one is odd. Each is in an object of its own beside its number, so that no
    text can be taken for two records, or two for one."""
    from pyarrow import json as reader

    given = cells
    if cells.null_count or not pc.all(pc.starts_with(cells, "{")).as_py():
        trimmed = pc.ascii_ltrim(cells, SPACE)
        given = pc.if_else(pc.equal(trimmed, ""), None, trimmed)
        if pc.all(pc.starts_with(given, "{")).as_py() is False:
            return None
        given = pc.fill_null(given, "null")
    numbers, texts = _numbers(len(cells))
    joined = pc.binary_join_element_wise('{"v":', given, ',"n":', texts, "}\n", "").buffers()[2]
    data = joined.to_pybytes()
    if (b"Inf" in data or b"NaN" in data) and pc.any(pc.match_substring_regex(given, _ODD)).as_py():
        return None
    try:
        table = reader.read_json(
            pa.BufferReader(joined),
            read_options=reader.ReadOptions(use_threads=False, block_size=max(joined.size + 1, 1 << 16)),
            parse_options=reader.ParseOptions(
                explicit_schema=pa.schema([("v", kind), ("n", pa.int64())]),
                unexpected_field_behavior="ignore",
                newlines_in_values=True,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if table.num_rows != len(cells) or not table.column("n").combine_chunks().equals(numbers):
        return None
    column = table.column("v").combine_chunks()
    whole = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    return None if _minus_zero(whole) else whole


def _minus_zero(column: pa.Array) -> bool:
    """Whether a number is -0.0, which to Spark is 0.0 where it is written -0."""
    if pa.types.is_struct(column.type):
        return any(map(_minus_zero, column.flatten()))
    if pa.types.is_list(column.type):
        return _minus_zero(column.flatten())
    if not pa.types.is_floating(column.type):
        return False
    numbers = column.drop_null().to_numpy(zero_copy_only=False)
    return bool(np.any((numbers == 0) & np.signbit(numbers)))


@lru_cache(maxsize=8)
def _numbers(count: int) -> tuple[pa.Array, pa.Array]:
    """0, 1, … as numbers and as texts."""
    numbers = pa.array(range(count), pa.int64())
    return numbers, numbers.cast(pa.string())


def _one_by_one(cells: pa.Array, kind: pa.DataType, cell: Cell, first: int, errors: dict[int, str]) -> pa.Array:
    rows: list[Any] = []
    for number, text_cell in enumerate(cells.to_pylist(), first):
        notes: list[str] = []
        row = None
        if text_cell is not None:
            try:
                row = cell(document(text_cell), notes)
            except (Malformed, Misfit) as problem:
                row = {}
                notes.append(str(problem))
        rows.append(row)
        if notes:
            errors[number] = notes[0]
    return pa.array(rows, kind)


# -- msgpack ----------------------------------------------------------------------------------------------------------


def _from_msgpack(cells: pa.Array, kind: pa.DataType, read: Callable[[bytes], Any]) -> Decoded:
    """Record by record; null for one that is no map."""
    rows: list[Any] = []
    errors: dict[int, str] = {}
    for number, cell in enumerate(cells.to_pylist()):
        notes: list[str] = []
        row = None
        if cell is not None:
            try:
                value = read(cell)
                if isinstance(value, dict):
                    row = fitting(value, kind, notes)
                else:
                    notes.append("not a msgpack map")
            except RecursionError:
                notes.append("a msgpack map that is nested too deep")
            except (ValueError, TypeError):  # such as a map whose key is a list or a map
                notes.append("not msgpack")
        rows.append(row)
        if notes:
            errors[number] = notes[0]
    return pa.array(rows, kind), errors


def fitting(value: Any, kind: pa.DataType, notes: list[str]) -> Any:
    """The value as Arrow takes it for `kind`; null where it is of another type, which is noted. Raises nothing: a
    record that fits badly must not end a task."""
    if value is None:
        return None
    if pa.types.is_struct(kind) and isinstance(value, dict):
        return {field.name: fitting(value.get(field.name), field.type, notes) for field in kind}
    if pa.types.is_list(kind) and isinstance(value, list):
        return [fitting(one, kind.value_type, notes) for one in value]
    if pa.types.is_map(kind) and isinstance(value, dict):
        return _map(value, kind, notes)
    if not pa.types.is_nested(kind):
        try:
            found = _cell(value, kind)
        except (ValueError, TypeError, OverflowError, NotImplementedError):  # Arrow's own are kinds of these
            found = None
        if found is not None:
            return found
    shown = repr(value)
    notes.append(f"{shown if len(shown) <= 40 else shown[:39] + '…'} is not {kind}")
    return None


def _map(value: dict[Any, Any], kind: pa.DataType, notes: list[str]) -> Any:
    """The entries whose keys fit: Arrow knows no null there."""
    entries = ((fitting(key, kind.key_type, notes), fitting(one, kind.item_type, notes)) for key, one in value.items())
    return [(key, entry) for key, entry in entries if key is not None]


def _cell(value: Any, kind: pa.DataType) -> Any:
    if isinstance(value, float) and pa.types.is_integer(kind):
        return None  # Arrow would cut it off
    if pa.types.is_string(kind) and not isinstance(value, str):
        if isinstance(value, bytes):
            return None
        value = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, str):
        value = value.encode("utf-8", "replace").decode()  # half a surrogate pair is ? as in Java
        if pa.types.is_temporal(kind):
            return pa.scalar(value).cast(kind).as_py()
    if isinstance(value, bool) != pa.types.is_boolean(kind):
        return None
    return pa.scalar(value, kind).as_py()
