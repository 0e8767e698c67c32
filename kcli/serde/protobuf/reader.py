"""A registry's Protobuf schema, and readers that convert the message selected by indexes to JSON."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from functools import lru_cache

from kcli.proto import core
from kcli.proto import protobuf_code as code
from kcli.proto.faults import FAULTS, NO_MESSAGE, Fault
from kcli.schemas import SchemaRefused
from kcli.serde.protobuf.indexes import read_indexes, read_name, read_number
from kcli.serde.protobuf.program import Program
from kcli.serde.protobuf.schema.pool import Pool
from kcli.serde.protobuf.schema.text import TextFile
from kcli.serde.protobuf.schema.tokens import refuse
from kcli.serde.protobuf.schema.types import Message, message_at
from kcli.serde.schemas.payloads import PayloadReader, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.serde.protobuf.indexes import UnindexedReader
    from kcli.serde.protobuf.schema.types import Enum, Field
    from kcli.serde.protobuf.write import ProtobufWriter


TRIED = 32
"""Number of messages that a file may have for reading payloads without message indexes."""


class ProtobufSchema:
    """The messages of a schema's own file, and all types that it knows. `references` are the texts of imported files,
    each after what it needs itself."""

    def __init__(self, text: str, references: Iterable[str] = ()) -> None:
        """Raises SchemaRefused."""
        pool = pool_for(text, references)
        self.messages = _file(text, pool)
        self.types: dict[str, Message | Enum] = pool.types
        self._programs: dict[bool, Program] = {}

    def program(self, *, camel: bool = False) -> Program:
        """Return the schema as a program of the record core."""
        if camel not in self._programs:
            self._programs[camel] = Program(self.messages, self.types, camel=camel)
        return self._programs[camel]

    def message(self, name: str) -> Message:
        """Return a message of any file by full name, or of its own file by its last name; "" is the first. Raises
        SchemaRefused."""
        if not self.messages:
            raise refuse("it declares no message")
        if not name:
            return self.messages[0]
        message = self.types.get(name)
        own = [message for message in self.messages if message.name.rpartition(".")[2] == name]
        message = message if isinstance(message, Message) else own[0] if own else None
        if message is None:
            from kcli.text.suggest import did_you_mean

            known = [name for name, type in self.types.items() if isinstance(type, Message) and not type.entry]
            raise refuse(f"it has no message {name}{did_you_mean(name, known)}")
        return message

    def ordered(self) -> list[Message]:
        """Return all messages of the file, including nested ones, sorted by full name, which is AWS Glue's
        numbering."""
        return sorted(all_messages(self.messages), key=lambda message: message.name)

    def number(self, message: Message) -> int:
        """Return AWS Glue's number of a message."""
        return next(number for number, one in enumerate(self.ordered()) if one is message)

    def path(self, message: Message) -> tuple[int, ...]:
        """Return the indexes of a message, counted like Java without map entries. Raises SchemaRefused for a message of
        another file."""
        to_do: list[tuple[tuple[int, ...], list[Message]]] = [((), self.messages)]
        while to_do:
            before, among = to_do.pop()
            for number, candidate in enumerate(inner for inner in among if not inner.entry):
                if candidate is message:
                    return (*before, number)
                to_do.append(((*before, number), candidate.nested))
        raise refuse(f"{message.name} is of a file that it imports; only its own messages have indexes")

    def same(self, other: ProtobufSchema) -> bool:
        """Whether payloads of the two are interchangeable, message by message, under the same names."""
        return [_shape(message) for message in self.messages] == [_shape(message) for message in other.messages]

    def writer(self, message: Message) -> ProtobufWriter:
        """Return the encoder for this message."""
        from kcli.serde.protobuf.known_write import KNOWN
        from kcli.serde.protobuf.write import ProtobufWriter

        return ProtobufWriter(message, self.types, KNOWN)


@lru_cache(maxsize=16)
def parsed_schema(text: str, references: tuple[str, ...] = ()) -> ProtobufSchema:
    """Return the parsed schema, shared by all that read, write and validate with it: parsing takes 10 ms, mostly for
    Google's files. Raises SchemaRefused."""
    return ProtobufSchema(text, references)


class ProtobufReader(PayloadReader):
    """Reads payloads of a schema, in the record core (`core`). `front` is what precedes them: nothing for payloads of
    `message`, Confluent's indexes, or AWS Glue's number. The schema `into` has the messages of the same names for
    display."""

    def __init__(
        self,
        schema: ProtobufSchema,
        message: Message | None = None,
        *,
        camel: bool = False,
        front: int = code.BARE,
        into: ProtobufSchema | None = None,
    ) -> None:
        """Raises SchemaRefused for a message that `into` does not have."""
        self.schema = self._schema = schema
        self._into = schema if into is None else into
        self._bare = message
        self._camel = camel
        program = self._into.program(camel=camel)
        if front == code.BARE:
            assert message is not None
            number = program.numbers[id(self._shown(message))]
            self.core = core.ProtobufReader(program.code, program.texts, program.names, front, lambda *_: number)
        else:
            self.core = core.ProtobufReader(program.code, program.texts, program.names, front, self._find)

    @property
    def unknown(self) -> int:
        """Number of unknown fields read so far."""
        return int(self.core.unknown)

    def json(self, data: bytes) -> bytes:
        try:
            return bytes(self.core.json(data))
        except Fault as fault:
            raise Unreadable(self.reason(fault.number, data)) from None

    def reason(self, fault: int, data: bytes) -> str:
        """Return why a payload could not be read."""
        return FAULTS[fault]

    def message_name(self, data: bytes) -> str:
        """Return the full name of a payload's message; the payload was read before."""
        assert self._bare is not None
        return self._bare.name

    def bare(self, name: str) -> ProtobufReader:
        """Return the reader of bare payloads of a message, displayed like this one. Raises SchemaRefused."""
        return ProtobufReader(self._schema, self._schema.message(name), camel=self._camel, into=self._into)

    def _shown(self, message: Message) -> Message:
        """Return the message by which payloads of this one are displayed. Raises SchemaRefused."""
        return message if self._into is self._schema else self._into.message(message.name)

    def _find(self, front: bytes, form: int) -> int:
        """Return the number of the message that these bytes identify, for the record core."""
        message = self._message(front, form)
        if isinstance(message, int):
            return message
        try:
            return self._into.program(camel=self._camel).numbers[id(self._shown(message))]
        except SchemaRefused:
            return code.UNKNOWN

    def no_message(self, message: Message | None, otherwise: str) -> str:
        """Return why a message cannot be read: it is not in the display schema; `otherwise` if there is none."""
        try:
            if message is not None:
                self._shown(message)
        except SchemaRefused as problem:
            return str(problem)
        return otherwise

    def _message(self, front: bytes, form: int) -> Message | int:
        return code.UNKNOWN


class IndexedReader(ProtobufReader):
    """Reads payloads that begin with Confluent's message indexes, or with the message's name as written by Apicurio's
    serializer: a delimited `Ref {string name = 1}`."""

    def __init__(self, schema: ProtobufSchema, *, camel: bool = False, into: ProtobufSchema | None = None) -> None:
        """Raises SchemaRefused for a schema without messages."""
        schema.message("")
        super().__init__(schema, camel=camel, front=code.BY_INDEXES, into=into)
        self._unindexed: UnindexedReader | None = None

    @property
    def unindexed(self) -> UnindexedReader:
        """The reader of payloads without message indexes and message name."""
        if self._unindexed is None:
            from kcli.serde.protobuf.indexes import UnindexedReader

            messages = [message for message in all_messages(self._schema.messages) if not message.entry]
            some = messages if len(messages) <= TRIED else []
            self._unindexed = UnindexedReader(
                {
                    message.name: ProtobufReader(self._schema, message, camel=self._camel, into=self._into)
                    for message in some
                    if self._into is self._schema or message.name in self._into.types
                }
            )
        return self._unindexed

    def numbered(self) -> ProtobufReader:
        """The reader of AWS Glue's payloads, which begin with the number of a message."""
        return NumberedReader(self._schema, camel=self._camel, into=self._into)

    def named(self, indexes: bytes) -> ProtobufReader:
        """Return the reader for bare payloads of the message that a header's bytes identify. Raises Unreadable."""
        path, _ = read_indexes(indexes)
        message = message_at(self._schema.messages, path)
        if message is None:
            raise Unreadable(_no_message(path))
        return ProtobufReader(self._schema, message, camel=self._camel, into=self._into)

    def message(self, name: str) -> ProtobufReader:
        """Return the reader for bare payloads of a message, by name. Raises SchemaRefused."""
        return self.bare(name)

    def message_name(self, data: bytes) -> str:
        try:
            message = message_at(self._schema.messages, read_indexes(data)[0])
        except Unreadable:
            message = None
        if message is not None:
            return message.name
        named = read_name(data)
        return self._schema.message(named).name if named is not None else next(iter(self.unindexed.fits(data)), "")

    def reason(self, fault: int, data: bytes) -> str:
        if fault != NO_MESSAGE:
            return FAULTS[fault]
        named = read_name(data)
        if named is not None:
            try:
                self._shown(self._schema.message(named))
            except SchemaRefused as problem:
                return str(problem)
        path = read_indexes(data)[0]
        return self.no_message(message_at(self._schema.messages, path), _no_message(path))

    def _message(self, front: bytes, form: int) -> Message | int:
        if form == code.BY_INDEXES:
            return message_at(self._schema.messages, read_indexes(front)[0]) or code.UNKNOWN
        named = read_name(front)
        if named is None:
            return code.NOT_NAMED
        try:
            return self._schema.message(named)
        except SchemaRefused:
            return code.UNKNOWN


class NumberedReader(ProtobufReader):
    """Reads payloads that begin with AWS Glue's number: an index into all messages, including nested ones, sorted by
    name."""

    def __init__(self, schema: ProtobufSchema, *, camel: bool, into: ProtobufSchema | None = None) -> None:
        self._ordered = schema.ordered()
        super().__init__(schema, camel=camel, front=code.BY_NUMBER, into=into)

    def message_name(self, data: bytes) -> str:
        return self._ordered[read_number(data)].name

    def reason(self, fault: int, data: bytes) -> str:
        if fault != NO_MESSAGE:
            return FAULTS[fault]
        number = read_number(data)
        message = self._ordered[number] if number < len(self._ordered) else None
        return self.no_message(message, f"its schema has no message with the number {number}")

    def _message(self, front: bytes, form: int) -> Message | int:
        number = read_number(front)
        return self._ordered[number] if number < len(self._ordered) else code.UNKNOWN


def pool_for(text: str, references: Iterable[str]) -> Pool:
    """Return the types that a schema may use without declaring them. Raises SchemaRefused."""
    pool = Pool()
    referred = list(references)
    for known in _known([*referred, text]):
        TextFile(known, pool)
    for other in referred:
        _file(other, pool)
    return pool


def all_messages(messages: list[Message]) -> list[Message]:
    """Return these messages and their nested ones, each after the enclosing message."""
    collected = list(messages)
    for message in collected:
        collected += message.nested
    return collected


def _no_message(path: tuple[int, ...]) -> str:
    return f"its schema has no message with the indexes {', '.join(map(str, path))}"


def _shape(message: Message) -> object:
    """Return everything in a message that affects payloads and JSON, with types of fields by name."""
    fields = [
        (field.number, field.name, field.json_name, field.kind, field.repeated, field.packed, field.oneof, _type(field))
        for _, field in sorted(message.fields.items())
    ]
    nested = sorted((_shape(inner) for inner in message.nested), key=str)
    return message.name, message.entry, fields, nested


def _type(field: Field) -> object:
    if isinstance(field.type, Message):
        return field.type.name
    return None if field.type is None else (field.type.name, sorted(field.type.numbers.items()))


def _file(text: str, pool: Pool) -> list[Message]:
    """Parse the messages of a file: its text, or the base64 of its descriptor. Raises SchemaRefused."""
    stripped = text.strip()
    if is_descriptor(stripped):
        from kcli.serde.protobuf.schema.descriptor import DescriptorFile

        try:
            data = b64decode(stripped, validate=True)
        except (Base64Error, ValueError):
            raise refuse("it is neither the text of a .proto file nor a descriptor as base64") from None
        return DescriptorFile(data, pool).messages
    return TextFile(text, pool).messages


def is_descriptor(text: str) -> bool:
    """Whether a schema is the base64 of a descriptor instead of the text of a `.proto` file."""
    return text.isascii() and ";" not in text and "{" not in text and text != ""


def _known(texts: list[str]) -> list[str]:
    """Return Google's and Confluent's files that these import, by path prefix; all of them for base64, whose imports
    are not visible."""
    from kcli.serde.protobuf.schema.known_types import FILES

    shown = "\n".join(texts)
    every = any(";" not in text for text in texts)
    some = "google/" in shown or "confluent/" in shown
    return list(FILES.values()) if every or some else []
