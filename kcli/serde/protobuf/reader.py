"""A schema of a registry, and the payloads that it reads: the message that indexes name, as JSON."""

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
"""How many messages a file may have whose payloads are read without message indexes."""


class ProtobufSchema:
    """The messages of a schema's own file, and all types that it knows. `references` are the texts of the files that it
    imports, each after what it needs itself."""

    def __init__(self, text: str, references: Iterable[str] = ()) -> None:
        """Raises SchemaRefused."""
        pool = pool_for(text, references)
        self.messages = _file(text, pool)
        self.types: dict[str, Message | Enum] = pool.types
        self._programs: dict[bool, Program] = {}

    def program(self, *, camel: bool = False) -> Program:
        """The schema as a program of the record core."""
        if camel not in self._programs:
            self._programs[camel] = Program(self.messages, self.types, camel=camel)
        return self._programs[camel]

    def message(self, name: str) -> Message:
        """A message of any file by its full name, or one of its own file by its last name; "" is the first. Raises
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
        """All messages of the file, nested ones too, by their full names: AWS Glue counts them so."""
        return sorted(all_messages(self.messages), key=lambda message: message.name)

    def number(self, message: Message) -> int:
        """AWS Glue's number of a message."""
        return next(number for number, one in enumerate(self.ordered()) if one is message)

    def path(self, message: Message) -> tuple[int, ...]:
        """The indexes of a message, counted as Java does: without the entries of maps. Raises SchemaRefused for one of
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
        """Whether payloads of one are payloads of the other, message by message, under the same names."""
        return [_shape(message) for message in self.messages] == [_shape(message) for message in other.messages]

    def writer(self, message: Message) -> ProtobufWriter:
        """What writes values as this message."""
        from kcli.serde.protobuf.known_write import KNOWN
        from kcli.serde.protobuf.write import ProtobufWriter

        return ProtobufWriter(message, self.types, KNOWN)


@lru_cache(maxsize=16)
def parsed_schema(text: str, references: tuple[str, ...] = ()) -> ProtobufSchema:
    """The schema of a text, parsed once for all that read, write and check by it: a parse takes 10 ms, most of them for
    the files of Google. Raises SchemaRefused."""
    return ProtobufSchema(text, references)


class ProtobufReader(PayloadReader):
    """Reads payloads of a schema, behind what `front` says: nothing before those of `message`, Confluent's indexes, or
    AWS Glue's number. The schema `into` has the messages of the same names as they are shown. The record core does it
    (`core`)."""

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
        """How many fields were read that the schema does not have."""
        return int(self.core.unknown)

    def json(self, data: bytes) -> bytes:
        try:
            return bytes(self.core.json(data))
        except Fault as fault:
            raise Unreadable(self.reason(fault.number, data)) from None

    def reason(self, fault: int, data: bytes) -> str:
        """Why a payload could not be read."""
        return FAULTS[fault]

    def message_name(self, data: bytes) -> str:
        """The full name of the message that a payload is, which was read before."""
        assert self._bare is not None
        return self._bare.name

    def bare(self, name: str) -> ProtobufReader:
        """The reader of bare payloads of a message, which shows them as this one. Raises SchemaRefused."""
        return ProtobufReader(self._schema, self._schema.message(name), camel=self._camel, into=self._into)

    def _shown(self, message: Message) -> Message:
        """The message that payloads of this one are shown as. Raises SchemaRefused."""
        return message if self._into is self._schema else self._into.message(message.name)

    def _find(self, front: bytes, form: int) -> int:
        """The number of the message that these bytes mean, for the record core."""
        message = self._message(front, form)
        if isinstance(message, int):
            return message
        try:
            return self._into.program(camel=self._camel).numbers[id(self._shown(message))]
        except SchemaRefused:
            return code.UNKNOWN

    def no_message(self, message: Message | None, otherwise: str) -> str:
        """Why a message is not read: it is not in the schema that it is shown by; `otherwise` where there is none."""
        try:
            if message is not None:
                self._shown(message)
        except SchemaRefused as problem:
            return str(problem)
        return otherwise

    def _message(self, front: bytes, form: int) -> Message | int:
        return code.UNKNOWN


class IndexedReader(ProtobufReader):
    """Reads payloads behind Confluent's message indexes, or behind the message's name, as Apicurio's serializer writes
    it: a delimited `Ref {string name = 1}`."""

    def __init__(self, schema: ProtobufSchema, *, camel: bool = False, into: ProtobufSchema | None = None) -> None:
        """Raises SchemaRefused for a schema without a message."""
        schema.message("")
        super().__init__(schema, camel=camel, front=code.BY_INDEXES, into=into)
        self._unindexed: UnindexedReader | None = None

    @property
    def unindexed(self) -> UnindexedReader:
        """The reader of payloads that have neither message indexes nor a message's name in front."""
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
        """The reader for bare payloads of the message that these bytes of a header name. Raises Unreadable."""
        path, _ = read_indexes(indexes)
        message = message_at(self._schema.messages, path)
        if message is None:
            raise Unreadable(_no_message(path))
        return ProtobufReader(self._schema, message, camel=self._camel, into=self._into)

    def message(self, name: str) -> ProtobufReader:
        """The reader for bare payloads of a message, by its name. Raises SchemaRefused."""
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
    """Reads payloads behind AWS Glue's number: an index into all messages, those within others too, by their names."""

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
    """The types that a schema may name without declaring them. Raises SchemaRefused."""
    pool = Pool()
    referred = list(references)
    for known in _known([*referred, text]):
        TextFile(known, pool)
    for other in referred:
        _file(other, pool)
    return pool


def all_messages(messages: list[Message]) -> list[Message]:
    """These messages and those within them, each after the message around it."""
    collected = list(messages)
    for message in collected:
        collected += message.nested
    return collected


def _no_message(path: tuple[int, ...]) -> str:
    return f"its schema has no message with the indexes {', '.join(map(str, path))}"


def _shape(message: Message) -> object:
    """All that a message says about payloads and JSON; the types of its fields by their names."""
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
    """The messages of a file: its text, or the base64 of its descriptor. Raises SchemaRefused."""
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
    """Whether a schema is no text of a `.proto` file, but the base64 of a descriptor."""
    return text.isascii() and ";" not in text and "{" not in text and text != ""


def _known(texts: list[str]) -> list[str]:
    """The files of Google and Confluent that these import, by the beginnings of their paths; base64 does not show its
    own, so that it has them all."""
    from kcli.serde.protobuf.schema.known_types import FILES

    shown = "\n".join(texts)
    every = any(";" not in text for text in texts)
    some = "google/" in shown or "confluent/" in shown
    return list(FILES.values()) if every or some else []
