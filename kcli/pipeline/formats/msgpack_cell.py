"""Values of msgpack as cells of a type, through structs, lists and maps. A fraction is no whole number."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa


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
