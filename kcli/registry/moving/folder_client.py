"""A folder of schemas with the interface of a registry client: reading works, writing is refused."""

from __future__ import annotations

import json

from kcli.errors import UsageError
from kcli.registry.client import RegistryClient
from kcli.registry.errors import NO_OWN, NotFound, RegistryError, Unsupported
from kcli.registry.folder import COMPATIBILITY, FolderSchemas
from kcli.registry.subjects import ALL_CONTEXTS, among, split
from kcli.schemas import SchemaNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from kcli.registry.settings import RegistrySettings
    from kcli.schemas import Schema

    R = TypeVar("R")

NO_SUBJECT, NO_VERSION, NO_SCHEMA = 40401, 40402, 40403


class FolderClient(RegistryClient):
    """The requests that `FolderSchemas` can answer."""

    def __init__(self, settings: RegistrySettings, schemas: FolderSchemas) -> None:
        super().__init__(settings)
        self._schemas = schemas

    async def subjects(self, prefix: str = "", *, deleted: bool = False, deleted_only: bool = False) -> list[str]:
        live = self._schemas.subjects()
        known = self._schemas.subjects(deleted=True) if deleted or deleted_only else live
        return among(prefix, [subject for subject in known if not (deleted_only and subject in live)])

    async def versions(self, subject: str, *, deleted: bool = False) -> list[int]:
        numbers = self._schemas.versions(subject, deleted=deleted)
        if not numbers:
            raise NotFound(f"{subject}: {self.settings.name} has no such subject", 404, NO_SUBJECT)
        return numbers

    async def version(
        self, subject: str, version: int | None = None, *, deleted: bool = False, format: str = ""
    ) -> Schema:
        numbers = await self.versions(subject, deleted=deleted)
        if version is not None and version not in numbers:
            raise NotFound(
                f"{subject} version {version}: the subject has no such version ({NO_VERSION})", 404, NO_VERSION
            )
        return await self._schemas.version(subject, numbers[-1] if version is None else version)

    async def schemas(self, prefix: str = "", *, latest_only: bool = False, deleted: bool = False) -> list[Schema]:
        schemas = []
        for subject in await self.subjects(prefix):
            numbers = self._schemas.versions(subject)
            schemas += [await self.version(subject, number) for number in (numbers[-1:] if latest_only else numbers)]
        return schemas

    async def by_id(self, id: int, *, subject: str = "", format: str = "") -> Schema:
        try:
            return await self._schemas.by_id(id, subject=subject)
        except SchemaNotFound as problem:
            raise NotFound(str(problem), 404, NO_SCHEMA) from None

    async def by_guid(self, guid: str, *, format: str = "") -> Schema:
        try:
            return await self._schemas.by_guid(guid)
        except SchemaNotFound as problem:
            raise NotFound(str(problem), 404, NO_SCHEMA) from None

    async def lookup(self, subject: str, schema: Schema, *, normalize: bool = False, deleted: bool = False) -> Schema:
        await self.versions(subject)
        try:
            return await self._schemas.find(subject, schema)
        except SchemaNotFound as problem:
            raise NotFound(f"{problem} ({NO_SCHEMA})", 404, NO_SCHEMA) from None

    async def referenced_by(self, subject: str, version: int) -> list[int]:
        return sorted(
            {
                schema.id
                for schema in await self.schemas(ALL_CONTEXTS)
                if any((reference.subject, reference.version) == (subject, version) for reference in schema.references)
            }
        )

    async def level(self, subject: str = "", *, inherited: bool = True) -> str:
        own = self._schemas.level(subject) if subject else ""
        if own or inherited:
            return own or "NONE"
        raise RegistryError(f"{subject}: no file {COMPATIBILITY}", 404, NO_OWN[1])

    async def mode(self, subject: str = "", *, inherited: bool = True) -> str:
        if mode := self._schemas.settings(subject).get("mode") if subject and not inherited else None:
            return str(mode)
        raise Unsupported("a folder has no modes", 404)

    async def settings_of(self, subject: str = "", *, inherited: bool = True) -> dict[str, str]:
        if not subject or inherited:
            raise Unsupported("a folder has no settings", 404)
        level = self._schemas.level(subject)
        found = {**({"compatibility": level} if level else {}), **self._schemas.settings(subject)}
        return {name: json.dumps(value) for name, value in found.items() if name != "mode"}

    async def contexts(self) -> list[str]:
        return sorted({split(name)[0] or "." for name in self._schemas.subjects()})

    def _check(self, about: str, method: str, path: str) -> None:
        """Reject every other request."""
        raise UsageError(f"{about}: {self.settings.name} is a folder, which kcli can only read").hinted(
            "copy-to-folder", folder=self.settings.name
        )
