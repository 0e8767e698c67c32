"""An open registry or folder: its requests, and its schemas with their references."""

from __future__ import annotations

from kcli.registry.client import RegistryClient
from kcli.registry.lookup import RegistrySchemas, open_schemas
from kcli.registry.subjects import NAMED
from kcli.serde.schema_name import schema_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.registry.settings import RegistrySettings
    from kcli.schemas import Schema


class OpenRegistry:
    """`client` makes the requests, `schemas` looks up immutable data; `close` it when it is no longer needed. `guard`
    is "", read_only or protected, from the profile of that name."""

    def __init__(self, named: RegistrySettings, *, guard: str = "", profile: str = "") -> None:
        self.schemas = open_schemas(named, guard=guard, profile=profile)
        self.client: RegistryClient
        if isinstance(self.schemas, RegistrySchemas):
            self.client = self.schemas.client
        else:
            from kcli.registry.moving.folder_client import FolderClient

            self.client = FolderClient(named, self.schemas)
        self.name, self.folder = named.name, named.folder
        self._named = named

    async def close(self) -> None:
        await self.schemas.close()

    async def subject(self, topic: str, kind: str, schema: Schema | None = None) -> str:
        """Return the subject of a topic's keys or values (`kind`) by the strategy in the settings; "" if the strategy
        needs the name of a schema that is not known, or has none. Raises KcliError."""
        strategy = self._named.strategy(kind)
        record = ""
        if strategy in NAMED:
            referred = [] if schema is None else await self.schemas.references(schema)
            record = "" if schema is None else schema_name(schema, [(name, one.text) for name, one in referred])
            if not record:
                return ""
        return await self.schemas.subject(strategy, topic, kind, record)

    async def needed(self, schema: Schema) -> list[Schema]:
        """Return all schemas that a schema references, each after what it needs itself. Raises KcliError."""
        return [imported for _, imported in await self.schemas.references(schema)] if schema.references else []
