"""Converts a message to JSON and back at one version, with the names of Kafka's schemas (camelCase).

Bytes, records and raw byte strings are base64, ids are in Kafka's base64 form without padding. A missing field gets the
schema's default; a field that the version does not have, an unknown one and a wrong type are refused with their path.
"""

from __future__ import annotations

from binascii import Error as NotBase64
from binascii import a2b_base64, b2a_base64

from kcli.errors import UsageError
from kcli.proto.compile import Wire, fields_of
from kcli.proto.protobuf_code import camel
from kcli.proto.schema import NO_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.values import Field, Value

RANGES = {
    "Int8": (-(1 << 7), (1 << 7) - 1),
    "Int16": (-(1 << 15), (1 << 15) - 1),
    "Int32": (-(1 << 31), (1 << 31) - 1),
    "Int64": (-(1 << 63), (1 << 63) - 1),
    "UInt16": (0, (1 << 16) - 1),
    "UInt32": (0, (1 << 32) - 1),
}


def id_text(id: bytes) -> str:
    """Return an id in Kafka's form: URL-safe base64 without padding."""
    return b2a_base64(id, newline=False).decode().rstrip("=").replace("+", "-").replace("/", "_")


def type_of(wire: Wire) -> str:
    """Return the type in Kafka's words: int32, string, []TopicData, …"""
    if wire.element is not None:
        return f"[]{type_of(wire.element)}"
    if wire.struct is not None:
        # our prefix, for structs with the same name in request and response
        return wire.struct.__name__.removeprefix("Answered")
    return {"str": "string", "bool": "bool"}.get(wire.kind, wire.kind.lower())


# -- to JSON ----------------------------------------------------------------------------------------------------------


def to_json(struct: Value, version: int) -> dict[str, Any]:
    """Return the fields of the message in `version`, in a form for json.dumps."""
    return {
        camel(f.name): _plain(getattr(struct, f.name), wire, version)
        for f, wire in fields_of(type(struct))
        if version in f.extra.versions
    }


def _plain(value: Any, wire: Wire, version: int) -> Any:
    if value is None:
        return None
    if wire.element is not None:
        return [_plain(item, wire.element, version) for item in value]
    if wire.struct is not None:
        return to_json(value, version)
    if wire.kind == "Uuid":
        return id_text(value)
    if wire.kind in ("bytes", "Records"):
        return b2a_base64(value, newline=False).decode()
    return value


# -- from JSON --------------------------------------------------------------------------------------------------------


def from_json(kind: type[Value], version: int, given: Any, path: str = "") -> Value:
    """Parse a message from JSON. Raises UsageError with the path of the mistake."""
    if not isinstance(given, dict):
        raise UsageError(f"{path or 'the body'}: expected an object of {kind.__name__}, got {_named(given)}")
    known: dict[str, tuple[Field, Wire]] = {}
    for f, wire in fields_of(kind):
        known[camel(f.name)] = known[f.name] = f, wire
    values: dict[str, Any] = {}
    for name, value in given.items():
        at = f"{path}.{name}" if path else name
        if name not in known:
            from kcli.text.suggest import did_you_mean

            names = [camel(f.name) for f, _ in fields_of(kind) if version in f.extra.versions]
            near = did_you_mean(camel(name), names) or f"; known: {', '.join(names) or 'none'}"
            raise UsageError(f"{at}: {kind.__name__} has no such field{near}")
        f, wire = known[name]
        if f.name in values:
            raise UsageError(f"{at}: given twice, as {name} and as {camel(f.name)}")
        if version not in f.extra.versions:
            raise UsageError(f"{at}: only versions {f.extra.versions} have it, but this is version {version}")
        if value is None:
            _may_be_null(f, version, at)
        values[f.name] = None if value is None else _value(value, wire, version, at)
    return kind(**values)


def _may_be_null(f: Field, version: int, at: str) -> None:
    if version not in f.extra.null:
        where = f"; it may be in versions {f.extra.null}" if f.extra.null.first <= f.extra.null.last else ""
        raise UsageError(f"{at}: cannot be null in version {version}{where}")


def _value(value: Any, wire: Wire, version: int, at: str) -> Any:
    kind = wire.kind
    if wire.element is not None:
        if not isinstance(value, list):
            raise UsageError(f"{at}: expected a list, got {_named(value)}")
        element = wire.element
        for n, item in enumerate(value):
            if item is None:
                raise UsageError(f"{at}[{n}]: cannot be null")
        return [_value(item, element, version, f"{at}[{n}]") for n, item in enumerate(value)]
    if wire.struct is not None:
        return from_json(wire.struct, version, value, at)
    if kind in RANGES:
        return _whole(value, kind, at)
    if kind == "Float64":
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UsageError(f"{at}: expected a number, got {_named(value)}")
        return float(value)
    if kind == "bool":
        if not isinstance(value, bool):
            raise UsageError(f"{at}: expected true or false, got {_named(value)}")
        return value
    if not isinstance(value, str):
        raise UsageError(f"{at}: expected {'a string' if kind == 'str' else 'base64 in a string'}, got {_named(value)}")
    return value if kind == "str" else read_id(value, at) if kind == "Uuid" else _bytes(value, at)


def _whole(value: Any, kind: str, at: str) -> int:
    low, high = RANGES[kind]
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{at}: expected a whole number ({kind.lower()}), got {_named(value)}")
    if not low <= value <= high:
        raise UsageError(f"{at}: {value} does not fit an {kind.lower()} ({low} to {high})")
    return value


def _bytes(text: str, at: str) -> bytes:
    try:
        return a2b_base64(text, strict_mode=True)
    except NotBase64:
        raise UsageError(f"{at}: {text!r} is not base64") from None


def read_id(text: str, at: str) -> bytes:
    """Parse an id in Kafka's base64 form, or in hexadecimal with hyphens; "" is none. Raises UsageError."""
    if not text:
        return NO_ID
    try:
        if len(text) in (32, 36):
            data = bytes.fromhex(text.replace("-", ""))
        else:
            data = a2b_base64(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), strict_mode=True)
    except (NotBase64, ValueError):
        data = b""
    if len(data) != 16:
        raise UsageError(f"{at}: {text!r} is not an id: expected 22 characters of base64, or a UUID")
    return data


def _named(value: Any) -> str:
    """Return a JSON value for a sentence."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return f"the string {value[:40]!r}"
    return f"{value}"
