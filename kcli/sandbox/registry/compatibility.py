"""Whether a schema goes with versions that a subject has, in the words of Confluent's registry. Avro is compared as
Java compares it; of JSON Schema and Protobuf any change is let in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kcli.sandbox.registry import refusals
from kcli.sandbox.registry.store import Content, Version
from kcli.sandbox.registry.texts import avro_type
from kcli.schemas import AVRO, SchemaRefused
from kcli.serde.avro.compatibility import BACKWARD, Violation, check, compared

DESCRIPTIONS = {
    "NAME_MISMATCH": "The name of the schema has changed",
    "FIXED_SIZE_MISMATCH": "The size of FIXED type field at path '{path}' in the {one} schema does not match with the "
    "{other} schema",
    "MISSING_ENUM_SYMBOLS": "The {one} schema is missing enum symbols '{detail}' at path '{path}' in the {other} "
    "schema",
    "READER_FIELD_MISSING_DEFAULT_VALUE": "The field '{detail}' at path '{path}' in the {one} schema has no default "
    "value and is missing in the {other} schema",
    "TYPE_MISMATCH": "The type (path '{path}') of a field in the {one} schema does not match with the {other} schema",
    "MISSING_UNION_BRANCH": "The {one} schema is missing a type inside a union field at path '{path}' in the {other} "
    "schema",
}


def messages(level: str, new: Content, rows: Sequence[Version], needed: Callable[[Content], list[str]]) -> list[str]:
    """Why not; empty where the level holds. `rows` are the versions, the oldest first. Raises Refused."""
    rows = compared(level, rows)
    if not rows:
        return []
    if any(row.content.kind != new.kind for row in rows):
        return [_object("SCHEMA_TYPE_MISMATCH", "The schema type does not match the earlier one", new.kind)]
    if new.kind != AVRO:
        return []
    try:
        types = [avro_type(row.content.text, needed(row.content)) for row in rows]
        violations = check(level, avro_type(new.text, needed(new)), types)
    except SchemaRefused as problem:
        raise refusals.bad_schema(str(problem)) from None
    if not violations:
        return []
    first = violations[0].version  # Confluent's registry shows the first version that does not go with it
    old = rows[first]
    shown = [_violation(violation) for violation in violations if violation.version == first]
    text = old.content.text
    return [
        *shown,
        f"{{oldSchemaVersion: {old.number}}}",
        f"{{oldSchema: '{text}'}}",
        f"{{compatibility: '{level}'}}",
    ]


def _violation(violation: Violation) -> str:
    kind, path, detail = violation.reason
    one, other = ("new", "old") if violation.direction == BACKWARD else ("old", "new")
    return _object(kind, DESCRIPTIONS[kind].format(path=path, detail=detail, one=one, other=other), detail)


def _object(kind: str, description: str, detail: str) -> str:
    return f"{{errorType:'{kind}', description:'{description}', additionalInfo:'{detail}'}}"
