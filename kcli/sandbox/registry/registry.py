"""The registry's logic: registering, looking up, comparing and deleting schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kcli.sandbox.registry import refusals
from kcli.sandbox.registry.names import DEFAULT, GLOBAL, checked, shown, split
from kcli.sandbox.registry.store import Associations, Content, Reference, Store, Version
from kcli.sandbox.registry.texts import avro_type, canonical
from kcli.schemas import AVRO, SchemaRefused
from kcli.serde.avro.compatibility import BACKWARD, Violation, check, compared
from kcli.values import Frozen

LARGEST = 2**31 - 1  # of ids and versions
DEEPEST = 64  # depth of references
MOST_NEEDED = 1000  # schemas that one may need
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
REGISTRY = ""
"""The scope of the whole registry, which is also the default context."""
MODES = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT")


class Draft(Frozen):
    """A schema in a request; `id` and `number` are None if the registry assigns them."""

    content: Content = Content()
    id: int | None = None
    number: int | None = None


class Registry:
    """`note` records each change in the journal before it is made."""

    def __init__(self, note: Callable[[str, dict[str, Any]], None]) -> None:
        self.store = Store(note)
        self.levels = Scoped("level", note, {"compatibilityLevel": "BACKWARD"})
        self.modes = Scoped("mode", note, {"mode": "READWRITE"})
        self.associations = Associations(note)

    def restore(self, facts: Mapping[tuple[str, str], Any]) -> None:
        """Restore the state from the journal, by kind and key."""
        for (kind, key), value in facts.items():
            if kind == "registry version":
                self.store.restore(value)
            elif kind == "registry last":
                self.store.restore_last(key, value)
            elif kind == "registry association":
                self.associations.restore(key, value)
            else:
                (self.levels if kind == "registry level" else self.modes).restore(key, value)

    # -- looking up ---------------------------------------------------------------------------------------------------

    def version(self, subject: str, given: str, *, deleted: bool = False) -> Version:
        """Return the version that a path names: a number, `latest` or -1. Raises Refused."""
        number = number_of(given)
        rows = self.store.versions(subject, deleted=deleted)
        if not rows:
            raise refusals.no_subject(subject)
        row = rows[-1] if number is None else self.store.find(subject, number)
        if row is None or (row.deleted and not deleted):
            raise refusals.no_version(given)
        return row

    def content_of(self, context: str, id: int, subject: str = "") -> Version:
        """Return a version with the id: in the context, or if the default context does not have it, in one that has the
        subject. Raises Refused."""
        rows = self.store.with_id(context, id)
        if not rows and subject and not subject.startswith(":"):
            places = (f":{other}:{subject}" for other in self.store.contexts())
            rows = [row for place in places for row in self.store.versions(place, deleted=True) if row.id == id]
        if not rows:
            raise refusals.no_schema()
        return next((row for row in rows if not row.deleted), rows[0])

    def lookup(self, subject: str, draft: Draft, *, normalize: bool, deleted: bool) -> Version:
        """Return the latest version with this schema. Raises Refused."""
        rows = self.store.versions(subject, deleted=deleted)
        if not rows:
            raise refusals.no_subject(subject)
        content = self._kept(subject, draft.content, normalize=normalize)
        for row in reversed(rows):
            if _same(row.content, content):
                return row
        raise refusals.no_schema()

    def needed(self, content: Content) -> list[Content]:
        """Return all schemas that a schema references, each after what it needs, each once. Raises Refused."""
        contents: dict[tuple[str, int], Content] = {}

        def visit(schema: Content, depth: int) -> None:
            if depth > DEEPEST or len(contents) > MOST_NEEDED:
                raise refusals.bad_schema("it refers to more than 1,000 schemas, or to more than 64 behind one another")
            for reference in schema.references:
                place = (reference.subject, reference.version)
                row = self.store.find(*place)
                if row is None:
                    raise refusals.bad_schema(
                        f'No schema reference found for subject "{place[0]}" and version {place[1]}'
                    )
                if place not in contents:
                    visit(row.content, depth + 1)
                    contents[place] = row.content

        visit(content, 0)
        return list(contents.values())

    def texts_of(self, content: Content) -> list[str]:
        """Return the texts of the schemas that a schema references."""
        return [other.text for other in self.needed(content)]

    # -- registering --------------------------------------------------------------------------------------------------

    def register(self, subject: str, draft: Draft, *, normalize: bool) -> Version:
        """Register a schema; return the new version, or the one that already has it. Raises Refused."""
        subject = checked(subject)
        self._permit(subject, draft)
        rows = self.store.versions(subject)
        content = self._kept(subject, draft.content, normalize=normalize)
        content = _inherited(content, rows)
        for row in reversed(rows):
            if row.content == content and draft.id in (None, row.id) and draft.number in (None, row.number):
                return row
        if draft.id is not None:
            return self._imported(subject, content, draft)
        reasons = self.reasons(subject, content, rows)
        if reasons:
            raise refusals.incompatible(subject, reasons)
        every = self.store.versions(subject, deleted=True)
        number = every[-1].number + 1 if every else 1
        if draft.number not in (None, number):
            raise refusals.bad_schema(f"version {draft.number} is not the next one of {subject}, which is {number}")
        return self.store.add(subject, content, number=number)

    def _permit(self, subject: str, draft: Draft) -> None:
        mode = self.writable(subject)
        if draft.id is not None and mode != "IMPORT":
            raise refusals.not_permitted(f"Subject {subject} is not in import mode")
        if draft.id is None and mode == "IMPORT":
            raise refusals.not_permitted(f"Subject {subject} is in import mode: a schema comes with its id")

    def writable(self, subject: str) -> str:
        """Return the mode of a subject that may be changed. Raises Refused."""
        mode = str(self.modes.of(subject)["mode"])
        if self.modes.of("")["mode"] == "READONLY_OVERRIDE" or mode.startswith("READONLY"):
            raise refusals.not_permitted(f"Subject {subject} is in read-only mode")
        return mode

    def _imported(self, subject: str, content: Content, draft: Draft) -> Version:
        assert draft.id is not None
        context = split(subject)[0]
        other = self.store.with_id(context, draft.id)
        if other and other[0].content != content:
            raise refusals.other_id(draft.id)
        every = self.store.versions(subject, deleted=True)
        number = draft.number or (every[-1].number + 1 if every else 1)
        there = self.store.find(subject, number)
        if there is not None and not there.deleted:
            raise refusals.not_permitted(f"Subject {subject} has a version {number} already")
        if there is not None:
            self.store.delete(there)
        return self.store.add(subject, content, number=number, id=draft.id)

    def _kept(self, subject: str, content: Content, *, normalize: bool) -> Content:
        """Return the schema in the form in which it would be stored. Raises Refused."""
        context = split(subject)[0]
        references = tuple(self._placed(context, reference) for reference in content.references)
        content = content.replace(references=references)
        normalize = normalize or bool(self.levels.of(subject).get("normalize"))
        return content.replace(text=canonical(content.kind, content.text, self.texts_of(content), normalize=normalize))

    def _placed(self, context: str, reference: Reference) -> Reference:
        """Return a reference with its subject's context and a version number. Raises Refused."""
        subject = reference.subject
        if not subject.startswith(":") and context != ".":
            subject = f":{context}:{subject}"
        if reference.version != -1:
            return reference.replace(subject=subject)
        rows = self.store.versions(subject)
        if not rows:
            raise refusals.bad_schema(f'No schema reference found for subject "{subject}" and version -1')
        return reference.replace(subject=subject, version=rows[-1].number)

    # -- comparing ----------------------------------------------------------------------------------------------------

    def compared(self, subject: str, draft: Draft, rows: Sequence[Version], *, normalize: bool) -> list[str]:
        """Return why the schema is incompatible with versions of a subject by its level. Raises Refused."""
        content = self._kept(subject, draft.content, normalize=normalize)
        return self.reasons(subject, _inherited(content, self.store.versions(subject)), rows)

    def reasons(self, subject: str, content: Content, rows: Sequence[Version]) -> list[str]:
        """The same for a stored schema."""
        level = self.levels.of(subject)
        group = level.get("compatibilityGroup")
        if group:
            rows = [row for row in rows if _property(row.content, group) == _property(content, group)]
        return messages(level["compatibilityLevel"], content, rows, self.texts_of)

    # -- deleting -----------------------------------------------------------------------------------------------------

    def delete_version(self, subject: str, given: str, *, permanent: bool) -> int:
        """Delete a version softly, or permanently if it is soft-deleted. Raises Refused."""
        self.writable(subject)
        row = self.version(subject, given, deleted=True)
        if not permanent and row.deleted:
            raise refusals.version_deleted(subject, row.number)
        if permanent and not row.deleted:
            raise refusals.version_not_deleted(subject, row.number)
        self._delete([row], permanent=permanent)
        return row.number

    def delete_subject(self, subject: str, *, permanent: bool) -> list[int]:
        """Delete all versions of a subject. Raises Refused."""
        self.writable(subject)
        every = self.store.versions(subject, deleted=True)
        if not every:
            raise refusals.no_subject(subject)
        live = [row for row in every if not row.deleted]
        if permanent and live:
            raise refusals.subject_not_deleted(subject)
        if not permanent and not live:
            raise refusals.subject_deleted(subject)
        self._delete(every if permanent else live, permanent=permanent)
        if permanent:
            for settings in (self.levels, self.modes):
                if settings.own(subject):
                    settings.delete(subject)
        return [row.number for row in (every if permanent else live)]

    def _delete(self, rows: Sequence[Version], *, permanent: bool) -> None:
        for row in rows:
            if self.store.referrers(row.subject, row.number):
                raise refusals.referred_to(row.subject, row.number)
        for row in rows:
            if permanent:
                self.store.delete(row)
            else:
                self.store.delete_softly(row)


def number_of(given: str) -> int | None:
    """Return a version in a path; None is the latest. Raises Refused."""
    if given in ("latest", "-1"):
        return None
    if not (given.isascii() and given.isdecimal() and 1 <= int(given[:12]) <= LARGEST):
        raise refusals.bad_version(given)
    return int(given)


def _same(kept: Content, asked: Content) -> bool:
    """Whether a look-up matches this schema: metadata and rules only count if it has them."""
    return (
        (kept.kind, kept.text, kept.references) == (asked.kind, asked.text, asked.references)
        and asked.metadata in ("", kept.metadata)
        and asked.rule_set in ("", kept.rule_set)
    )


def _inherited(content: Content, rows: Sequence[Version]) -> Content:
    """A schema without metadata or rules gets those of the latest version."""
    if not rows:
        return content
    latest = rows[-1].content
    return content.replace(metadata=content.metadata or latest.metadata, rule_set=content.rule_set or latest.rule_set)


def _property(content: Content, name: str) -> object:
    """Return the value of a metadata property."""
    import json

    properties = json.loads(content.metadata).get("properties") if content.metadata else None
    return properties.get(name) if isinstance(properties, dict) else None


# Whether a schema goes with versions that a subject has, in the words of Confluent's registry. Avro is compared as
# Java compares it; of JSON Schema and Protobuf any change is let in.
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


def scope_of(subject: str) -> str:
    """A subject, a context (`:.staging:`), or the registry."""
    context, name = split(subject)
    return REGISTRY if context == DEFAULT and not name else shown(context, name)


class Scoped:
    """Settings of one kind (`level`, `mode`) by scope, each a few named values. `note` writes a change first."""

    def __init__(self, kind: str, note: Callable[[str, dict[str, Any]], None], default: Mapping[str, Any]) -> None:
        self._kind = kind
        self._note = note
        self._default = default
        self._own: dict[str, dict[str, Any]] = {}

    def own(self, subject: str) -> dict[str, Any]:
        """What was set for just this scope, empty where nothing was."""
        return self._own.get(scope_of(subject), {})

    def contexts(self) -> set[str]:
        """Those that have a setting, or a subject that has one."""
        return {split(scope)[0] for scope in self._own} - {GLOBAL}

    def of(self, subject: str) -> dict[str, Any]:
        """What holds there, each value from the nearest scope that has it."""
        found = dict(self._default)
        for scope in reversed(_chain(scope_of(subject))):
            found |= self._own.get(scope, {})
        return found

    def put(self, subject: str, values: dict[str, Any]) -> None:
        """Set values, None removes one; others that the scope has stay."""
        scope = scope_of(subject)
        merged = {name: value for name, value in {**self._own.get(scope, {}), **values}.items() if value is not None}
        self._note(f"registry {self._kind}", {"key": scope, "value": merged})
        self._own[scope] = merged

    def delete(self, subject: str) -> None:
        """Let it inherit again."""
        scope = scope_of(subject)
        self._note(f"registry {self._kind}", {"key": scope, "value": None})
        self._own.pop(scope, None)

    def restore(self, scope: str, values: dict[str, Any]) -> None:
        """As it was written."""
        self._own[scope] = values


def _chain(scope: str) -> list[str]:
    """The scope and those that it inherits from, the nearest first."""
    context = split(scope)[0]
    around = [shown(context, "")] if context not in (DEFAULT, GLOBAL) else []
    return list(dict.fromkeys([scope, *around, shown(GLOBAL, ""), REGISTRY]))
