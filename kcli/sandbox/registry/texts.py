"""Schemas as a registry takes them in: read by their type, refused where they are none, and kept as one text for all
texts of the same schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from kcli.sandbox.registry import refusals
from kcli.sandbox.registry.avro_text import written
from kcli.schemas import AVRO, JSON, KINDS, PROTOBUF, SchemaRefused
from kcli.serde.avro.parse import parse
from kcli.serde.avro.types import Named, Type

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
    avro_type(text, needed)
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
    """The text as it came: what it means is for the readers of records."""
    _check_protobuf(text)
    return text


def _check_protobuf(text: str) -> None:
    """That strings and comments end, brackets match, and something is declared. Raises Refused."""
    open_brackets: list[str] = []
    words: set[str] = set()
    for token in _tokens(text):
        if token in _CLOSES.values():
            open_brackets.append(token)
        elif token in _CLOSES:
            if not open_brackets or open_brackets.pop() != _CLOSES[token]:
                raise refusals.bad_schema(f"{token} closes nothing")
        elif not open_brackets:
            words.add(token)
    if open_brackets:
        raise refusals.bad_schema(f"{open_brackets[-1]} is not closed")
    if not words & {"message", "enum", "syntax", "edition", "import", "extend", "service"}:
        raise refusals.bad_schema("it declares no message, enum, extension or service")


_CLOSES = {"}": "{", ")": "(", "]": "["}


def _tokens(text: str) -> list[str]:
    import re

    pattern = re.compile(
        r"""\s+|//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|([\w.+-]+|[{}()\[\]=;,<>:])""", re.DOTALL
    )
    found, at = [], 0
    while at < len(text):
        match = pattern.match(text, at)
        if match is None:
            line = text.count("\n", 0, at) + 1
            raise refusals.bad_schema(f"line {line}: {text[at : at + 20]!r} is not Protobuf")
        if match.group(1):
            found.append(match.group(1))
        at = match.end()
    return found


_READERS: dict[str, Callable[[str, Sequence[str], bool], str]] = {AVRO: _avro, JSON: _json, PROTOBUF: _protobuf}
