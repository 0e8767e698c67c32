"""Finds schemas of a folder by their content, or by identifiers that registries do not use."""

from __future__ import annotations

import json

from kcli.schemas import AVRO, PROTOBUF, SchemaNotFound, SchemaRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from kcli.schemas import Schema

    class Folder(Protocol):
        def all(self) -> list[Schema]: ...
        async def references(self, schema: Schema) -> list[tuple[str, Schema]]: ...


class Contents:
    """Indexes for `Schemas`, each created on first use."""

    def __init__(self, folder: Folder, path: str) -> None:
        self._folder, self._path = folder, path
        self._fingerprints: dict[str, Schema] | None = None
        self._messages: dict[str, Schema] | None = None
        self._uris: dict[str, Schema] | None = None

    async def by_fingerprint(self, fingerprint: str) -> Schema:
        if self._fingerprints is None:
            self._fingerprints = {}
            for schema in self._folder.all():
                if schema.kind == AVRO:
                    self._fingerprints.setdefault(await self._fingerprint(schema), schema)
        return self._found(self._fingerprints, fingerprint, f"schema with the fingerprint {fingerprint}")

    async def by_message(self, message: str, commit: str) -> Schema:
        if self._messages is None:
            self._messages = {}
            for schema in self._folder.all():
                if schema.kind == PROTOBUF:
                    guid = schema.guid.replace("-", "").lower()
                    for name in await self._declared(schema):
                        self._messages.setdefault(f"{guid} {name}", schema)
                        self._messages.setdefault(name, schema)
        about = f"message {message} of commit {commit or '?'} in Buf's registry"
        of_commit = self._messages.get(f"{commit.replace('-', '').lower()} {message}")
        return of_commit or self._found(self._messages, message, about)

    async def by_dataschema(self, uri: str) -> Schema:
        if self._uris is None:
            self._uris = {}
            for schema in self._folder.all():
                for word in _uris(schema):
                    self._uris.setdefault(word, schema)
        return self._found(self._uris, uri, f"dataschema {uri}")

    def _found(self, known: dict[str, Schema], word: str, about: str) -> Schema:
        schema = known.get(word)
        if schema is None:
            raise SchemaNotFound(f"{about}: {self._path} has none")
        return schema

    async def _fingerprint(self, schema: Schema) -> str:
        """Return the fingerprint; "", which no frame has, for a schema that cannot be parsed."""
        from kcli.serde.avro.canonical import canonical, fingerprint
        from kcli.serde.avro.parse import parse

        try:
            needed = await self._folder.references(schema)
            return f"{fingerprint(canonical(parse(schema.text, [imported.text for _, imported in needed]))):016x}"
        except (SchemaRefused, SchemaNotFound):
            return ""

    async def _declared(self, schema: Schema) -> list[str]:
        """Return the messages in a schema's own file; empty if it cannot be parsed."""
        from kcli.serde.protobuf.reader import ProtobufSchema, all_messages

        try:
            needed = await self._folder.references(schema)
            read = ProtobufSchema(schema.text, [imported.text for _, imported in needed])
        except (SchemaRefused, SchemaNotFound):
            return []
        return [message.name for message in all_messages(read.messages) if not message.entry]


def _uris(schema: Schema) -> list[str]:
    """Return one URI, or a list of them."""
    dataschema = json.loads(schema.extra).get("dataschema") if schema.extra else None
    return [word for word in (dataschema if isinstance(dataschema, list) else [dataschema]) if isinstance(word, str)]
