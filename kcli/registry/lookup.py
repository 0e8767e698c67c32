"""Looks up schemas by id, GUID or subject, in a registry with caches or in a folder: implements `kcli/schemas.py`."""

from __future__ import annotations

from kcli.errors import KcliError
from kcli.registry.cache import FOR_EVER, Cache
from kcli.registry.disk import Disk, place_of
from kcli.registry.references import resolve
from kcli.registry.subjects import ASSOCIATED, prefix, split, subject_of
from kcli.schemas import SchemaNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.registry.apis.apicurio import ApicurioSchemas
    from kcli.registry.client import RegistryClient
    from kcli.registry.folder import FolderSchemas
    from kcli.registry.settings import RegistrySettings
    from kcli.schemas import Schema

LATEST = 60.0  # seconds for which the latest version of a subject is cached


def open_schemas(settings: RegistrySettings, *, guard: str = "", profile: str = "") -> RegistrySchemas | FolderSchemas:
    """Open the schemas of a registry, or of a folder. `guard` is the restriction of the profile of that name."""
    if settings.folder:
        from kcli.registry.folder import FolderSchemas

        return FolderSchemas(settings.folder)
    disk = Disk(place_of(settings)) if settings.disk and lasting(settings) else None
    return RegistrySchemas(settings, disk, guard=guard, profile=profile)


def client_of(settings: RegistrySettings, *, guard: str = "", profile: str = "") -> RegistryClient:
    """Return the client for the kind of registry. Raises UsageError if an extra is missing."""
    if settings.kind == "glue":
        from kcli.registry.apis.glue import GlueClient

        return GlueClient(settings, guard=guard, profile=profile)
    if settings.kind == "azure":
        from kcli.registry.apis.azure import AzureClient

        return AzureClient(settings, guard=guard, profile=profile)
    from kcli.registry.client import RegistryClient

    return RegistryClient(settings, guard=guard, profile=profile)


def lasting(settings: RegistrySettings) -> bool:
    """Whether the ids of a registry are stable for more than a day: a registry on this machine, or with a name without
    a dot, as in a container network, may start again from 1 at any time, and is cheap to ask."""
    return not any(origin.loopback or "." not in origin.host.rstrip(".") for origin in settings.origins)


class RegistrySchemas:
    """`Schemas` from a registry. Schemas in the disk cache need no client, which is expensive to import."""

    def __init__(
        self, settings: RegistrySettings, disk: Disk | None = None, *, guard: str = "", profile: str = ""
    ) -> None:
        self._settings = settings
        self._guard = guard
        self._profile = profile
        self._client: RegistryClient | None = None
        self._own: ApicurioSchemas | None = None
        self._disk = disk
        self._cache = Cache()

    @property
    def client(self) -> RegistryClient:
        """The client, for other requests."""
        if self._client is None:
            self._client = client_of(self._settings, guard=self._guard, profile=self._profile)
        return self._client

    async def close(self) -> None:
        await self._cache.close()
        if self._client is not None:
            await self._client.close()
        if self._own is not None:
            await self._own.close()

    async def by_id(self, id: int, *, context: str = "", subject: str | None = None) -> Schema:
        context = context or split(subject or "")[0]

        async def ask() -> Schema:
            schema = await self.client.by_id(id, subject=subject or prefix(context))
            return schema.replace(context=context) if context else schema

        return await self._immutable(f"id {id} of {context or 'the default context'}", ask)

    async def by_guid(self, guid: str) -> Schema:
        guid = guid.lower()
        return await self._immutable(f"guid {guid}", lambda: self.client.by_guid(guid))

    async def by_global_id(self, id: int) -> Schema:
        apicurio = self._apicurio(f"schema with the global id {id}")
        return await self._immutable(f"global id {id}", lambda: apicurio.by_global_id(id))

    async def by_content_hash(self, digest: str) -> Schema:
        apicurio = self._apicurio(f"schema with the content hash {digest}")
        return await self._immutable(f"content hash {digest}", lambda: apicurio.by_content_hash(digest))

    async def by_coordinates(self, group: str, artifact: str, version: str) -> Schema:
        apicurio = self._apicurio(f"artifact {artifact}")
        key = ("coordinates", group, artifact, version)
        keep = FOR_EVER if version else LATEST
        return await self._cache.get(key, lambda: apicurio.by_coordinates(group, artifact, version), keep)

    def _apicurio(self, about: str) -> ApicurioSchemas:
        """Return the client for Apicurio's own API. Raises SchemaNotFound for another registry."""
        from kcli.registry.apis.apicurio import ApicurioSchemas, is_apicurio

        if not is_apicurio(self._settings):
            raise SchemaNotFound(f"{about}: only Apicurio's registry has such names")
        if self._own is None:
            self._own = ApicurioSchemas(self._settings)
        return self._own

    async def by_fingerprint(self, fingerprint: str) -> Schema:
        raise SchemaNotFound(f"schema with the fingerprint {fingerprint}: fingerprints are those of a folder's schemas")

    async def by_message(self, message: str, commit: str) -> Schema:
        raise SchemaNotFound(
            f"message {message} of commit {commit or '?'}: Buf's registry is not asked; a folder with its .proto file "
            "decodes it"
        )

    async def by_dataschema(self, uri: str) -> Schema:
        raise SchemaNotFound(f"dataschema {uri}: URIs are not fetched; a folder maps them to its schemas")

    async def latest(self, subject: str) -> Schema:
        return await self._cache.get(("latest", subject), lambda: self.client.version(subject), LATEST)

    async def version(self, subject: str, version: int) -> Schema:
        return await self._cache.get(("version", subject, version), lambda: self.client.version(subject, version))

    async def find(self, subject: str, schema: Schema) -> Schema:
        key = ("found", subject, schema.kind, schema.text)
        return await self._cache.get(key, lambda: self.client.lookup(subject, schema))

    async def references(self, schema: Schema) -> list[tuple[str, Schema]]:
        if not schema.references:
            return []
        ask = self._referenced
        if schema.guid or schema.id < 0:
            key = f"references of guid {schema.guid.lower()}" if schema.guid else ""
        else:
            key = f"references of id {schema.id} of {schema.context or 'the default context'}"
        if not key:
            return await resolve(schema, ask)
        kept = await self._cache.get(key, lambda: self._from_disk(key, lambda: resolve(schema, ask)))
        return list(kept)

    async def _referenced(self, subject: str, version: int) -> Schema:
        """Return a version that another schema references; it may be soft-deleted."""
        if version < 1:
            return await self.latest(subject)
        key = ("referenced", subject, version)
        return await self._cache.get(key, lambda: self.client.version(subject, version, deleted=True))

    async def subject(self, strategy: str, topic: str, part: str, record: str = "") -> str:
        """Return the subject of a topic's keys or values by a strategy (subjects.py). If the registry has no
        association for the topic, or does not support them, `associated` works like `topic`."""
        if strategy == ASSOCIATED:
            key = ("associated", topic, part)
            name = await self._cache.get(key, lambda: self.client.associated(topic, part), LATEST)
            if name is not None:
                return name
        return subject_of(strategy, topic, part, record)

    async def use_of(self, schema: Schema, subject: str) -> tuple[str, int]:
        if schema.id < 0 or (schema.subject and schema.version >= 0):
            return schema.subject, schema.version
        within = prefix(schema.context)
        try:
            uses = await self._cache.get(
                ("uses", schema.context, schema.id), lambda: self.client.uses_of(schema.id, subject=within), LATEST
            )
        except KcliError:
            return schema.subject, schema.version
        return max(uses, key=lambda use: (use[0] == subject, use[1]), default=("", -1))

    async def check(self, subject: str, schema: Schema) -> None:
        from kcli.registry.errors import Incompatible, NotFound, Unsupported

        try:
            await self.client.lookup(subject, schema)
            return  # it has the schema
        except NotFound:
            pass
        try:
            verdict = await self.client.compatible(subject, schema)
        except (NotFound, Unsupported):
            return
        if not verdict.compatible:
            raise Incompatible(subject, tuple(verdict.reasons), 0, 0)

    async def register(self, subject: str, schema: Schema, normalize: bool = False) -> int:
        registered = await self.client.register(subject, schema, normalize=normalize)
        self._cache.forget(("latest", subject))
        return registered.id

    async def _immutable(self, key: str, ask: Callable[[], Awaitable[Schema]]) -> Schema:
        async def single() -> list[tuple[str, Schema]]:
            return [("", await ask())]

        kept = await self._cache.get(key, lambda: self._from_disk(key, single))
        return kept[0][1]

    async def _from_disk(
        self, key: str, ask: Callable[[], Awaitable[list[tuple[str, Schema]]]]
    ) -> list[tuple[str, Schema]]:
        """Return what the disk cache has under a key, else request and cache it."""
        kept = self._disk.read(key) if self._disk is not None else None
        if kept:
            return kept
        schemas = await ask()
        if self._disk is not None:
            self._disk.write(key, schemas)
        return schemas
