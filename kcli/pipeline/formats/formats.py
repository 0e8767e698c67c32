"""keyFormat and valueFormat: converts bytes to typed columns, with the same cells as Spark's `from_json`.

Arrow's reader parses the JSON of a whole batch at once. It rejects anything ambiguous; then the batch is halved until
the unusual records are isolated, which are parsed individually (`json_document.py`, `json_cell.py`).

As in `from_json`, a field that the type lacks is not an error. If such fields are wanted (`Unknown`), Arrow finds the
records that have them: it rejects the batch, and then infers the fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kcli.errors import UsageError
from kcli.pipeline.formats.arrow import strict_text
from kcli.pipeline.formats.json_cell import Cell, Misfit, Notes, cell_of, is_json
from kcli.pipeline.formats.json_document import SPACE, Malformed, document

Decoded = tuple[pa.Array, dict[int, str]]
"""The cells, and by row the problems of records that did not fit."""
Decode = Callable[[pa.Array], Decoded]

FEW = 16
"""Number of records that are no longer halved."""
TOGETHER = 2000
"""Number of records whose unknown fields Arrow infers together: each name is a column, and names may be map keys."""
MANY = 200
"""Number of unknown fields that are read as separate columns."""
NAMED = 5
"""Number of a record's unknown fields in messages."""
_QUICK = ("int8", "int16", "int32", "int64", "float", "double", "bool", "string")
"""Types that Arrow either reads like Spark or rejects."""
_ODD = r"[:,\[]\s*-?(?:NaN|Inf)"
"""Numbers that Arrow accepts and Spark does not."""


class Unknown:
    """Collects the rows of a batch with fields that the type lacks, and the names of these fields. If a type covers
    only part of the records, only fields under the paths of `within` count."""

    def __init__(self, within: Sequence[str] = ()) -> None:
        self._within = tuple(within)
        self._rows: dict[str, list[Any]] = {}

    def __bool__(self) -> bool:
        return bool(self._rows)

    def clear(self) -> None:
        """Forget the batch."""
        self._rows.clear()

    def counts(self, path: str) -> bool:
        """Whether a field at this path counts."""
        return not self._within or path.startswith(self._within)

    def named(self, paths: Iterable[str]) -> str:
        """Return the first of those that count, for a message; "" for none."""
        once = sorted(path for path in set(paths) if self.counts(path))
        return ", ".join(once[:NAMED]) + (f" and {len(once) - NAMED} more" if len(once) > NAMED else "")

    def note(self, rows: Any, paths: Iterable[str]) -> None:
        """Note rows (numbers) with these fields."""
        name = self.named(paths)
        if name:
            self._rows.setdefault(name, []).append(np.asarray(rows, np.int64))

    def first(self) -> tuple[int, str]:
        """Return the first row, and its fields."""
        return min((int(rows.min()), name) for name, parts in self._rows.items() for rows in parts)

    def by_row(self) -> dict[int, str]:
        """Return all rows with their fields."""
        return {row: name for name, parts in self._rows.items() for rows in parts for row in rows.tolist()}

    def keep(self, good: Any) -> None:
        """Keep only the rows for which an array of flags is true."""
        kept = {name: [rows[good[rows]] for rows in parts] for name, parts in self._rows.items()}
        self._rows = {name: parts for name, parts in kept.items() if any(len(rows) for rows in parts)}

    def column(self, count: int) -> pa.Array:
        """Return a text column with `count` rows."""
        if not self._rows:
            return pa.nulls(count, pa.string())
        codes = np.full(count, -1, np.int32)
        for number, parts in enumerate(self._rows.values()):
            for rows in parts:
                codes[rows] = number
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array([*self._rows])).cast(
            pa.string()
        )


def converter(form: str, kind: pa.DataType, unknown: Unknown | None = None) -> Decode | None:
    """Return the conversion of binary cells to `kind`; None for binary itself. `unknown` collects fields that `kind`
    lacks. Raises UsageError if the decoder is not installed, or a type cannot be decoded."""
    if form == "binary":
        return None
    if form == "string":
        return strict_text
    if form == "json":
        return JsonDecoder(kind, unknown)
    try:
        from msgpack import unpackb
    except ImportError:
        raise UsageError("the format msgpack needs its decoder: pip install msgpack") from None
    return lambda cells: _from_msgpack(cells, kind, lambda cell: unpackb(cell, strict_map_key=False), unknown)


def _is_quick(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return kind.num_fields > 0 and all(_is_quick(field.type) and not is_json(field) for field in kind)
    if pa.types.is_list(kind):
        return _is_quick(kind.value_type) and not is_json(kind.value_field)
    return str(kind) in _QUICK


# -- JSON -------------------------------------------------------------------------------------------------------------


class JsonDecoder:
    """Converts JSON objects to structs. A record that does not fit is null where it does not, and reported."""

    def __init__(self, kind: pa.DataType, unknown: Unknown | None = None) -> None:
        self._kind = kind
        self._cell: Cell = cell_of(kind)
        self._quick = _is_quick(kind)
        self._unknown = unknown
        self._errors: dict[int, str] = {}
        self._seen = False  # whether there were unknown fields: then more are expected
        self._wide = kind  # including the unknown fields seen so far

    def __call__(self, cells: pa.Array) -> Decoded:
        self._errors = {}
        texts, errors = strict_text(cells, instead="not UTF-8")
        parts = self._parts(texts, 0)
        made = pa.concat_arrays(parts) if len(parts) != 1 else parts[0]
        return made, {**self._errors, **errors}

    def _parts(self, cells: pa.Array, first: int) -> list[pa.Array]:
        """Return the cells from row `first` on, in as many pieces as needed."""
        column = self._at_once(cells, first) if self._quick else None
        if column is not None:
            return [column]
        if not self._quick or len(cells) <= FEW:
            return [self._one_by_one(cells, first)]
        cut = TOGETHER if self._seen and len(cells) > TOGETHER else len(cells) // 2
        return [one for at in range(0, len(cells), cut) for one in self._parts(cells.slice(at, cut), first + at)]

    def _at_once(self, cells: pa.Array, first: int) -> pa.Array | None:
        """Parse all cells with Arrow; return None if one is unusual, or if unknown fields have to be searched in
        smaller parts."""
        if self._unknown is None:
            return at_once(cells, self._kind)
        try:
            made = at_once(cells, self._wide, unexpected="error")
        except Unexpected:
            self._seen = True
            if len(cells) > TOGETHER:
                return None
            made = None
        if made is None and self._seen:
            made = at_once(cells, self._kind, unexpected="infer")
            if made is not None:
                self._wide = _widened(made.type) if _size(made.type) - _size(self._kind) <= MANY else self._kind
        if made is None or made.type == self._kind:
            return made
        masks: dict[str, Any] = {}
        _unknown_in(made, self._kind, "", np.arange(len(made)), len(made), masks)
        masks = {path: mask for path, mask in masks.items() if self._unknown.counts(path) and mask.any()}
        if masks:
            kinds, which = np.unique(np.stack([*masks.values()]), axis=1, return_inverse=True)
            for number, has in enumerate(kinds.T):
                paths = [path for path, one in zip(masks, has, strict=True) if one]
                self._unknown.note(first + np.flatnonzero(which.ravel() == number), paths)
        return _projected(made, self._kind)

    def _one_by_one(self, cells: pa.Array, first: int) -> pa.Array:
        rows: list[Any] = []
        for number, text_cell in enumerate(cells.to_pylist(), first):
            notes = Notes()
            row = None
            if text_cell is not None:
                try:
                    row = self._cell(document(text_cell), notes)
                except (Malformed, Misfit) as problem:
                    row = {}
                    notes.append(str(problem))
            rows.append(row)
            if notes:
                self._errors[number] = notes[0]
            if notes.unknown and self._unknown is not None:
                self._unknown.note([number], notes.unknown)
        return pa.array(rows, self._kind)


class Unexpected(ValueError):
    """A record has a field that the type lacks."""


def at_once(cells: pa.Array, kind: pa.DataType, *, unexpected: str = "ignore") -> pa.Array | None:
    """Parse all cells with Arrow; return None if one is unusual. Each is wrapped in a separate object next to its
    number, so that no text can be taken for two records, or two for one.

    `unexpected` determines what happens to fields that `kind` lacks; with error, Unexpected is raised.
    """
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
                unexpected_field_behavior=unexpected,
                newlines_in_values=True,
            ),
        )
    except pa.ArrowInvalid as problem:
        if unexpected == "error" and "unexpected field" in str(problem):
            raise Unexpected from problem
        return None
    if table.num_rows != len(cells) or not table.column("n").combine_chunks().equals(numbers):
        return None
    try:
        table.validate()  # Arrow 26 makes an invalid array of [null, null] where it infers a list of nulls
    except pa.ArrowInvalid:
        return None
    column = table.column("v").combine_chunks()
    whole = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    return None if _minus_zero(whole) else whole


def _unknown_in(column: pa.Array, kind: pa.DataType, path: str, rows: Any, count: int, masks: dict[str, Any]) -> None:
    """Add to `masks`, by the paths of fields that `kind` lacks, which of `count` rows have them. `rows` has the row of
    each cell."""
    if pa.types.is_list(kind):
        inside = rows[pc.list_parent_indices(column).to_numpy(zero_copy_only=False)]
        _unknown_in(column.flatten(), kind.value_type, f"{path}[]", inside, count, masks)
    elif pa.types.is_struct(kind):
        for number, part in enumerate(column.flatten()):
            name = column.type.field(number).name
            inner = f"{path}.{name}" if path else name
            if kind.get_field_index(name) >= 0:
                _unknown_in(part, kind.field(name).type, inner, rows, count, masks)
            else:
                mask = masks.setdefault(inner, np.zeros(count, bool))
                mask[rows[part.is_valid().to_numpy(zero_copy_only=False)]] = True


def _size(kind: pa.DataType) -> int:
    """Return the number of columns of a type."""
    return 1 + sum(_size(kind.field(number).type) for number in range(kind.num_fields))


def _widened(kind: pa.DataType) -> pa.DataType:
    """Return a type inferred by Arrow for later batches: a time is read as text, and what was null may be text."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _widened(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(pa.field(kind.value_field.name, _widened(kind.value_type)))
    return pa.string() if pa.types.is_temporal(kind) or pa.types.is_null(kind) else kind


def _projected(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return the column without the fields that `kind` lacks."""
    if column.type == kind:
        return column
    if pa.types.is_list(kind):
        values = _projected(column.values, kind.value_type)
        bits, ends = column.buffers()[:2]
        return pa.Array.from_buffers(kind, len(column), [bits, ends], offset=column.offset, children=[values])
    parts = [_projected(column.field(column.type.get_field_index(one.name)), one.type) for one in kind]
    return pa.StructArray.from_arrays(parts, fields=list(kind), mask=column.is_null())


def _minus_zero(column: pa.Array) -> bool:
    """Whether a number is -0.0, which Spark reads as 0.0 if written -0."""
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
    """Return 0, 1, … as numbers and as texts."""
    numbers = pa.array(range(count), pa.int64())
    return numbers, numbers.cast(pa.string())


# -- msgpack ----------------------------------------------------------------------------------------------------------


def _from_msgpack(
    cells: pa.Array, kind: pa.DataType, read: Callable[[bytes], Any], unknown: Unknown | None = None
) -> Decoded:
    """Decode record by record; null for one that is not a map."""
    rows: list[Any] = []
    errors: dict[int, str] = {}
    for number, cell in enumerate(cells.to_pylist()):
        notes = Notes()
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
            except (ValueError, TypeError):  # such as a map with a list or map as key
                notes.append("not msgpack")
        rows.append(row)
        if notes:
            errors[number] = notes[0]
        if notes.unknown and unknown is not None:
            unknown.note([number], notes.unknown)
    return pa.array(rows, kind), errors


def fitting(value: Any, kind: pa.DataType, notes: Notes, path: str = "") -> Any:
    """Return the value in Arrow's form of `kind`; null if it is of another type, which is noted. Raises nothing,
    because a bad record must not end a task."""
    if value is None:
        return None
    if pa.types.is_struct(kind) and isinstance(value, dict):
        before = f"{path}." if path else ""
        known = {field.name: field.type for field in kind}
        notes.unknown += [f"{before}{name}" for name, one in value.items() if name not in known and one is not None]
        return {name: fitting(value.get(name), one, notes, f"{before}{name}") for name, one in known.items()}
    if pa.types.is_list(kind) and isinstance(value, list):
        return [fitting(one, kind.value_type, notes, f"{path}[]") for one in value]
    if pa.types.is_map(kind) and isinstance(value, dict):
        return _map(value, kind, notes, f"{path}.*")
    if not pa.types.is_nested(kind):
        try:
            found = _cell(value, kind)
        except (ValueError, TypeError, OverflowError, NotImplementedError):  # Arrow's errors are subclasses of these
            found = None
        if found is not None:
            return found
    shown = repr(value)
    notes.append(f"{shown if len(shown) <= 40 else shown[:39] + '…'} is not {kind}")
    return None


def _map(value: dict[Any, Any], kind: pa.DataType, notes: Notes, path: str) -> Any:
    """Return the entries whose keys fit, because Arrow does not allow null keys."""
    entries = (
        (fitting(key, kind.key_type, notes), fitting(one, kind.item_type, notes, path)) for key, one in value.items()
    )
    return [(key, entry) for key, entry in entries if key is not None]


def _cell(value: Any, kind: pa.DataType) -> Any:
    if isinstance(value, float) and pa.types.is_integer(kind):
        return None  # Arrow would truncate it
    if pa.types.is_string(kind) and not isinstance(value, str):
        if isinstance(value, bytes):
            return None
        value = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, str):
        value = value.encode("utf-8", "replace").decode()  # an unpaired surrogate becomes ? as in Java
        if pa.types.is_temporal(kind):
            return pa.scalar(value).cast(kind).as_py()
    if isinstance(value, bool) != pa.types.is_boolean(kind):
        return None
    return pa.scalar(value, kind).as_py()
