"""Looks up schemas: on the driver those that a read begins with, in a task new ids."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kcli.errors import KcliError, UsageError
from kcli.pipeline.schemas.framing import check_rules_for_reading
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.pipeline.schemas.wanted import FILE, Wanted
from kcli.registry.folder import FolderSchemas
from kcli.registry.lookup import RegistrySchemas, open_schemas
from kcli.registry.settings import RegistrySettings
from kcli.registry.subjects import NAMED, RECORD
from kcli.schemas import Schema, SchemaNotFound, SchemaRefused
from kcli.serde.schema_name import schema_name
from kcli.serde.schemas.decoder import schema_named
from kcli.serde.schemas.frames import AZURE, GLUE, GUID, ID, ZLIB
from kcli.system import files

T = TypeVar("T")
Opened = RegistrySchemas | FolderSchemas

KEPT = 1000
"""Schemas of a folder that are sent with the plan."""
NEWEST = 20
"""Versions of the subject that a read begins with; a task looks up older ones."""


def looked_up(wanted: Wanted, settings: RegistrySettings | None) -> SealedSchemas:
    """Return the schema to read with, and the newest versions of its subject, or the single schema of all payloads.

    Raises UsageError if no registry is set, the schema is of another kind, or one has a rule for reading that is not
    run here; SchemaNotFound, and the errors of the registry's client.
    """
    if settings is None and wanted.bare.startswith(FILE) and (not wanted.reader or wanted.of_file):
        settings = RegistrySettings()  # which is not asked
    registry = named_registry(wanted, settings)
    sealed, subject = asking(registry, lambda schemas: _looked_up(wanted, registry, schemas))
    check_rules_for_reading(sealed, subject)
    return sealed


def named_registry(wanted: Wanted, settings: RegistrySettings | None) -> RegistrySettings:
    """Raises UsageError if none is set."""
    if settings is None:
        raise UsageError(
            f"option {wanted.field}Format {wanted.form} requires schemaRegistry, the URL of the registry that has the "
            "schemas (or a profile with schema.registry.url)"
        )
    return settings


def named(settings: RegistrySettings, name: bytes) -> Known:
    """Return the schema for a frame's name. Raises SchemaNotFound, and the errors of the registry's client."""

    async def ask(schemas: Opened) -> Known:
        return await _known(schemas, await schema_named(schemas, name))

    return asking(settings, ask)


def asking(
    settings: RegistrySettings, ask: Callable[[Opened], Awaitable[T]], *, guard: str = "", profile: str = ""
) -> T:
    """Return the result of `ask` with an open registry, which is then closed. `guard` is the restriction of the
    profile."""

    async def run() -> T:
        schemas = open_schemas(settings, guard=guard, profile=profile)
        try:
            return await ask(schemas)
        finally:
            await schemas.close()

    return asyncio.run(run())


async def _looked_up(wanted: Wanted, settings: RegistrySettings, schemas: Opened) -> tuple[SealedSchemas, str]:
    """Return the schemas, and their subject."""
    bare = await said(wanted, schemas) if wanted.bare else None
    reader = bare if bare is not None and not wanted.reader else await chosen(wanted, schemas)
    wanted = wanted.replace(subject=await subject_of(wanted, schemas, reader))
    written = dict.fromkeys(_names(reader.schema), reader)
    for known in await _versions(wanted, schemas) if settings.name else ():
        written |= dict.fromkeys(_names(known.schema), known)
    sealed = SealedSchemas(
        field=wanted.field,
        form=wanted.form,
        message=wanted.message,
        reader=reader,
        written=tuple(written.items()) if settings.name else (),
        bare=bare,
        payload=wanted.payload,
        settings=settings,
        rules=wanted.rules,
        defaults=wanted.defaults,
    )
    return sealed, wanted.subject


async def chosen(wanted: Wanted, schemas: Opened) -> Known:
    """Return the named schema; one from a file is not registered. Raises UsageError, SchemaNotFound, and the errors of
    the registry's client."""
    if wanted.of_file:
        return Known(schema=Schema(kind=wanted.kind, text=_text(wanted.reader, wanted.option)))
    if wanted.reader == "latest":
        found = await schemas.latest(await subject_of(wanted, schemas))
    else:
        found = await schemas.by_id(int(wanted.reader.removeprefix("id:")))
    return await _of_kind(wanted, found, schemas)


async def said(wanted: Wanted, schemas: Opened) -> Known:
    """Return the schema of all payloads, found like with `kcli consume --value-schema`. Raises like `chosen`."""
    text = wanted.bare
    if text.startswith(FILE):
        return Known(schema=Schema(kind=wanted.kind, text=_text(text, f"{wanted.field}Schema"), subject=text))
    if text.startswith("id:"):
        return await _of_kind(wanted, await schemas.by_id(int(text.removeprefix("id:"))), schemas)
    name, at, version = text.rpartition("@")
    subject = name if at else text
    if subject == "topic":
        subject = await subject_of(wanted, schemas)
        if not subject:
            raise UsageError(f"option {wanted.field}Schema {text}: with several topics, give the subject")
    known = schemas.latest(subject) if version == "latest" or not at else schemas.version(subject, int(version))
    return await _of_kind(wanted, await known, schemas)


async def _of_kind(wanted: Wanted, found: Schema, schemas: Opened) -> Known:
    """Raise UsageError for a schema of another format."""
    if found.kind != wanted.kind:
        raise UsageError(f"{found.name} is {found.kind}, but option {wanted.field}Format is {wanted.form}")
    return await _known(schemas, found)


async def subject_of(wanted: Wanted, schemas: Opened, known: Known | None = None) -> str:
    """Return the subject that the options name, or that their strategy gives for the name of the schema `known`. "" for
    a read of several topics, or with a schema without a name. Raises UsageError if a write has none, SchemaRefused, and
    the errors of the registry's client."""
    if wanted.subject or (wanted.strategy != RECORD and not wanted.topic):
        return wanted.subject
    name = ""
    if wanted.strategy in NAMED:
        name = wanted.message if known is None else schema_name(known.schema, list(known.referred), wanted.message)
        if not name and not wanted.written:
            return ""
    return await schemas.subject(wanted.strategy, wanted.topic, wanted.field, name)


def _text(place: str, option: str) -> str:
    """Return the text of `file:PATH`. Raises UsageError."""
    try:
        return files.read_text(place.removeprefix(FILE), files.TEXT)
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"option {option} {place}: {getattr(problem, 'strerror', None) or problem}") from None


async def _versions(wanted: Wanted, schemas: Opened) -> list[Known]:
    """Return the newest versions of the subject; for a folder the schemas of its newest ids, because executors may not
    have it."""
    if isinstance(schemas, FolderSchemas):
        return await _of_folder(wanted, schemas)
    if not wanted.subject:
        return []
    try:
        numbers = await schemas.client.versions(wanted.subject)
        found = [await schemas.version(wanted.subject, number) for number in sorted(numbers)[-NEWEST:]]
        return [await _known(schemas, one) for one in found if one.kind == wanted.kind]
    except KcliError as problem:
        if isinstance(problem, SchemaNotFound) and wanted.reader != "latest":
            return []  # the subject was a guess
        raise


async def _of_folder(wanted: Wanted, schemas: FolderSchemas) -> list[Known]:
    """Return the schemas of a folder's newest ids. If one cannot be used, that is the reason of a bad record that names
    it."""
    found = []
    for number in schemas.ids()[-KEPT:]:
        try:
            schema = await schemas.by_id(number)
            if schema.kind == wanted.kind:
                found.append(await _known(schemas, schema))
        except (SchemaNotFound, SchemaRefused):
            continue
    return found


async def _known(schemas: Opened, schema: Schema) -> Known:
    needed = await schemas.references(schema) if schema.references else []
    return Known(schema=schema, referred=tuple((name, one.text) for name, one in needed))


def _names(schema: Schema) -> list[bytes]:
    """Return how frames and headers may name a schema: by id, or by GUID, as Confluent, AWS Glue and Azure do."""
    names = [bytes([ID]) + schema.id.to_bytes(4, "big")] if 0 <= schema.id < 2**32 else []
    digits = schema.guid.replace("-", "")
    try:
        guid = bytes.fromhex(digits) if len(digits) == 32 else b""
    except ValueError:
        guid = b""
    fronts = (bytes([GUID]), bytes([GLUE, 0]), bytes([GLUE, ZLIB]), bytes([AZURE])) if guid else ()
    return [*names, *(front + guid for front in fronts)]
