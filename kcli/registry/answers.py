"""Reads responses of a registry by type. Each function takes the JSON value of a response, and raises ValueError with
the place of an unexpected one."""

from __future__ import annotations

import json
from collections import namedtuple

from kcli.registry.subjects import split
from kcli.schemas import AVRO, KINDS, Reference, Schema
from kcli.text import json_object
from kcli.text.json_object import objects, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from kcli.text.json_object import JsonObject

    class SubjectVersion(NamedTuple):
        subject: str
        version: int

    class Verdict(NamedTuple):
        """Whether a schema is compatible with the versions it was compared with, and why not."""

        compatible: bool
        reasons: tuple[str, ...]

    class ContextId(NamedTuple):
        context: str
        id: int
else:
    SubjectVersion = namedtuple("SubjectVersion", "subject version")
    Verdict = namedtuple("Verdict", "compatible reasons")
    ContextId = namedtuple("ContextId", "context id")

LARGEST_SCHEMA = 4 * 1024 * 1024  # characters
MOST_REFERENCES = 1000
LARGEST_ID = 2**63
READ = "schema schemaType references id guid subject version metadata ruleSet ruleset".split()
"""Fields of a schema that are read."""
LEVEL_NAMES = {"compatibilityLevel", "compatibility"}
PLACED = "deleted maxId ts".split()
"""Fields that depend on one registry, and mean nothing in another."""


def schema_of(value: object) -> Schema:
    return _schema(json_object.json_object(value, ""))


def schemas_of(value: object) -> list[Schema]:
    return [_schema(row) for row in objects(value)]


def _schema(row: JsonObject) -> Schema:
    kind = _text_or(row, "schemaType", AVRO) or AVRO
    if kind not in KINDS:
        raise ValueError(f"schemaType: unknown type {kind[:40]!r}; known: {', '.join(KINDS)}")
    text = sound(row.text("schema"))
    if len(text) > LARGEST_SCHEMA:
        raise ValueError(f"schema: it is longer than {LARGEST_SCHEMA // 1024**2} MiB")
    references = row.objects("references") if row.has("references") else []
    if len(references) > MOST_REFERENCES:
        raise ValueError(f"references: more than {MOST_REFERENCES:,}")
    subject = _text_or(row, "subject")
    rules = "ruleSet" if row.has("ruleSet") else "ruleset"
    extra = {name: field for name, field in row.fields.items() if name not in READ and name not in PLACED}
    return Schema(
        kind=kind,
        text=text,
        references=tuple(_reference(reference) for reference in references),
        id=_number_or(row, "id"),
        guid=_text_or(row, "guid"),
        subject=subject,
        version=_number_or(row, "version"),
        context=split(subject)[0],
        metadata=as_text(row.fields.get("metadata")),
        rule_set=as_text(row.fields.get(rules)),
        extra=as_text(extra or None),
    )


def registered_of(value: object, schema: Schema) -> Schema:
    """Return the registered schema as the registry now has it. Registries return the id, some of them more."""
    row = json_object.json_object(value, "")
    number = row.number("id")
    if not 0 <= number < LARGEST_ID:
        raise ValueError("id: out of range")
    version = _number_or(row, "version")
    return schema.replace(id=number, version=version, guid=_text_or(row, "guid"), subject=_text_or(row, "subject"))


def verdict_of(value: object) -> Verdict:
    row = json_object.json_object(value, "")
    reasons = row.texts("messages") if row.has("messages") else []
    if not reasons and row.has("reason"):
        reasons = [row.text("reason")]  # Apicurio's
    return Verdict(row.flag("is_compatible"), tuple(reasons))


def uses_of(value: object) -> list[SubjectVersion]:
    return [SubjectVersion(sound(row.text("subject")), row.number("version")) for row in objects(value)]


def context_ids_of(value: object) -> list[ContextId]:
    return [ContextId(sound(row.text("context")), row.number("id")) for row in objects(value)]


def subjects_of(value: object) -> list[str]:
    """Return the subjects of associations."""
    return [sound(row.text("subject")) for row in objects(value)]


def texts(value: object) -> list[str]:
    return [sound(text) for text in json_object.texts(value)]


def level_of(value: object) -> str:
    row = json_object.json_object(value, "")
    return row.text("compatibilityLevel" if row.has("compatibilityLevel") else "compatibility")


def own_level_of(value: object) -> str:
    """Return the level of a subject; "" if it only has other settings."""
    has_level = LEVEL_NAMES & json_object.json_object(value, "").fields.keys()
    return level_of(value) if has_level or not value else ""


def settings_of(value: object) -> dict[str, str]:
    """Return the settings of a subject, each as JSON; the level has its name in requests."""
    fields = dict(json_object.json_object(value, "").fields)
    if "compatibilityLevel" in fields:
        fields = {"compatibility": fields.pop("compatibilityLevel"), **fields}
    return {sound(name): as_text(field) for name, field in fields.items() if field is not None}


def mode_of(value: object) -> str:
    return json_object.json_object(value, "").text("mode")


def id_of(value: object) -> str:
    return json_object.json_object(value, "").text("id")


def version_of(value: object) -> str:
    return json_object.json_object(value, "").text("version")


def anything(value: object) -> None:
    """Accept a response that is complete with its status."""


def sound(text: str) -> str:
    """Return a text that UTF-8 can encode: JSON can contain unpaired surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("it contains an unpaired surrogate") from None
    return text


def as_text(value: object) -> str:
    """Return a value that is kept for another registry, as JSON; "" for null. Raises ValueError for a number that JSON
    does not allow."""
    return "" if value is None else sound(json.dumps(value, ensure_ascii=False, allow_nan=False))


def document(schema: Schema, imported: bool = False) -> dict[str, object]:
    """Return a schema in the form of a request; `imported` with its id and version, for mode IMPORT."""
    fields: dict[str, object] = json.loads(schema.extra) if schema.extra else {}
    fields["schema"] = schema.text
    if schema.kind != AVRO:
        fields["schemaType"] = schema.kind
    if schema.references:
        fields["references"] = [reference._asdict() for reference in schema.references]
    for name, text in (("metadata", schema.metadata), ("ruleSet", schema.rule_set)):
        if text:
            fields[name] = json.loads(text)
    if imported:
        fields["id"] = schema.id
        if schema.version >= 0:
            fields["version"] = schema.version
    return fields


def _reference(row: JsonObject) -> Reference:
    return Reference(sound(row.text("name")), sound(row.text("subject")), whole(row.fields.get("version"), "version"))


def _text_or(row: JsonObject, name: str, default: str = "") -> str:
    return sound(row.text(name)) if row.has(name) else default


def _number_or(row: JsonObject, name: str) -> int:
    if not row.has(name):
        return -1
    number = row.number(name)
    if not 0 <= number < LARGEST_ID:
        raise ValueError(f"{name}: out of range")
    return number
