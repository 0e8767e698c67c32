"""Values of columns as the plain JSON of a record."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from math import isfinite, isnan
from typing import Any

import pyarrow as pa

Shown = Callable[[Any], Any]
"""A value of a column as the JSON of a record."""
Payload = Callable[[Any], bytes]
"""A value of a column as a payload. Raises ValueError."""


def shown(kind: pa.DataType, *, avro: bool) -> Shown:
    """How values of a column are plain JSON: as kcli shows them, or as proto3's and JSON's own where it is not
    `avro`."""
    if pa.types.is_struct(kind):
        fields = [(field.name, shown(field.type, avro=avro)) for field in kind]
        return lambda value: {name: None if value[name] is None else show(value[name]) for name, show in fields}
    if pa.types.is_map(kind):
        key, item = shown(kind.key_type, avro=avro), shown(kind.item_type, avro=avro)
        return lambda value: {_key(key(name)): None if one is None else item(one) for name, one in value}
    if is_list(kind):
        element = shown(kind.value_type, avro=avro)
        return lambda value: [None if one is None else element(one) for one in value]
    return lambda value: _simple(value, avro=avro)


def is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _key(name: Any) -> str:
    return name if isinstance(name, str) else json.dumps(name)


def _simple(value: Any, *, avro: bool) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, bytes):
        from base64 import b64encode

        text = b64encode(value).decode()
        return {"base64": text} if avro else text
    if isinstance(value, datetime):
        zone = "Z" if value.tzinfo is not None else ""
        plain = value.astimezone(UTC).replace(tzinfo=None) if zone else value
        return plain.isoformat(timespec="microseconds") + zone
    return value.isoformat() if isinstance(value, date) else value
