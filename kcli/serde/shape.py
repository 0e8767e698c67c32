"""What a value shows of its schema: how its bytes are framed, the schema it names, the fields that it has. Pure, and
never an error: bytes of no known kind are reported as just that. No registry is asked.
"""

from __future__ import annotations

from kcli.serde.decoded import value_of
from kcli.serde.formats import MAPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple

    from kcli.proto.columns import Headers

    class Framing(NamedTuple):
        """How a value is written: its name, the schema it names ("" for none), where the payload begins."""

        name: str
        schema: str
        begins: int
else:
    from collections import namedtuple

    Framing = namedtuple("Framing", "name schema begins")

CONFLUENT, GLUE, AVRO_SINGLE = 0x00, 0x03, b"\xc3\x01"
SCHEMA_HEADERS = ("__value_schema_id", "__key_schema_id", "schema.id", "apicurio.value.globalId", "ce_dataschema")
"""Headers in which serializers name a schema (Confluent from 8.0 on, Apicurio, CloudEvents)."""
KINDS = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    type(None): "null",
    bytes: "bytes",
    dict: "object",
    list: "array",
}
FIELDS = 500
"""Fields that are listed at most."""
DEEP = 12


def framing(data: bytes) -> Framing:
    """How it is written, by its first bytes."""
    if len(data) > 5 and data[0] == CONFLUENT:
        return Framing("Confluent wire format", f"id {int.from_bytes(data[1:5], 'big')} in the schema registry", 5)
    if len(data) > 18 and data[0] == GLUE and data[1] in (0, 5):
        number = data[2:18].hex()
        uuid = "-".join((number[:8], number[8:12], number[12:16], number[16:20], number[20:]))
        return Framing(f"AWS Glue{', zlib' if data[1] else ''}", f"version {uuid} in the Glue registry", 18)
    if len(data) > 10 and data.startswith(AVRO_SINGLE):
        return Framing("Avro single object", f"CRC-64-AVRO fingerprint {data[9:1:-1].hex()}", 10)
    return Framing("", "", 0)


def encoding(data: bytes) -> str:
    """JSON, msgpack, text or bytes."""
    seen = value_of(data)
    if not isinstance(seen, str):
        return "msgpack" if data[0] in MAPS else "JSON"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "bytes"
    if text != seen:
        return "JSON"  # a string
    return "text (UTF-8)" if "".join(text.split()).isprintable() else "bytes"


def fields(value: Any) -> list[tuple[str, str]]:
    """The fields of a decoded value as (path, type), in its order; a list's elements are `[]`, with every type that
    occurs among them."""
    kinds_of: dict[str, dict[str, None]] = {}
    _walk(value, "", kinds_of, 0)
    return [(path, " | ".join(kinds)) for path, kinds in kinds_of.items()][:FIELDS]


def _walk(value: Any, path: str, kinds_of: dict[str, dict[str, None]], depth: int) -> None:
    if isinstance(value, dict) and depth < DEEP:
        if path:
            kinds_of.setdefault(path, {})["object"] = None
        for name, inner in value.items():
            if len(kinds_of) >= FIELDS:
                return
            _walk(inner, f"{path}.{name}" if path else str(name), kinds_of, depth + 1)
    elif isinstance(value, list) and depth < DEEP:
        if path:
            kinds_of.setdefault(path, {})["array"] = None
        for inner in value:
            _walk(inner, f"{path}[]", kinds_of, depth + 1)
    else:
        kinds_of.setdefault(path or "(the value)", {})[KINDS.get(type(value), type(value).__name__)] = None


def connect_schema(value: Any) -> dict[str, Any] | None:
    """The schema that Kafka Connect's JsonConverter writes beside the payload, when it did."""
    if isinstance(value, dict) and set(value) == {"schema", "payload"} and isinstance(value["schema"], dict):
        return value["schema"]
    return None


def named_in(headers: Headers) -> list[tuple[str, bytes | None]]:
    """Headers that name a schema."""
    return [(name, value) for name, value in headers if name in SCHEMA_HEADERS]
