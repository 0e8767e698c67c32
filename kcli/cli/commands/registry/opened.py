"""The registry of a command line, and how its schemas are named: `SUBJECT[@VERSION]`, an id, a GUID, or a file."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kcli.cli.documents.input_file import read_text
from kcli.cli.parsing.option import Options
from kcli.errors import UsageError
from kcli.registry.listing.opened import OpenRegistry
from kcli.schemas import AVRO, JSON, KINDS, PROTOBUF, Schema
from kcli.system.files import TEXT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from typing import Annotated

    import typer

    from kcli.changes import change as changes
    from kcli.cli.runtime.answer import Opened
    from kcli.cli.runtime.connection import Connection
    from kcli.registry.settings import RegistrySettings
    from kcli.settings import ClientSettings

FILE = "file:"
GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
ENDS = {".proto": PROTOBUF, ".json": JSON}
NONE = "no registry is set; add --schema-registry URL, or schema.registry.url to the profile"


class RegistryOptions(Options):
    """Which registry."""

    schema_registry: Annotated[
        str | None,
        typer.Option(
            "--schema-registry", metavar="URL", help="The registry (default: schema.registry.url of the profile)."
        ),
    ] = None


class Registry(OpenRegistry):
    """The registry of a command line, with the settings of its cluster."""

    def __init__(self, named: RegistrySettings, settings: ClientSettings) -> None:
        super().__init__(named, guard=settings.guard, profile=settings.profile)
        self.cluster = settings

    async def named(self, word: str, *, deleted: bool = False, format: str = "") -> Schema:
        """The schema that a word names. Raises KcliError."""
        if word.startswith(FILE):
            return schema_of(word.removeprefix(FILE))
        if GUID.fullmatch(word):
            return await self.client.by_guid(word, format=format)
        number = word.removeprefix("id:")
        if number.isascii() and number.isdigit():
            return await self.client.by_id(int(number), format=format)
        subject, version = subject_of(word)
        return await self.client.version(subject, version, deleted=deleted, format=format)


def opened(options: RegistryOptions) -> Opened[Registry]:
    """How the registry of the options is opened."""

    @asynccontextmanager
    async def open_registry(connection: Connection, settings: ClientSettings) -> AsyncIterator[Registry]:
        named = connection.registry(options.schema_registry)
        if named is None:
            raise UsageError(NONE)
        registry = Registry(named, settings)
        try:
            yield registry
        finally:
            await registry.close()

    return open_registry


def subject_of(word: str) -> tuple[str, int | None]:
    """The subject and version of `SUBJECT[@VERSION]`; None is the latest one. Raises UsageError."""
    subject, at, version = word.rpartition("@")
    if not at:
        return word, None
    if version == "latest" and subject:
        return subject, None
    if not (version.isascii() and version.isdigit()) or not subject:
        return word, None  # an @ of the name
    return subject, int(version)


def subjects_in(rows: Sequence[changes.Row]) -> list[str]:
    """The subjects that a plan changes, to be typed to confirm it."""
    return list(dict.fromkeys(row.name or "global" for row in rows if row.is_open))


def kind_named(name: str | None) -> str:
    """The type of schemas that --type names, "" for none. Raises UsageError."""
    if name is not None and name.upper() not in KINDS:
        raise UsageError(f"--type {name}: expected {', '.join(KINDS)}")
    return (name or "").upper()


def schema_of(path: str, kind: str = "") -> Schema:
    """The schema in a file, `-` is stdin; its type is `kind`, or that of the file's end. Raises UsageError."""
    found = read_text(path, TEXT)
    if not found.strip():
        raise UsageError(f"{path}: it is empty")
    by_end = next((kind for end, kind in ENDS.items() if path.endswith(end)), AVRO)
    return Schema(kind=kind or by_end, text=found.strip())
