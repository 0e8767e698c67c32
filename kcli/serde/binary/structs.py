"""A decoded message of Kafka's as JSON: fields in camel case, bytes as `{"base64": …}`, ids as Kafka shows them and
null for none."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache

from kcli.proto.as_json import id_text
from kcli.proto.compile import Wire, fields_of
from kcli.proto.protobuf_code import camel
from kcli.proto.schema import NO_ID, Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def json_of(message: Struct, **changed: object) -> bytes:
    """The fields, with those of `changed` in place of them or behind."""
    text = json.dumps(_fields(message, changed), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def _fields(message: Struct, changed: dict[str, object]) -> dict[str, Any]:
    fields = {field.name: _plain(getattr(message, field.name), wire) for field, wire in _wires(type(message))}
    return {camel(name): value for name, value in {**fields, **changed}.items()}


_wires = cache(fields_of)


def _plain(value: Any, wire: Wire) -> Any:
    if isinstance(value, Struct):
        return _fields(value, {})
    if isinstance(value, list | tuple):
        return [_plain(item, wire.element or wire) for item in value]
    if wire.kind == "Uuid":
        return None if value == NO_ID else id_text(value)
    return {"base64": b64encode(value).decode()} if isinstance(value, bytes | bytearray | memoryview) else value
