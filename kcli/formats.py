"""Formats of keys and values, between bytes and Python objects: `client.consumer("orders", value=avro(registry))`.

    from kcli.formats import avro, json, json_schema, protobuf, text

A consumer with a format returns objects; a producer with a format accepts objects. Schemas are looked up with the first
record, and modules are imported only when they are needed.
"""

from __future__ import annotations

import math
import time

from kcli.errors import ConnectError, DeadlineExceeded, DecodeError, EncodeError, KcliError, UsageError
from kcli.proto.columns import Message
from kcli.schemas import AVRO, JSON, PROTOBUF, Schema
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from typing import Any, Literal

    from kcli.proto.columns import Columns
    from kcli.registry.settings import RegistrySettings
    from kcli.schemas import Schemas

    Errors = Literal["keep", "raise", "skip"]
    Encode = Callable[[Any], bytes]

ERRORS = ("keep", "raise", "skip")
log = Log("producer")


class Undecoded:
    """A key or value that its format could not decode: `reason` explains why, `data` holds the bytes."""

    __slots__ = ("data", "reason")

    def __init__(self, data: bytes, reason: str) -> None:
        self.data = data
        self.reason = reason

    def __repr__(self) -> str:
        return f"Undecoded({self.data!r}, {self.reason!r})"

    def error(self, place: str) -> DecodeError:
        """Return the error for this value at a place such as `orders[0] offset 7: value`."""
        return DecodeError(f"{place}: {self.reason}")


class Format:
    """How keys or values are decoded and encoded. `errors` selects what a consumer does if decoding fails: "keep"
    returns an `Undecoded`, "raise" raises DecodeError at that message, "skip" skips the record."""

    name = "bytes"

    def __init__(self, errors: Errors = "keep") -> None:
        if errors not in ERRORS:
            raise UsageError(f"errors {errors!r}: expected keep, raise or skip")
        self.errors = errors

    async def read(self, columns: Columns, kind: str, schemas: Schemas | None) -> list[Any]:
        """Decode the keys or values (`kind`) of records, in order. Raises KcliError if a registry does not respond."""
        starts, lengths = _column(columns, kind)
        whole = memoryview(columns.data)
        return [
            None if length < 0 else self._one(bytes(whole[start : start + length]))
            for start, length in zip(starts, lengths, strict=True)
        ]

    def _one(self, data: bytes) -> Any:
        try:
            return self.loads(data)
        except ValueError as problem:
            return Undecoded(data, f"no {self.name}: {problem}")

    def loads(self, data: bytes) -> Any:
        """Decode a payload. Raises ValueError."""
        raise NotImplementedError

    def dumps(self, value: Any) -> bytes:
        """Encode an object. Raises ValueError and TypeError."""
        raise NotImplementedError

    async def writer(self, topic: str, kind: str, schemas: Schemas | None) -> Encode:
        """Return the encoder for a topic, valid for `lasts` seconds. Raises KcliError; the encoder itself raises
        EncodeError."""
        return _telling(self.dumps, f"{topic}: {kind}")

    @property
    def lasts(self) -> float:
        return math.inf

    @property
    def registry(self) -> RegistrySettings | None:
        """The registry that provides the schemas."""
        return None


class _Json(Format):
    name = "JSON"

    def loads(self, data: bytes) -> Any:
        from kcli.serde.formats import read_json

        return read_json(data)

    def dumps(self, value: Any) -> bytes:
        from json import dumps

        return dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


class _Text(Format):
    name = "text"

    def loads(self, data: bytes) -> str:
        return data.decode()

    def dumps(self, value: Any) -> bytes:
        if not isinstance(value, str):
            raise TypeError(f"expected a str, not {type(value).__name__}")
        return value.encode()


class _ByRegistry(Format):
    """A format with schemas from a registry, or with a single given schema."""

    def __init__(
        self,
        kind: str,
        registry: Registry | str | None,
        *,
        errors: Errors,
        schema: str | None,
        subject: str | None,
        register: bool,
        message: Any = None,
    ) -> None:
        super().__init__(errors)
        self.kind, self.name = kind, {AVRO: "Avro", PROTOBUF: "Protobuf", JSON: "JSON by a schema"}[kind]
        self._registry = Registry(registry) if isinstance(registry, str) else registry
        if register and schema is None:
            raise UsageError("register=True requires schema=: which schema is registered")
        self._schema, self._subject, self._register, self._message = schema, subject, register, message
        self._reading: dict[str, Any] = {}
        self._writing: dict[tuple[str, str], tuple[Schema, Encode]] = {}  # by topic and kind

    @property
    def lasts(self) -> float:
        return FRESH if self._schema is None else math.inf

    @property
    def registry(self) -> RegistrySettings | None:
        return None if self._registry is None else self._registry.settings

    async def read(self, columns: Columns, kind: str, schemas: Schemas | None) -> list[Any]:
        from kcli.serde.schemas.objects import ObjectReader

        self._check(schemas)
        reader = self._reading.get(kind)
        if reader is None or reader.schemas is not schemas:
            reader = self._reading[kind] = ObjectReader(
                kind, self.kind, schemas, self._message, Undecoded, schema=self._schema
            )
        return await reader.read(columns)

    def _check(self, schemas: Schemas | None) -> None:
        """Raises UsageError if neither a registry nor a schema is given."""
        if schemas is None and (self._schema is None or self._register or self._subject is not None):
            raise UsageError(f"{self.name}: no schema registry is named: avro('http://localhost:8081')")

    async def writer(self, topic: str, kind: str, schemas: Schemas | None) -> Encode:
        from kcli.serde.schemas.objects import object_writer, writing_schema

        self._check(schemas)
        if schemas is None:
            given = Schema(kind=self.kind, text=self._schema or "")
            return _telling(await object_writer(given, None, self._message), f"{topic}: {kind}")
        schema = await writing_schema(
            self.kind,
            schemas,
            topic,
            kind,
            strategy=TOPIC if self.registry is None else self.registry.strategy(kind),
            text=self._schema,
            subject=self._subject,
            register=self._register,
            message=self._message,
        )
        known = self._writing.get((topic, kind))
        if known is None or known[0] != schema:
            write = await object_writer(schema, schemas, self._message)
            known = self._writing[topic, kind] = schema, _telling(write, f"{topic}: {kind}")
        return known[1]


TOPIC = "topic"
FRESH = 1.0  # seconds until a producer looks up the latest schema again; the registry client caches for longer
PATIENT = 5.0  # seconds until it retries a registry that did not respond


class Registry:
    """Connection settings of a schema registry: its URL, or a mapping of property names such as
    `{"schema.registry.url": …, "basic.auth.credentials.source": "USER_INFO", "basic.auth.user.info": "user:password"}`.
    `file:FOLDER` uses a folder of schemas instead. This opens no connection. Raises UsageError."""

    def __init__(self, given: str | Mapping[str, object]) -> None:
        from kcli.config.properties.merged import Properties
        from kcli.registry.settings import registry_of

        properties = Properties()
        for key, value in ({"schema.registry.url": given} if isinstance(given, str) else given).items():
            properties.put(str(key), str(value), f"property {key}")
        settings = registry_of(properties)
        if settings is None:
            raise UsageError("property schema.registry.url is missing: it names the registry")
        self.settings: RegistrySettings = settings

    def __repr__(self) -> str:
        return f"Registry({self.settings.name!r})"


def text(*, errors: Errors = "keep") -> Format:
    """UTF-8 text: `str`."""
    return _Text(errors)


def json(*, errors: Errors = "keep") -> Format:
    """JSON: dicts, lists, numbers and strings. Written without spaces."""
    return _Json(errors)


def avro(
    registry: Registry | str | None = None,
    *,
    schema: str | None = None,
    subject: str | None = None,
    register: bool = False,
    errors: Errors = "keep",
) -> Format:
    """Avro framed for a registry: dicts with `bytes`, `datetime`, `date`, `time`, `Decimal` and `UUID` for Avro's
    types. A union decodes to the value of its branch. Each record is decoded with the schema that its frame names.

    A producer encodes with the latest schema of the topic's subject, or of `subject`, and picks up a newer version
    within a minute. With `schema` (a text) it uses that schema, which must already be a version of the subject unless
    `register` is set. Without `registry` the client's registry is used (`schema.registry.url`). If the client has none
    either, `schema` decodes and encodes payloads without a frame. Raises UsageError.
    """
    return _ByRegistry(AVRO, registry, errors=errors, schema=schema, subject=subject, register=register)


def protobuf(
    registry: Registry | str | None = None,
    *,
    message: Any = None,
    schema: str | None = None,
    subject: str | None = None,
    register: bool = False,
    errors: Errors = "keep",
) -> Format:
    """Protobuf framed for a registry: dicts by the JSON mapping, with the field names of the .proto file.

    `message` is the name of the message to write, or a generated class; with a class, the consumer returns its
    instances. Everything else works as in `avro`.
    """
    return _ByRegistry(
        PROTOBUF, registry, errors=errors, schema=schema, subject=subject, register=register, message=message
    )


def json_schema(
    registry: Registry | str | None = None,
    *,
    schema: str | None = None,
    subject: str | None = None,
    register: bool = False,
    errors: Errors = "keep",
) -> Format:
    """JSON framed for a registry. Values to write are validated against the schema. Everything else works as in
    `avro`."""
    return _ByRegistry(JSON, registry, errors=errors, schema=schema, subject=subject, register=register)


class Formats:
    """The formats of a consumer's or producer's keys and values; None leaves bytes. `schemas` opens a registry."""

    def __init__(
        self, key: Format | None, value: Format | None, schemas: Callable[[RegistrySettings | None], Schemas | None]
    ) -> None:
        self._of = {kind: one for kind, one in (("key", key), ("value", value)) if one is not None}
        for kind, one in self._of.items():
            if not isinstance(one, Format):
                raise UsageError(f"{kind} {type(one).__name__}: expected a format, such as kcli.formats.json()")
        self._reads_key, self._reads_value = key is not None, value is not None
        self._schemas = schemas
        self._writers: dict[str, dict[str, Encode]] = {}
        self._until: dict[str, float] = {}  # when the encoders of a topic are looked up again

    def _schemas_of(self, format: Format) -> Schemas | None:
        return self._schemas(format.registry) if isinstance(format, _ByRegistry) else None

    async def read(self, columns: Columns) -> list[tuple[Any, Any]]:
        """Decode each row to (key, value); a column without a format is all None. Raises KcliError."""
        none = [None] * len(columns.offsets)
        read = {kind: await one.read(columns, kind, self._schemas_of(one)) for kind, one in self._of.items()}
        return list(zip(read.get("key", none), read.get("value", none), strict=True))

    def message(self, message: Message, key: Any, value: Any) -> Message | None:
        """Return the message with its objects, or None if it is skipped. Raises DecodeError."""
        topic, partition, offset, timestamp, stored_key, stored, headers, timestamp_type, epoch = message
        for kind, made in (("key", key), ("value", value)):
            if made.__class__ is Undecoded and (errors := self._of[kind].errors) != "keep":
                if errors == "skip":
                    return None
                raise made.error(f"{topic}[{partition}] offset {offset}: {kind}")
        return Message(
            topic,
            partition,
            offset,
            timestamp,
            key if self._reads_key else stored_key,
            value if self._reads_value else stored,
            headers,
            timestamp_type,
            epoch,
        )

    def ready(self, topic: str) -> bool:
        """Whether `write` works without calling `prepare` first."""
        return topic in self._writers

    def renewal(self, topic: str) -> Coroutine[Any, Any, None] | None:
        """Return a coroutine that looks up a topic's schemas again; None if they are fresh or the look-up is in
        progress."""
        if self._fresh(topic):
            return None
        self._until[topic] = time.monotonic() + PATIENT  # one look-up, however many records are sent meanwhile
        return self._renew(topic)

    async def _renew(self, topic: str) -> None:
        try:
            await self._look_up(topic)
        except KcliError as problem:
            log.warning("%s: its schema cannot be looked up again: %s", topic, problem)
            self._until[topic] = 0.0
            self._writers.pop(topic, None)  # the next record calls prepare again, and its future gets the error

    def _fresh(self, topic: str) -> bool:
        return time.monotonic() < self._until.get(topic, 0.0)

    async def prepare(self, topic: str) -> None:
        """Look up a topic's schemas, or refresh them. If the registry does not respond, the previous ones are kept,
        because they are still valid for the subject. Raises KcliError."""
        if topic not in self._writers or not self._fresh(topic):
            await self._look_up(topic)

    async def _look_up(self, topic: str) -> None:
        try:
            writers = {kind: await one.writer(topic, kind, self._schemas_of(one)) for kind, one in self._of.items()}
        except (ConnectError, DeadlineExceeded) as problem:
            if topic not in self._writers:
                raise
            log.warning("%s: still written by the last schema that was looked up: %s", topic, problem)
            self._until[topic] = time.monotonic() + PATIENT
            return
        self._writers[topic] = writers
        self._until[topic] = time.monotonic() + min(one.lasts for one in self._of.values())

    def write(self, topic: str, key: Any, value: Any) -> tuple[bytes | None, bytes | None]:
        """Return the encoded key and value; None stays None. Raises EncodeError."""
        writers = self._writers[topic]
        if key is not None and "key" in writers:
            key = writers["key"](key)
        if value is not None and "value" in writers:
            value = writers["value"](value)
        return key, value


def _column(columns: Any, kind: str) -> tuple[Any, Any]:
    if kind == "key":
        return columns.key_starts, columns.key_lengths
    return columns.value_starts, columns.value_lengths


def _telling(dumps: Encode, place: str) -> Encode:
    def encode(value: Any) -> bytes:
        try:
            return dumps(value)
        except KcliError as problem:
            raise EncodeError(f"{place}: {problem}") from problem
        except (ValueError, TypeError) as problem:
            raise EncodeError(f"{place}: {problem}") from problem

    return encode
