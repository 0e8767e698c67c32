"""A schema's canonical form and fingerprint (Avro 1.12, "Parsing Canonical Form"), which identify the schema of
single-object payloads and show whether two texts are the same schema."""

from __future__ import annotations

import json

from kcli.schemas import SchemaRefused
from kcli.serde.avro.types import Array, Enum, Fixed, Map, Named, Record, Type, Union

EMPTY = 0xC15D213AA4D7A795  # the CRC-64-AVRO of no bytes, and its polynomial


def canonical(type: Type) -> str:
    """Return the parsing canonical form: full names, no attributes that readers do not need, no white space. Raises
    SchemaRefused for types nested too deeply for Python's stack."""
    try:
        return _text(type, set())
    except RecursionError:
        raise SchemaRefused("the Avro schema is nested too deeply for its canonical form") from None


def _text(type: Type, known: set[str]) -> str:
    if isinstance(type, Union):
        return "[" + ",".join(_text(branch, known) for branch in type.branches) + "]"
    if isinstance(type, Array):
        return f'{{"type":"array","items":{_text(type.items, known)}}}'
    if isinstance(type, Map):
        return f'{{"type":"map","values":{_text(type.values, known)}}}'
    if not isinstance(type, Named) or type.name in known:
        return _json(type.name)
    known.add(type.name)
    head = f'{{"name":{_json(type.name)},"type":"{type.kind}"'
    if isinstance(type, Record):
        fields = (f'{{"name":{_json(field.name)},"type":{_text(field.type, known)}}}' for field in type.fields)
        return f'{head},"fields":[{",".join(fields)}]}}'
    if isinstance(type, Enum):
        return f'{head},"symbols":[{",".join(map(_json, type.symbols))}]}}'
    assert isinstance(type, Fixed)
    return f'{head},"size":{type.size}}}'


def fingerprint(text: str) -> int:
    """Return the CRC-64-AVRO of a canonical form."""
    checksum = EMPTY
    for byte in text.encode():
        checksum = (checksum >> 8) ^ _TABLE[(checksum ^ byte) & 0xFF]
    return checksum


def _row(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (EMPTY if byte & 1 else 0)
    return byte


_TABLE = [_row(byte) for byte in range(256)]


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
