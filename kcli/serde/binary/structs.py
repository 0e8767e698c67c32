"""A decoded message of Kafka's as JSON: fields in camel case, bytes as `{"base64": …}`."""

from __future__ import annotations

import json
from base64 import b64encode

from kcli.proto.protobuf_code import camel
from kcli.proto.schema import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def json_of(message: Struct, **changed: object) -> bytes:
    """The fields, with those of `changed` in place of them or behind."""
    text = json.dumps(_fields(message, changed), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def _fields(message: Struct, changed: dict[str, object]) -> dict[str, Any]:
    fields = {field.name: getattr(message, field.name) for field in message.__fields__}
    return {camel(name): _plain(value) for name, value in {**fields, **changed}.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Struct):
        return _fields(value, {})
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return {"base64": b64encode(value).decode()} if isinstance(value, bytes | bytearray | memoryview) else value
