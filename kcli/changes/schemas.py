"""Changes of a schema registry: registering and deleting schemas; levels, modes, other settings, and contexts."""

from __future__ import annotations

import json
from contextlib import suppress

from kcli.asking.ask import unknown
from kcli.changes.change import UNCHANGED, WOULD_CHANGE, Plan, Row, Undo, settled
from kcli.errors import ConnectError, KcliError, UsageError
from kcli.registry.errors import Incompatible, NotFound, RegistryError, Unsupported
from kcli.registry.moving.document import document_of, snapshot_of
from kcli.registry.moving.snapshot import (
    LEVEL,
    Snapshot,
    each,
    in_order,
    inherit_level,
    live_versions,
    own,
    own_settings,
)
from kcli.registry.moving.transfer import BURY, CONFLICT, IMPORT, KNOWN, REGISTER, Move, Transfer
from kcli.registry.subjects import listed_by
from kcli.security.http import Unavailable
from kcli.text.suggest import did_you_mean
from kcli.values import Frozen, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
    from typing import Any

    from kcli.registry.client import RegistryClient
    from kcli.registry.listing.opened import OpenRegistry
    from kcli.schemas import Schema
    from kcli.text.json_object import JsonObject

    Settings = Mapping[str, object]
    Place = tuple[str, int | None]
    """A subject and one of its versions, None for all of them."""
    Group = tuple[str, str, Settings | None, list["SettingRow"]]
    """A section and a subject, its new values, and their rows."""

SCHEMA = "kcli.registry.undo/1"
"""Schema of the undo document."""
LEVELS, MODES, SETTINGS = "levels", "modes", "settings"
"""The sections of rows about settings."""
MODE = "mode"
ITEMS = {LEVELS: LEVEL, MODES: MODE}
MODE_NAMES = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT")
REFUSED = (429, 503)
"""Statuses of a registry that has not started to process the request."""
MOVES = {
    REGISTER: ("would register", "", "registered"),
    IMPORT: ("would import", "", "imported"),
    BURY: ("would import deleted", "", "imported deleted"),
    KNOWN: ("known", "", ""),
    CONFLICT: ("conflict", "", ""),
}
DELETE = ("would delete", "", "deleted")


class Wanted(Frozen):
    """The wanted state of a registry: `register` and `delete` are versions; levels, modes and other settings are by
    subject, "" for the whole registry, and None if the subject is to inherit them."""

    register: Snapshot = Snapshot()
    delete: Snapshot = Snapshot()
    levels: Mapping[str, str | None] = {}
    modes: Mapping[str, str | None] = {}
    settings: Mapping[str, Settings | None] = {}

    def undo(self, registry: OpenRegistry, file: str) -> Undo:
        """Return this in the form of an undo file."""
        schemas = {"delete": document_of(self.delete), "register": document_of(self.register)}
        settings = {LEVELS: dict(self.levels), MODES: dict(self.modes), SETTINGS: dict(self.settings)}
        return Undo(document={"schema": SCHEMA, **schemas, **settings}, file=file, where=registry.name)


def read_undo(document: JsonObject) -> Wanted:
    """Parse an undo document; older ones have no modes and settings. Raises ValueError."""
    settings: Mapping[str, Any] = document.nested(SETTINGS).fields if document.has(SETTINGS) else {}
    for subject, values in settings.items():
        if not isinstance(values, dict | None):
            raise ValueError(f"{SETTINGS}.{subject}: expected an object or null")
    return Wanted(
        register=snapshot_of(document.fields.get("register", {})),
        delete=snapshot_of(document.fields.get("delete", {})),
        levels=document.texts_or_nulls(LEVELS),
        modes=document.texts_or_nulls(MODES) if document.has(MODES) else {},
        settings=settings,
    )


class SchemaRow(Row):
    """A version to register or delete."""

    move: Move = field()
    section: str = "schemas"
    columns = (
        "subject=name version=move.schema.version id=source_id type=move.schema.kind "
        "new_version=move.version new_id=move.id result"
    ).split()

    @property
    def source_id(self) -> int | None:
        return _id(self.move.schema)


class SettingRow(Row):
    """A setting of a subject, which is `name`: `old` is the value in force, `is_own` whether the subject has it
    itself."""

    is_own: bool = False
    words: tuple[str, str, str] = (WOULD_CHANGE, UNCHANGED, "changed")

    def as_json(self) -> dict[str, object]:
        shown: dict[str, object] = {self.section[:-1]: self.old}
        if self.section == SETTINGS:
            shown = {"name": self.item, "value": self.old, "source": "subject" if self.is_own else "inherited"}
        return {"subject": self.name or None, **shown, "new": self.new, "result": self.result or None}


async def plan(
    registry: OpenRegistry, wanted: Wanted, *, keep: bool = True, force: bool = False, look: bool = False
) -> Plan:
    """Return the plan: a row for each version, and one for each setting; with `look` settings are shown but not
    changed.

    `keep`: schemas get the same ids there as here. `force`: mode IMPORT is set although there are schemas. If a row
    fails in the plan, nothing is changed. Raises KcliError.
    """
    client = registry.client
    transfer = Transfer(client, wanted.register, keep=keep)
    await transfer.plan()
    made = Plan(warnings=transfer.losses)
    schemas = [_moved(move) for move in transfer.moves]
    deletions = [_deleted(schema) for schema in await _present(client, wanted.delete)]
    moving = bool(wanted.register.schemas or wanted.delete.schemas)
    groups: list[Group] = []
    back: dict[str, dict[str, object]] = {LEVELS: {}, MODES: {}, SETTINGS: {}}
    for section, subject, change in _changes(wanted):
        try:
            mine = {} if look and section != SETTINGS else await _read(client, section, subject, inherited=False)
            values = mine if moving else await _read(client, section, subject)
            names = change if moving and change else {**values, **(change or {})}
            rows = [_row(section, subject, name, values, mine, change) for name in names]
            if change is None and section != SETTINGS and not look:
                above = {} if moving else await _read(client, section, "")
                for row in rows:
                    row.new = _shown(above.get(row.item)) or "inherited"
        except KcliError as problem:
            made.failed[subject] = problem
            continue
        for row in rows:
            if look or not (change is None or row.item in change):
                row.result, row.new = "", None
        groups.append((section, subject, change, rows))
        if any(row.is_open for row in rows):
            back[section][subject] = _before(section, mine, change)
    made.rows = [*schemas, *deletions, *(row for *_, rows in groups for row in rows)]
    if made.idle or made.failed or any(row.error for row in made.rows):
        return made
    refuse_folder(registry)
    made.adds = all(row.result == MOVES[REGISTER][0] for row in made.rows if row.is_open)

    async def apply(registry: OpenRegistry) -> None:
        client = registry.client
        opening = [group for group in groups if _opens(group)]
        for group in opening:
            await _set_group(client, group, force)
        await transfer.carry_out()
        for row in schemas:
            if row.move.outcome:
                row.settle(row.move.error and _outcome(row.move.error))
        failed = next((row.error for row in schemas if row.error is not None), None)
        for one in made.rows if failed is not None else ():
            if one.is_open:
                one.result, one.error = "not done", failed
        for row in deletions:
            if row.is_open:
                await _settle([row], _delete(client, row.name, row.move.schema.version))
        for group in sorted((group for group in groups if group not in opening), key=lambda group: group[0] == MODES):
            await _set_group(client, group, force)

    made.apply = apply
    made.undo = Wanted(
        delete=Snapshot(schemas=tuple(move.schema for move in transfer.ready)),
        register=Snapshot(schemas=tuple(row.move.schema for row in reversed(deletions))),
        **back,  # type: ignore[arg-type]  # each section has its own kind of values
    ).undo(registry, "registry")
    return made


async def plan_restore(registry: OpenRegistry, wanted: Wanted, *, keep: bool | None = None) -> Plan:
    """Return the plan that restores an undo document. Without `keep`, schemas keep their ids if the registry deletes
    softly."""
    keep = registry.client.deletes_softly if keep is None else keep
    register = wanted.register if keep else wanted.register.replace(deleted=frozenset())
    return await plan(registry, wanted.replace(register=register), keep=keep, force=True)


def _opens(group: Group) -> bool:
    """Whether this sets a mode in which schemas can be changed: such modes are set first, all others last."""
    section, _, change, _ = group
    return section == MODES and (change or {}).get(MODE, "READWRITE") == "READWRITE"


async def _set_group(client: RegistryClient, group: Group, force: bool) -> None:
    section, subject, change, rows = group
    if open_rows := [row for row in rows if row.is_open]:
        await _settle(open_rows, _set(client, section, subject, change, open_rows, force))


def refuse_folder(registry: OpenRegistry) -> None:
    """Raise UsageError if a folder is used instead of a registry."""
    if registry.folder:
        raise UsageError(f"{registry.name} is a folder, which kcli can only read")


def _outcome(problem: KcliError) -> KcliError:
    """Return the outcome of a change that failed like this: unknown if it was sent and got no response."""
    refused = isinstance(problem, Unavailable) and problem.status in REFUSED
    return unknown(problem) if isinstance(problem, ConnectError) and problem.sent and not refused else problem


async def _settle(rows: Sequence[Row], work: Awaitable[object]) -> None:
    """Like `settled`, with unknown outcomes for changes that were sent and got no response."""

    async def ended() -> None:
        try:
            await work
        except KcliError as problem:
            raise _outcome(problem) from None

    await settled(rows, ended())


# -- schemas ----------------------------------------------------------------------------------------------------------


def _id(schema: Schema) -> int | None:
    """None if the registry has no integer ids: AWS Glue uses UUIDs."""
    return schema.id if schema.id >= 0 else None


def _moved(move: Move) -> SchemaRow:
    row = SchemaRow(name=move.schema.subject, about=move.schema.name, move=move, words=MOVES[move.action])
    row.result, row.error = row.words[0], move.error
    return row


def _deleted(schema: Schema) -> SchemaRow:
    move = Move(schema=schema)
    return SchemaRow(name=schema.subject, about=schema.subject, move=move, words=DELETE, result=DELETE[0])


async def _present(client: RegistryClient, snapshot: Snapshot) -> list[Schema]:
    """Return the versions of a snapshot that exist, each before those it references."""
    found = []
    for schema in reversed(snapshot.schemas):
        for normalize in (False, True):  # as it was registered
            try:
                there = await client.lookup(schema.subject, schema, normalize=normalize)
            except NotFound:
                continue
            found.append(schema.replace(version=there.version, id=there.id))
            break
    return found


def _delete(client: RegistryClient, subject: str, version: int | None, *, permanent: bool = False) -> Awaitable[object]:
    """Delete a version, or all versions of the subject."""
    if version is None:
        return client.delete_subject(subject, permanent=permanent)
    return client.delete_version(subject, version, permanent=permanent)


class VersionRow(Row):
    """A version to delete; `references` are the ids of schemas that reference it."""

    columns = "subject=name version references result".split()
    version: int = -1
    references: list[str] = field(factory=list)
    words: tuple[str, str, str] = DELETE
    result: str = DELETE[0]


async def plan_deletion(
    registry: OpenRegistry, places: Sequence[Place], *, permanent: bool = False, keep: bool = True
) -> Plan:
    """Return the plan that deletes versions, with `permanent` those that are already soft-deleted. A version that other
    schemas reference is kept, and then nothing is deleted. Without `keep` there is no undo, and no schemas are
    requested."""
    refuse_folder(registry)
    client, softly = registry.client, registry.client.deletes_softly
    if not (permanent or softly):
        raise UsageError(f"{registry.name} does not support soft deletion").hinted("delete-permanently")
    made = Plan()
    rows: list[VersionRow] = []
    whole: dict[str, list[VersionRow]] = {}
    for subject, version in places:
        if version is not None and (subject, None) in places:
            continue  # deleted with its subject
        try:
            if version is None:
                numbers = await client.versions(subject, deleted=permanent)
            else:
                numbers = [(await client.version(subject, version, deleted=permanent)).version]
            in_use = set(await live_versions(client, subject)) if permanent and softly else set()
            found = [await _going(made, client, subject, one, in_use, permanent=permanent) for one in numbers]
        except KcliError as problem:
            made.failed[subject if version is None else f"{subject}@{version}"] = problem
            continue
        rows += found
        if version is None:
            whole[subject] = found
    made.rows = list(rows)
    if not rows or made.failed or any(row.error for row in rows):
        return made

    async def apply(registry: OpenRegistry) -> None:
        for subject, some in whole.items():
            await _settle(some, _delete(registry.client, subject, None, permanent=permanent))
        for row in rows:
            if row.name not in whole:
                await _settle([row], _delete(registry.client, row.name, row.version, permanent=permanent))

    made.apply = apply
    if keep:
        schemas = await each(lambda row: client.version(row.name, row.version, deleted=True), rows)
        for row, schema in zip(rows, schemas, strict=True):
            row.old = f"id {schema.id}, {schema.kind}"
        deleted = frozenset((row.name, row.version) for row in rows if permanent and softly)
        kept = Snapshot(schemas=tuple(in_order(schemas)), deleted=deleted)
        subjects = list(dict.fromkeys(row.name for row in rows))
        settings = await own_settings(client, subjects) if permanent else {}
        made.undo = Wanted(register=kept, **settings).undo(registry, "registry-delete")
    return made


async def _going(
    made: Plan, client: RegistryClient, subject: str, version: int, in_use: set[int], *, permanent: bool
) -> VersionRow:
    name = f"{subject} version {version}"
    row = VersionRow(name=subject, about=subject, version=version)
    if version in in_use:
        row.result = "not soft-deleted"
        row.error = KcliError(f"{name}: not soft-deleted yet").hinted("delete-first")
        return row
    try:
        row.references = [str(number) for number in await client.referenced_by(subject, version)]
    except RegistryError as problem:  # a soft-deleted version, or the request is not supported
        soft_deleted = permanent and client.deletes_softly
        if problem.status != 404 or not (soft_deleted or isinstance(problem, Unsupported)):
            raise
        if not permanent:
            made.warnings.append(f"{name}: the registry does not list the schemas that refer to it")
    if row.references:
        row.result = "referenced"
        row.error = KcliError(f"{name}: schemas {', '.join(row.references)} refer to it: delete them first")
    return row


class RegisteredRow(SchemaRow):
    """The schema that is registered under the subject `name`."""

    words: tuple[str, str, str] = ("would register", "known", "registered")
    columns = "subject=name version=move.version id=move.id type=move.schema.kind result".split()
    result: str = "would register"

    def take(self, schema: Schema) -> None:
        """Set the fields from the registry's response."""
        self.move.schema, self.move.version, self.move.id = schema, schema.version, _id(schema)


async def plan_registration(registry: OpenRegistry, subject: str, schema: Schema, *, normalize: bool = False) -> Plan:
    """Return the plan that registers a schema, with its own id if it has one, which requires mode IMPORT. A schema that
    the registry finds incompatible fails with Incompatible. Raises KcliError."""
    client, imported = registry.client, schema.id >= 0
    move = Move(schema=schema, id=_id(schema), version=schema.version if schema.version > 0 else None)
    row = RegisteredRow(name=subject, about=subject, section="", move=move)
    made = Plan(rows=[row], adds=True)
    try:
        row.take(await client.lookup(subject, schema, normalize=normalize))
        row.settle(None, unchanged=True)
        return made
    except NotFound:
        pass  # it is new
    if not imported:  # mode IMPORT compares nothing
        with suppress(Unsupported):  # the registry compares on registration
            if reasons := await reasons_against(client, subject, schema, every=False, normalize=normalize):
                row.settle(Incompatible(subject, tuple(reasons), 0, 0))
                return made
    refuse_folder(registry)

    async def apply(registry: OpenRegistry) -> None:
        await _settle([row], _register(registry.client, row, subject, schema, normalize=normalize, imported=imported))

    new = schema.replace(subject=subject, version=max(schema.version, 1))
    made.apply, made.undo = apply, Wanted(delete=Snapshot(schemas=(new,))).undo(registry, "registry-register")
    return made


async def _register(
    client: RegistryClient, row: RegisteredRow, subject: str, schema: Schema, *, normalize: bool, imported: bool
) -> None:
    done = await client.register(subject, schema, normalize=normalize, imported=imported)
    row.take(done if done.version >= 0 else await client.lookup(subject, schema, normalize=normalize))


async def reasons_against(
    client: RegistryClient, subject: str, schema: Schema, *, every: bool, normalize: bool = False
) -> list[str]:
    """Return why the registry finds a schema incompatible with the subject; empty if it is compatible, and for a new
    subject."""
    try:
        verdict = await client.compatible(subject, schema, every=every, normalize=normalize)
    except NotFound as problem:
        if problem.code in (40401, 40402):
            return []
        raise
    return [] if verdict.compatible else list(verdict.reasons) or ["the registry gives no reason"]


# -- settings ---------------------------------------------------------------------------------------------------------


def _changes(wanted: Wanted) -> Iterable[tuple[str, str, Settings | None]]:
    """Yield each section and subject, and its new values; None if the subject is to inherit."""
    for section, values in ((LEVELS, wanted.levels), (MODES, wanted.modes)):
        for subject, value in values.items():
            yield section, subject, None if value is None else {ITEMS[section]: value}
    for subject, values_of in wanted.settings.items():
        yield SETTINGS, subject, values_of


async def _read(client: RegistryClient, section: str, subject: str, *, inherited: bool = True) -> dict[str, object]:
    """Return the settings of a subject by name: those in force, or those that it has itself."""
    ask: Callable[..., Awaitable[Any]] = client.settings_of
    if section != SETTINGS:
        ask = client.level if section == LEVELS else client.mode
    found = await (ask(subject) if inherited else own(ask, subject))
    if not found:
        return {}
    return {name: json.loads(text) for name, text in found.items()} if section == SETTINGS else {ITEMS[section]: found}


def _shown(value: object) -> str | None:
    """Return a value for display: a string without quotes, anything else as JSON."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _row(
    section: str, subject: str, name: str, values: Settings, mine: Settings, change: Settings | None
) -> SettingRow:
    new = None if change is None else change.get(name)
    row = SettingRow(section=section, name=subject, about=subject, item=name, is_own=name in mine)
    row.old, row.new = _shown(values.get(name)), _shown(new)
    if row.old is None and section != SETTINGS:
        row.old = "inherited"
    row.settle(None, unchanged=_shown(mine.get(name)) == row.new)
    return row


def _before(section: str, mine: Settings, change: Settings | None) -> object:
    """Return what restores a subject's own settings: None if it has none."""
    if section != SETTINGS:
        return mine.get(ITEMS[section])
    return {name: mine.get(name) for name in (mine if change is None else change)} if mine else None


async def _set(
    client: RegistryClient,
    section: str,
    subject: str,
    change: Settings | None,
    rows: Sequence[SettingRow],
    force: bool,
) -> None:
    """Change the settings of a subject, and check the result: some registries ignore unknown settings."""
    if change is None:
        await _inherit(client, section, subject)
    elif section == LEVELS:
        await client.set_level(str(change[LEVEL]), subject)
    elif section == MODES:
        await client.set_mode(str(change[MODE]), subject, force=force)
    else:
        await client.set_settings({row.item: change[row.item] for row in rows}, subject)
        now = await _read(client, section, subject, inherited=False)
        for row in rows:
            if _shown(now.get(row.item)) != row.new:
                row.settle(KcliError(f"{subject or 'the registry'}: the registry ignored {row.item}"))


async def _inherit(client: RegistryClient, section: str, subject: str) -> None:
    """Make a subject inherit its level, its mode, or all settings."""
    if section == MODES:
        await client.delete_mode(subject)
    elif section == LEVELS:
        await inherit_level(client, subject)
    else:
        await client.delete_level(subject)


# -- contexts ---------------------------------------------------------------------------------------------------------


class ContextRow(Row):
    """A context with the number of its subjects."""

    subjects: int = 0
    words: tuple[str, str, str] = DELETE

    def as_json(self) -> dict[str, object]:
        return {"context": self.name, "subjects": self.subjects, "result": self.result or None}


def context_named(name: str) -> str:
    """Return a context's name as in Confluent's registry: Apicurio's form is `:.staging:`."""
    return f".{name.strip(':.')}"


async def plan_contexts(registry: OpenRegistry, names: Sequence[str], *, deleting: bool) -> Plan:
    """Return the plan with the contexts of these names, or all; `deleting`: the plan that deletes them if they have no
    subjects."""
    client = registry.client
    known = sorted({context_named(name) for name in await client.contexts()})
    made = Plan()
    for name in names or known:
        if name not in known:
            nearest = did_you_mean(name, known)
            made.failed[name] = KcliError(f"{name}: the registry has no such context{nearest}")
            continue
        row = ContextRow(name=name, about=name, subjects=len(await client.subjects(listed_by(name))), result="")
        made.rows.append(row)
        if deleting and row.subjects:
            has = f"{row.subjects} subject{'s' * (row.subjects != 1)}"
            row.result, row.error = "not empty", KcliError(f"{name}: the context has {has}: delete them first")
        elif deleting:
            row.result = DELETE[0]
    if made.idle or made.failed or any(row.error for row in made.rows):
        return made
    spaces = [f":{row.name}:" for row in made.rows]
    levels = {at: level for at in spaces if (level := await own(client.level, at)) is not None}
    modes = {at: mode for at in spaces if (mode := await own(client.mode, at)) is not None}

    async def apply(registry: OpenRegistry) -> None:
        for row in made.rows:
            await _settle([row], registry.client.delete_context(row.name))

    made.apply, made.undo = apply, Wanted(levels=levels, modes=modes).undo(registry, "registry-contexts")
    return made
