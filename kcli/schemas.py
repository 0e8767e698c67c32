"""Schemas of records, and the interface through which `serde` and commands ask for them.

`serde` knows no HTTP and `registry` no bytes of records: they meet here. Cheap to import, and imported only where
a registry or a schema is configured.
"""

from __future__ import annotations

from collections import namedtuple

from kcli.errors import KcliError
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple, Protocol

    class Reference(NamedTuple):
        """What a schema imports: by `name` in its text, kept under `subject` as `version`."""

        name: str
        subject: str
        version: int
else:
    Protocol = object
    Reference = namedtuple("Reference", "name subject version")

AVRO, PROTOBUF, JSON = "AVRO", "PROTOBUF", "JSON"
KINDS = (AVRO, PROTOBUF, JSON)


class Schema(Frozen):
    """One schema as its registry has it. `metadata`, `rule_set` and `extra` (fields of the answer that kcli does not
    know) are JSON texts, kept for another registry; "" where they are missing."""

    kind: str = AVRO
    text: str = ""
    references: tuple[Reference, ...] = ()
    id: int = -1  # -1: the registry did not say
    guid: str = ""
    subject: str = ""  # as the registry names it, its context in front
    version: int = -1
    context: str = ""  # "" is the default one; ids are unique within a context only
    metadata: str = ""
    rule_set: str = ""
    extra: str = ""

    @property
    def name(self) -> str:
        """For messages: `orders-value version 3`, else `schema 7`."""
        if self.subject:
            return f"{self.subject} version {self.version}" if self.version >= 0 else self.subject
        return f"schema {self.guid or self.id}"


class SchemaNotFound(KcliError):
    """The registry answers, and it has no such schema, subject or version. Final until it is registered."""


class SchemaRefused(KcliError):
    """A schema, or what it refers to, that is not used: it breaks a limit, or its references run in a circle."""


class Schemas(Protocol):
    """Where schemas come from: a registry, or a folder in its place. Answers are kept, and concurrent callers share one
    request. Raises SchemaNotFound, SchemaRefused; of a registry also ConnectError, AuthError, DeadlineExceeded."""

    async def by_id(self, id: int, *, context: str = "", subject: str | None = None) -> Schema:
        """The schema of an id, which is immutable. `subject` is given by the caller, never a guess: a registry
        with several contexts looks the id up in its context."""

    async def by_guid(self, guid: str) -> Schema:
        """The schema of a GUID, in its text form with hyphens."""

    async def by_global_id(self, id: int) -> Schema:
        """The schema of a global id of Apicurio's; a registry that is none raises SchemaNotFound without a request."""

    async def by_content_hash(self, digest: str) -> Schema:
        """The schema of a SHA-256 of its text, in hex: Apicurio's, or a folder's."""

    async def by_coordinates(self, group: str, artifact: str, version: str) -> Schema:
        """Apicurio's names of a schema: "" is its default group, or the latest version. In a folder the artifact is a
        subject of the default group."""

    async def by_fingerprint(self, fingerprint: str) -> Schema:
        """The Avro schema of a CRC-64-AVRO in hex, big-endian; of a folder only."""

    async def by_message(self, message: str, commit: str) -> Schema:
        """The Protobuf schema of a commit in Buf's registry, which declares the message; of a folder only: the schema
        with the commit as its GUID, else any that declares the message."""

    async def by_dataschema(self, uri: str) -> Schema:
        """The schema of a CloudEvents `dataschema`; of a folder only, which maps the URI. It is never fetched."""

    async def latest(self, subject: str) -> Schema:
        """The latest version of a subject; it may be up to a minute old."""

    async def version(self, subject: str, version: int) -> Schema: ...
    async def find(self, subject: str, schema: Schema) -> Schema:
        """The version of a subject that is this schema."""

    async def references(self, schema: Schema) -> list[tuple[str, Schema]]:
        """All that the schema needs, its references' references too, by the name that the importing text uses. Each
        name once, and a schema comes before the schemas that need it. Raises SchemaRefused for a circle, for more than
        64 levels and more than 1,000 schemas."""

    async def subject(self, strategy: str, topic: str, part: str, record: str = "") -> str:
        """The subject of a topic's keys or values (`part` is "key" or "value") by a strategy; `record` is the full name
        of the schema's record. Raises UsageError where the strategy takes a name and the schema has none."""

    async def use_of(self, schema: Schema, subject: str) -> tuple[str, int]:
        """A subject and version that the schema has: of `subject` if it has one there; ("", -1) where none is known.
        A registry that does not tell raises nothing."""

    async def check(self, subject: str, schema: Schema) -> None:
        """Raise what `register` would raise for a schema that is incompatible with the subject's versions. A registry
        that compares schemas only when one is registered raises nothing."""

    async def register(self, subject: str, schema: Schema, normalize: bool = False) -> int:
        """The id of the schema under the subject: a new one, or the one it already has there."""
