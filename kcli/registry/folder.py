"""A folder of schemas instead of a registry: `schema.registry.url=file:./schemas`. No network, and nothing is written.

    ids/7.avsc                          the schema of id 7; .avsc is Avro, .proto Protobuf, .json JSON Schema
    subjects/orders-value/3.avsc        version 3 of a subject; the highest number is the latest
    subjects/orders-value/3.meta.json   other fields of a registry: id, guid, references, metadata, ruleSet; and
                                        the CloudEvents URIs of the schema, in `dataschema`
    subjects/orders-value/compatibility the level of the subject, such as FULL
    subjects/orders-value/settings.json its other settings, such as {"normalize": true, "mode": "READONLY"}
    deleted/orders-value/2.avsc         a soft-deleted version, which only records and references still use
    contexts/.staging/ids/7.avsc        ids of a context

A folder in `subjects` is named by its subject, percent-encoded as in a URL. `save` writes such files.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from urllib.parse import unquote

from kcli.errors import UsageError
from kcli.registry.answers import LARGEST_SCHEMA, document, schema_of
from kcli.registry.listing.contents import Contents
from kcli.registry.references import resolve
from kcli.registry.subjects import DEFAULT_GROUP, quoted, split, subject_of, within
from kcli.schemas import AVRO, JSON, PROTOBUF, SchemaNotFound, SchemaRefused
from kcli.system import files
from kcli.text.json_object import read_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.schemas import Schema

ENDS = {".avsc": AVRO, ".proto": PROTOBUF, ".json": JSON}
META = ".meta.json"
COMPATIBILITY = "compatibility"
"""The file of a subject's level."""
SETTINGS = "settings.json"
LIVE, DELETED = "subjects", "deleted"
"""The folders of versions."""


class FolderSchemas:
    """`Schemas` from a folder. Raises UsageError if the folder does not exist."""

    def __init__(self, folder: str) -> None:
        if not os.path.isdir(folder):
            raise UsageError(f"schema.registry.url=file:{folder}: folder not found")
        self._folder = folder
        self._guids: dict[str, Schema] | None = None
        self._contents = Contents(self, folder)

    async def close(self) -> None:
        """Do nothing: nothing is open."""

    def subjects(self, *, deleted: bool = False) -> list[str]:
        """Return all subjects, sorted; with `deleted` including those with soft-deleted versions only."""
        names: set[str] = set()
        for place in (LIVE, DELETED) if deleted else (LIVE,):
            with suppress(OSError):
                names.update(os.listdir(os.path.join(self._folder, place)))
        return sorted(subject for name in names if self.versions(subject := unquote(name), deleted=deleted))

    def versions(self, subject: str, *, deleted: bool = False) -> list[int]:
        places = (LIVE, DELETED) if deleted else (LIVE,)
        return sorted({number for place in places for number in _numbers(self._subject(subject, place))})

    def ids(self) -> list[int]:
        """Return the ids that have a file outside contexts, sorted."""
        return _numbers(self._ids(""))

    def level(self, subject: str) -> str:
        """Return the level of a subject, "" without one."""
        return (_text(os.path.join(self._subject(subject), COMPATIBILITY)) or "").strip().upper()

    def settings(self, subject: str) -> dict[str, object]:
        """Return the other settings of a subject, including its mode. Raises SchemaRefused."""
        path = os.path.join(self._subject(subject), SETTINGS)
        try:
            return dict(read_object(_text(path) or "{}").fields)
        except (ValueError, RecursionError) as problem:
            raise SchemaRefused(f"{path}: {problem}") from None

    async def by_id(self, id: int, *, context: str = "", subject: str | None = None) -> Schema:
        context = context or split(subject or "")[0]
        schema = self._read(self._ids(context), str(id))
        if schema is None:
            path = os.path.join(self._ids(context), str(id))
            raise SchemaNotFound(f"schema {id}: there is no file {path} with {', '.join(ENDS)}")
        return schema.replace(id=id, context=context)

    async def by_guid(self, guid: str) -> Schema:
        if self._guids is None:
            self._guids = {schema.guid.lower(): schema for schema in self.all() if schema.guid}
        schema = self._guids.get(guid.lower())
        if schema is None:
            raise SchemaNotFound(f"schema {guid}: no {META} file in {self._folder} has this guid")
        return schema

    async def by_global_id(self, id: int) -> Schema:
        """Return the file of the id: Apicurio's ids may be of either kind."""
        return await self.by_id(id)

    async def by_content_hash(self, digest: str) -> Schema:
        from hashlib import sha256

        schema = next((kept for kept in self.all() if sha256(kept.text.encode()).hexdigest() == digest), None)
        if schema is None:
            raise SchemaNotFound(f"schema with the content hash {digest}: no file in {self._folder} has it")
        return schema

    async def by_coordinates(self, group: str, artifact: str, version: str) -> Schema:
        if group not in ("", DEFAULT_GROUP):
            raise SchemaNotFound(f"{artifact} of the group {group}: a folder has the default group only")
        if not version:
            return await self.latest(artifact)
        if not (version.isascii() and version.isdigit() and len(version) < 10):
            raise SchemaNotFound(f"{artifact} version {version}: {self._folder} has no such version")
        return await self.version(artifact, int(version))

    async def by_fingerprint(self, fingerprint: str) -> Schema:
        return await self._contents.by_fingerprint(fingerprint)

    async def by_message(self, message: str, commit: str) -> Schema:
        return await self._contents.by_message(message, commit)

    async def by_dataschema(self, uri: str) -> Schema:
        return await self._contents.by_dataschema(uri)

    async def latest(self, subject: str) -> Schema:
        versions = _numbers(self._subject(subject))
        if not versions:
            raise SchemaNotFound(f"{subject}: {self._folder} has no such subject")
        return await self.version(subject, versions[-1])

    async def version(self, subject: str, version: int) -> Schema:
        stem = str(version)
        schema = self._read(self._subject(subject), stem) or self._read(self._subject(subject, DELETED), stem)
        if schema is None:
            raise SchemaNotFound(f"{subject} version {version}: {self._folder} has no such version")
        return self._placed(schema, subject, version)

    async def find(self, subject: str, schema: Schema) -> Schema:
        for version in reversed(_numbers(self._subject(subject))):
            known = await self.version(subject, version)
            if (known.kind, known.text.strip()) == (schema.kind, schema.text.strip()):
                return known
        raise SchemaNotFound(f"{subject}: no version in {self._folder} has this schema")

    async def references(self, schema: Schema) -> list[tuple[str, Schema]]:
        async def ask(subject: str, version: int) -> Schema:
            return await (self.version(subject, version) if version > 0 else self.latest(subject))

        return await resolve(schema, ask)

    async def subject(self, strategy: str, topic: str, part: str, record: str = "") -> str:
        """Like a registry without associations."""
        return subject_of(strategy, topic, part, record)

    async def use_of(self, schema: Schema, subject: str) -> tuple[str, int]:
        if schema.id < 0 or (schema.subject and schema.version >= 0):
            return schema.subject, schema.version
        for name in (*([subject] if subject else []), *self.subjects()):
            for version in reversed(self.versions(name)):
                if (await self.version(name, version)).id == schema.id:
                    return name, version
        return "", -1

    async def check(self, subject: str, schema: Schema) -> None:
        await self.register(subject, schema)

    async def register(self, subject: str, schema: Schema, normalize: bool = False) -> int:
        """Return the schema's id here: nothing is registered in a folder."""
        with suppress(SchemaNotFound):
            known = await self.find(subject, schema)
            if known.id >= 0:
                return known.id
        raise UsageError(
            f"{subject}: the schema is not in {self._folder}, and kcli cannot register schemas in a folder; set "
            "schema.registry.url to a registry"
        )

    def _placed(self, schema: Schema, subject: str, version: int) -> Schema:
        """Return a version with its id, which may be that of the file in `ids` with the same text."""
        context = split(subject)[0]
        number = schema.id
        for other in _numbers(self._ids(context)) if number < 0 else ():
            same = self._read(self._ids(context), str(other))
            if same is not None and (same.kind, same.text) == (schema.kind, schema.text):
                number = other
                break
        return schema.replace(subject=subject, version=version, context=context, id=number)

    def _ids(self, context: str) -> str:
        return os.path.join(self._folder, *(("contexts", quoted(context)) if context else ()), "ids")

    def _subject(self, subject: str, place: str = LIVE) -> str:
        return os.path.join(self._folder, place, quoted(subject))

    def all(self) -> list[Schema]:
        """Return every schema that has its own file."""
        schemas = []
        for place, _, names in os.walk(self._folder):
            for name in sorted(names):
                stem, end = os.path.splitext(name)
                schema = self._read(place, stem) if end in ENDS and not name.endswith((META, SETTINGS)) else None
                if schema is not None:
                    schemas.append(schema)
        return schemas

    def _read(self, folder: str, stem: str) -> Schema | None:
        """Return a schema with the settings in the file beside it, None without a file. Raises SchemaRefused."""
        for end, kind in ENDS.items():
            path = os.path.join(folder, f"{stem}{end}")
            text = _text(path)
            if text is None:
                continue
            metadata = _text(os.path.join(folder, f"{stem}{META}"))
            try:
                fields = dict(read_object(metadata).fields) if metadata is not None else {}
                return schema_of({**fields, "schema": text, "schemaType": kind})
            except (ValueError, RecursionError) as problem:
                raise SchemaRefused(f"{path}: its metadata file {stem}{META}: {problem}") from None
        return None


def files_of(folder: str, schema: Schema, *, deleted: bool = False) -> list[tuple[str, str]]:
    """Return the paths and texts of the files of a schema, which may be soft-deleted; fewer without an id or a
    subject."""
    end = next(end for end, kind in ENDS.items() if kind == schema.kind)
    fields = {name: value for name, value in document(schema).items() if name not in ("schema", "schemaType")}
    for name, number in (("id", schema.id), ("version", schema.version)):
        if number >= 0:
            fields[name] = number
    fields |= {name: value for name, value in (("guid", schema.guid), ("subject", schema.subject)) if value}
    context = ("contexts", quoted(schema.context)) if schema.context else ()
    places = [] if schema.id < 0 else [os.path.join(folder, *context, "ids", str(schema.id))]
    if schema.subject and schema.version >= 0:
        subject = quoted(within(schema.context, schema.subject))
        places.append(os.path.join(folder, DELETED if deleted else LIVE, subject, str(schema.version)))
    about = json.dumps(fields, indent=2) + "\n"
    return [file for place in places for file in ((f"{place}{end}", schema.text), (f"{place}{META}", about))]


def outdated_by(folder: str, schema: Schema, *, deleted: bool) -> list[str]:
    """Return the paths that the files of a version had while it was soft-deleted, or before it was."""
    if not schema.subject or schema.version < 0:
        return []
    end = next(end for end, kind in ENDS.items() if kind == schema.kind)
    subject = quoted(within(schema.context, schema.subject))
    place = os.path.join(folder, LIVE if deleted else DELETED, subject, str(schema.version))
    return [f"{place}{end}", f"{place}{META}"]


def _numbers(folder: str) -> list[int]:
    """Return the numbers in names of schema files, sorted."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    stems = (os.path.splitext(name) for name in names if not name.endswith(META))
    return sorted({int(stem) for stem, end in stems if end in ENDS and stem.isascii() and stem.isdigit()})


def _text(path: str) -> str | None:
    """Return a file's text, None if it does not exist. Raises SchemaRefused."""
    try:
        return files.read(path, LARGEST_SCHEMA).decode()
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise SchemaRefused(f"{path}: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise SchemaRefused(f"{path}: is not UTF-8 text") from None


def setting_file(folder: str, subject: str, name: str, text: str) -> tuple[str, str]:
    """Return the path and the text of a file about a subject: its level or its settings."""
    return os.path.join(folder, LIVE, quoted(subject), name), f"{text}\n"
