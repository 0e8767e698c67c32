"""Schemas as a registry takes them in: read by their type, refused where they are none, and kept as one text for all
texts of the same schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from kcli.sandbox.registry import refusals
from kcli.sandbox.registry.avro_text import written
from kcli.schemas import AVRO, JSON, KINDS, PROTOBUF, SchemaRefused
from kcli.serde.avro.parse import parse
from kcli.serde.avro.strict import parse_strictly
from kcli.serde.avro.types import Named, Type
from kcli.serde.protobuf.reader import ProtobufSchema

LONGEST = 4 * 1024 * 1024  # characters


def canonical(kind: str, text: str, needed: Sequence[str], *, normalize: bool) -> str:
    """The text that is kept. `needed` are the texts of the schemas that it refers to. Raises Refused."""
    if kind not in KINDS:
        raise refusals.bad_schema(f"there is no type {kind[:40]!r}; there are {', '.join(KINDS)}")
    if not text.strip():
        raise refusals.bad_schema("it is empty")
    if len(text) > LONGEST:
        raise refusals.too_large(f"The schema is longer than {LONGEST:,} characters")
    return _READERS[kind](text, needed, normalize)


def avro_type(text: str, needed: Sequence[str]) -> Type:
    """Raises Refused."""
    try:
        return parse(text, needed)
    except SchemaRefused as problem:
        raise refusals.bad_schema(str(problem)) from None


def resolved(text: str, needed: Sequence[str]) -> str:
    """An Avro schema with the schemas that it refers to in its text."""
    by_name = {}
    for number, other in enumerate(needed):
        found = avro_type(other, needed[:number])
        if isinstance(found, Named):
            by_name[found.name] = other
    return written(text, references=by_name)


def _avro(text: str, needed: Sequence[str], normalize: bool) -> str:
    try:
        parse_strictly(text, needed)
    except SchemaRefused as problem:
        raise refusals.bad_schema(str(problem)) from None
    return written(text, normalize=normalize)


def _json(text: str, needed: Sequence[str], normalize: bool) -> str:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise refusals.bad_schema(f"it is not JSON: {problem}") from None
    if not isinstance(found, dict | bool):
        raise refusals.bad_schema("a JSON schema is an object, true or false")
    try:
        return json.dumps(found, separators=(",", ":"), ensure_ascii=False, sort_keys=normalize, allow_nan=False)
    except (ValueError, RecursionError) as problem:
        raise refusals.bad_schema(f"it is not JSON: {problem}") from None


def _protobuf(text: str, needed: Sequence[str], normalize: bool) -> str:
    """The text as it came, or the base64 of a descriptor, which Confluent's registry would write as a text."""
    try:
        ProtobufSchema(text, needed)
    except SchemaRefused as problem:
        raise refusals.bad_schema(str(problem)) from None
    return text


_READERS: dict[str, Callable[[str, Sequence[str], bool], str]] = {AVRO: _avro, JSON: _json, PROTOBUF: _protobuf}
