"""Converts keys and values to a program's objects and back, with the schemas that their frames name.

A column of payloads is converted to JSON in one call of the record core; each row's text then becomes an object.
"""

from __future__ import annotations

from array import array
from contextlib import suppress
from json import loads

from kcli.errors import AuthError, ConnectError, DeadlineExceeded, KcliError, UsageError
from kcli.schemas import AVRO, JSON, PROTOBUF, Schema, SchemaNotFound, SchemaRefused
from kcli.serde.schemas import frames
from kcli.serde.schemas.decoder import HEADER, column_of, schema_named
from kcli.serde.schemas.frames import frame_names
from kcli.serde.schemas.payloads import AS_IT_IS, Unreadable
from kcli.serde.schemas.readers import Readers, indexed, read_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kcli.proto.columns import Columns
    from kcli.schemas import Schemas
    from kcli.serde.schemas.readers import Reader, References

    Convert = Callable[[Any], Any]
    Bad = Callable[[bytes, str], Any]

BARE = b""  # name for the schema of payloads without a frame
NO_FRAME = "it has no frame that refers to a schema"


class ObjectReader:
    """Reads the keys or the values (`kind`) of records whose schemas are all of one type (`of`: Avro, Protobuf or
    JSON). With `message`, a generated Protobuf class, it returns instances of that class. For an unreadable payload it
    returns `bad(payload, reason)`. Without `schemas` all are read with `schema`, and have no frame."""

    def __init__(
        self, kind: str, of: str, schemas: Schemas | None, message: Any, bad: Bad, *, schema: str | None = None
    ) -> None:
        self._kind, self._of, self.schemas, self._bad = kind, of, schemas, bad
        self._schema, self._named = schema, message if isinstance(message, str) else ""
        self._message = message if hasattr(message, "FromString") else None
        self._header = HEADER % kind.encode()
        self._readers: list[Reader] = []
        self._converts: list[Convert | None] = []
        self._known: dict[bytes, int] = {}
        self._reasons: dict[bytes, str] = {}

    async def read(self, columns: Columns) -> list[Any]:
        """Return an object for each row, None for null. Raises KcliError if the registry does not respond."""
        starts, lengths = column_of(columns, self._kind)
        if self.schemas is None:
            names, numbers = [BARE], array("i", [-1 if length < 0 else 0 for length in lengths])
            skips = array("i", bytes(4 * len(starts)))
        else:
            names, numbers, skips = frame_names(columns, starts, lengths, self._kind, self._header)
        found = [self._known[name] if name in self._known else await self._look_up(name) for name in names]
        which = array("i", [found[number] if number >= 0 else AS_IT_IS for number in numbers])
        texts, faults = [b""] * len(which), dict[int, str]()
        if max(which, default=AS_IT_IS) > AS_IT_IS and self._message is None:
            spans, failed = read_rows(columns.data, starts, lengths, skips, which, self._readers)
            ends, data = memoryview(spans.ends).cast("B").cast("i"), bytes(spans.data)
            texts = [data[ends[row] : ends[row + 1]] for row in range(len(which))]
            faults = dict(failed)
            if not faults and self._whole(which):
                with suppress(ValueError, KeyError, TypeError):  # otherwise row by row, to find the failing one
                    return self._all(texts, which[0])
        whole = memoryview(columns.data)
        objects: list[Any] = []
        for row, (reader, start, length) in enumerate(zip(which, starts, lengths, strict=True)):
            if length < 0:
                objects.append(None)
                continue
            reason = faults.get(row)
            if reader == AS_IT_IS:
                number = numbers[row]
                reason = NO_FRAME if number < 0 else self._reasons.get(names[number], NO_FRAME)
            if reason is None:
                try:
                    objects.append(self._object(texts[row], reader, whole, start + skips[row], start + length))
                    continue
                except (ValueError, KeyError, TypeError) as problem:
                    reason = str(problem)
            objects.append(self._bad(bytes(whole[start : start + length]), reason))
        return objects

    def _whole(self, which: array[int]) -> bool:
        """Whether all rows have one reader."""
        return which[0] != AS_IT_IS and which == which[:1] * len(which)

    def _all(self, texts: list[bytes], reader: int) -> list[Any]:
        """Return the objects of rows of one reader, parsing the JSON once."""
        values: list[Any] = loads(b"[" + b",".join(texts) + b"]")
        convert = self._converts[reader]
        return values if convert is None else [convert(value) for value in values]

    def _object(self, text: bytes, reader: int, whole: memoryview, start: int, end: int) -> Any:
        """Raises ValueError."""
        if self._message is not None:
            from kcli.serde.protobuf.indexes import read_indexes

            payload = bytes(whole[start:end])
            try:
                front = 0 if self.schemas is None else read_indexes(payload)[1]
                return self._message.FromString(payload[front:])
            except Exception as problem:  # noqa: BLE001  # google.protobuf's own errors are of no kind in common
                raise ValueError(f"no {self._message.__name__}: {problem}") from None
        value = loads(text)
        convert = self._converts[reader]
        return value if convert is None else convert(value)

    async def _look_up(self, name: bytes) -> int:
        """Return the number of the reader for a name, AS_IT_IS if there is none. Raises KcliError if the registry does
        not respond: then the records are read again."""
        if self.schemas is None:
            assert self._schema is not None
            reader, convert = _bare_reader(Schema(kind=self._of, text=self._schema), self._named)
            return self._known_by(name, reader, convert)
        try:
            schema = await schema_named(self.schemas, name)
            referred = [(one, imported.text) for one, imported in await self.schemas.references(schema)]
            if schema.kind != self._of:
                raise SchemaRefused(f"{schema.name} is {schema.kind}, not {self._of}")
            reader, convert = _reader_of(schema, referred)
            reader = frames.reader_behind(name, schema, reader, [text for _, text in referred])
        except (ConnectError, AuthError, DeadlineExceeded):
            raise
        except (KcliError, Unreadable) as problem:
            self._reasons[name] = str(problem)
            return AS_IT_IS
        return self._known_by(name, reader, convert)

    def _known_by(self, name: bytes, reader: Reader, convert: Convert | None) -> int:
        self._readers.append(reader)
        self._converts.append(convert)
        self._known[name] = len(self._readers) - 1
        return self._known[name]


def _bare_reader(schema: Schema, message: str) -> tuple[Reader, Convert | None]:
    """Return the reader of payloads without a frame. Raises SchemaRefused."""
    reader, convert = _reader_of(schema, [])
    of_messages = indexed(schema, reader)
    return (reader if of_messages is None else of_messages.message(message)), convert


def _reader_of(schema: Schema, referred: References) -> tuple[Reader, Convert | None]:
    """Return a reader, and the conversion of its JSON. Raises SchemaRefused."""
    if schema.kind != AVRO:
        return Readers()(schema, referred), None
    from kcli.serde.avro.parse import parse
    from kcli.serde.avro.values import Values, ambiguous

    parsed = parse(schema.text, [text for _, text in referred])
    named = ambiguous(parsed)
    return Readers(logical=False, wrapped=named)(schema, referred), Values(parsed, named=named).of


async def writing_schema(
    of: str,
    schemas: Schemas,
    topic: str,
    kind: str,
    *,
    strategy: str,
    text: str | None,
    subject: str | None,
    register: bool,
    message: Any,
) -> Schema:
    """Return the schema for writing objects: the latest of the subject, or `text`. Raises KcliError."""
    if text is None:
        schema = await schemas.latest(subject or await schemas.subject(strategy, topic, kind))
    else:
        given = Schema(kind=of, text=text)
        named = subject or await schemas.subject(strategy, topic, kind, _name_of(given, message))
        if register:
            schema = given.replace(id=await schemas.register(named, given), subject=named)
        else:
            schema = await _registered(schemas, named, given)
    if schema.kind != of:
        raise SchemaRefused(f"{schema.name} is {schema.kind}, not {of}")
    if schema.id < 0:
        raise UsageError(f"{schema.name}: it has no id, which the record's frame needs")
    return schema


async def object_writer(schema: Schema, schemas: Schemas | None, message: Any) -> Callable[[Any], bytes]:
    """Return the encoder of objects with the frame of a schema, without `schemas` of bare ones. Raises KcliError."""
    if schemas is None:
        return _avro(schema, []) if schema.kind == AVRO else _by_text(schema, [], message, framed=False)
    referred = [(name, imported.text) for name, imported in await schemas.references(schema)]
    front = b"\0" + schema.id.to_bytes(4, "big")
    write = _avro(schema, referred) if schema.kind == AVRO else _by_text(schema, referred, message)
    return lambda value: front + write(value)


async def _registered(schemas: Schemas, subject: str, given: Schema) -> Schema:
    """Return the given schema's version: a program keeps the schema for which it was written, even if the subject has a
    newer one."""
    from kcli.serde.schemas.writers import same

    try:
        return await schemas.find(subject, given)
    except SchemaNotFound:
        latest = await schemas.latest(subject)
    if not same(given, latest, [], []):  # registries compare texts
        raise UsageError(f"{subject} has no version with this schema: register=True registers it")
    return latest


def _name_of(schema: Schema, message: Any) -> str:
    """Return the full name of the record, for strategies that use it; "" if it has none."""
    from kcli.serde.schema_name import schema_name

    return schema_name(schema, [], message if isinstance(message, str) else "")


def _avro(schema: Schema, referred: References) -> Callable[[Any], bytes]:
    from kcli.serde.avro.parse import parse
    from kcli.serde.avro.values import Writing
    from kcli.serde.avro.write import AvroWriter

    parsed = parse(schema.text, [text for _, text in referred])
    write, of = AvroWriter(parsed).write, Writing(parsed).of
    return lambda value: write(of(value))


def _by_text(schema: Schema, referred: References, message: Any, *, framed: bool = True) -> Callable[[Any], bytes]:
    from json import dumps

    from kcli.serde.schemas.writers import message_indexes, writer_of

    named = message if isinstance(message, str) else ""
    if schema.kind == PROTOBUF and message is not None and not named:
        full = message.DESCRIPTOR.full_name
        indexes = message_indexes(schema, referred, full) if framed else b""

        def serialized(value: Any) -> bytes:
            if not isinstance(value, message):
                raise TypeError(f"expected a {full}, not {type(value).__name__}")
            data: bytes = value.SerializeToString()
            return indexes + data

        return serialized
    write = writer_of(schema, referred, message=named, framed=framed)
    assert schema.kind in (PROTOBUF, JSON)
    return lambda value: write(dumps(value, ensure_ascii=False, allow_nan=False))
