"""Values of columns as what the Avro writer takes. Unions are columns as reading makes them, so that what was read is
written again by the same branches: null and one type is that type, several types are a struct of `member0`, `member1`,
…, of which one is not null. Another column of such a union takes the branch that its values fit.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from kcli.pipeline.schemas.writing.plain import Payload, Shown, is_list, shown
from kcli.serde.avro.exact import BadValue, Branch, Written
from kcli.serde.avro.types import Array, Map, Record, Type, Union
from kcli.serde.avro.write import AvroWriter

NULL = "null"


def avro_payloads(kind: pa.DataType, *, schema: Type) -> Payload:
    """What makes a payload of a value of a column. It raises BadValue, with the path."""
    show, writer = _shaped(kind, schema), AvroWriter(schema)
    if schema.kind != "string":
        return lambda value: writer.write(show(value))

    def text(value: Any) -> bytes:
        plain = show(value)
        return writer.write(plain if isinstance(plain, str) else json.dumps(plain))  # a key such as 42 is a text here

    return text


def _shaped(kind: pa.DataType, schema: Type) -> Shown:
    if isinstance(schema, Union):
        return _union(kind, schema)
    if isinstance(schema, Record) and pa.types.is_struct(kind):
        return _record(kind, schema)
    if isinstance(schema, Map) and pa.types.is_map(kind):
        key, item = shown(kind.key_type, avro=True), _or_null(_shaped(kind.item_type, schema.values))
        return lambda value: {str(key(name)): _within(f".{name}", item, one) for name, one in value}
    if isinstance(schema, Array) and is_list(kind):
        element = _or_null(_shaped(kind.value_type, schema.items))
        return lambda value: [_within(f"[{number}]", element, one) for number, one in enumerate(value)]
    return _plain(kind)


def _plain(kind: pa.DataType) -> Shown:
    """Values by themselves; of a float the digits too, as JSON has them."""
    show = shown(kind, avro=True)
    if pa.types.is_floating(kind):
        return lambda value: Written(repr(value)) if isinstance(plain := show(value), float) else plain
    return show


def _record(kind: pa.DataType, record: Record) -> Shown:
    types = {field.name: field.type for field in record.fields}
    fields = []
    for field in kind:
        known = types.get(field.name)
        show = _plain(field.type) if known is None else _shaped(field.type, known)
        fields.append((field.name, _or_null(show)))
    return lambda value: {name: _within(f".{name}", show, value[name]) for name, show in fields}


def _union(kind: pa.DataType, union: Union) -> Shown:
    branches = [(number, branch) for number, branch in enumerate(union.branches) if branch.kind != NULL]
    if len(branches) == 1:
        ((number, branch),) = branches
        show = _shaped(kind, branch)
        return lambda value: Branch(number, show(value))
    if pa.types.is_struct(kind) and [field.name for field in kind] == [f"member{n}" for n in range(len(branches))]:
        return _members(kind, branches)
    double = next((number for number, branch in branches if branch.kind == "double"), None)
    if double is not None and pa.types.is_float64(kind):
        show = _plain(kind)
        return lambda value: Branch(double, show(value))  # no float, which has fewer digits
    return _plain(kind)


def _members(kind: pa.DataType, branches: list[tuple[int, Type]]) -> Shown:
    members = [
        (field.name, number, _shaped(field.type, branch))
        for field, (number, branch) in zip(kind, branches, strict=True)
    ]

    def member(value: Any) -> Branch | None:
        given = [(name, number, show) for name, number, show in members if value[name] is not None]
        if not given:
            return None
        if len(given) > 1:
            raise BadValue(f"{' and '.join(name for name, *_ in given)} are given, and a union has one value")
        ((name, number, show),) = given
        return Branch(number, _within(f".{name}", show, value[name]))

    return member


def _or_null(show: Shown) -> Shown:
    return lambda value: None if value is None else show(value)


def _within(step: str, show: Shown, value: Any) -> Any:
    try:
        return show(value)
    except BadValue as bad:
        raise bad.within(step) from None
