"""Schemas of records, and the interface that `serde` and the commands use to look them up.

It keeps `serde` free of HTTP and `registry` free of record formats. Cheap to import, and imported only if a registry or
a schema is configured.
"""

from __future__ import annotations

from collections import namedtuple

from kcli.errors import KcliError
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple, Protocol

    class Reference(NamedTuple):
        """A schema that another schema imports: `name` in the importing text, stored under `subject` as `version`."""

        name: str
        subject: str
        version: int
else:
    Protocol = object
    Reference = namedtuple("Reference", "name subject version")

AVRO, PROTOBUF, JSON = "AVRO", "PROTOBUF", "JSON"
KINDS = (AVRO, PROTOBUF, JSON)


class Schema(Frozen):
    """A schema as returned by its registry. `metadata`, `rule_set` and `extra` (unknown fields of the response) are
    JSON texts, kept so that the schema can be copied to another registry; "" if missing."""

    kind: str = AVRO
    text: str = ""
    references: tuple[Reference, ...] = ()
    id: int = -1  # -1: not given by the registry
    guid: str = ""
    subject: str = ""  # the registry's name for it, including the context
    version: int = -1
    context: str = ""  # "" is the default; ids are unique only within a context
    metadata: str = ""
    rule_set: str = ""
    extra: str = ""

    @property
    def name(self) -> str:
        """Name for messages: `orders-value version 3`, or `schema 7`."""
        if self.subject:
            return f"{self.subject} version {self.version}" if self.version >= 0 else self.subject
        return f"schema {self.guid or self.id}"


class SchemaNotFound(KcliError):
    """The registry has no such schema, subject or version. Not retriable."""


class SchemaRefused(KcliError):
    """A schema, or one that it references, is rejected because it exceeds a limit or references itself."""


class Schemas(Protocol):
    """A source of schemas: a registry, or a local folder instead.

    Responses are cached, and concurrent callers share one request. Methods raise SchemaNotFound and SchemaRefused, and
    with a registry also ConnectError, AuthError and DeadlineExceeded.
    """

    async def by_id(self, id: int, *, context: str = "", subject: str | None = None) -> Schema:
        """Return the schema with this id; it never changes. `subject` comes from the caller and is never guessed: a
        registry with several contexts looks the id up in the subject's context."""

    async def by_guid(self, guid: str) -> Schema:
        """Return the schema with this GUID (text form with hyphens)."""

    async def by_global_id(self, id: int) -> Schema:
        """Return the schema with this Apicurio global id. Other registries raise SchemaNotFound without a request."""

    async def by_content_hash(self, digest: str) -> Schema:
        """Return the schema whose text has this SHA-256 (hex). Only Apicurio and folders support this."""

    async def by_coordinates(self, group: str, artifact: str, version: str) -> Schema:
        """Return the schema with these Apicurio coordinates; "" means the default group, or the latest version. In a
        folder, the artifact is a subject of the default group."""

    async def by_fingerprint(self, fingerprint: str) -> Schema:
        """Return the Avro schema with this CRC-64-AVRO fingerprint (hex, big-endian). Only folders support this."""

    async def by_message(self, message: str, commit: str) -> Schema:
        """Return the Protobuf schema of a commit in Buf's registry that declares the message. Only folders support
        this: they return the schema whose GUID is the commit, or otherwise any schema that declares the message."""

    async def by_dataschema(self, uri: str) -> Schema:
        """Return the schema for a CloudEvents `dataschema` URI. Only folders support this, through a mapping; the URI
        is never fetched."""

    async def latest(self, subject: str) -> Schema:
        """Return the latest version of a subject; the result can be up to a minute old."""

    async def version(self, subject: str, version: int) -> Schema: ...
    async def find(self, subject: str, schema: Schema) -> Schema:
        """Return the version of a subject that equals this schema."""

    async def references(self, schema: Schema) -> list[tuple[str, Schema]]:
        """Return all direct and indirect references of a schema, each with the name that the importing text uses.

        Each name appears once, and a schema precedes the schemas that need it. Raises SchemaRefused for circular
        references, for more than 64 levels and for more than 1,000 schemas.
        """

    async def subject(self, strategy: str, topic: str, part: str, record: str = "") -> str:
        """Return the subject of a topic's keys or values (`part` is "key" or "value") according to a strategy.

        `record` is the full name of the schema's record. Raises UsageError if the strategy needs that name and the
        schema has none.
        """

    async def use_of(self, schema: Schema, subject: str) -> tuple[str, int]:
        """Return a subject and version under which a schema is registered, preferably `subject`; ("", -1) if unknown.
        Does not raise if the registry cannot answer this."""

    async def check(self, subject: str, schema: Schema) -> None:
        """Raise the error that `register` would raise if the schema is incompatible with the subject's versions.
        Registries that check compatibility only on registration raise nothing."""

    async def register(self, subject: str, schema: Schema, normalize: bool = False) -> int:
        """Register a schema under a subject and return its id; if it is already registered there, return the existing
        id."""
