"""Values that are read by a schema with rules for reading in CEL: what the rules make of them, or the reason of the
rule that refuses one. The action DLQ is as ERROR: a reader stores no record anywhere."""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.schemas import JSON, SchemaRefused
from kcli.serde.avro.exact import BadValue
from kcli.serde.json_schema.reader import JsonReader
from kcli.serde.protobuf.indexes import read_indexes, read_name
from kcli.serde.protobuf.reader import IndexedReader, NumberedReader, ProtobufReader
from kcli.serde.rules.cel import rules_run
from kcli.serde.schemas.payloads import PayloadReader, Unreadable, read_one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.schemas import Schema
    from kcli.serde.contracts.rules import Rule
    from kcli.serde.rules.cel import Run


def ruled(
    schema: Schema, referred: Sequence[tuple[str, str]], reader: PayloadReader, rules: Sequence[Rule]
) -> PayloadReader:
    """The reader of a schema with rules run. Raises SchemaRefused for an expression that is none."""
    runs = Runs(schema, referred, rules)
    if isinstance(reader, IndexedReader):
        runs.of("")
        return RuledIndexed(reader, runs)
    return RuledReader(reader, runs.of(""), JsonReader() if schema.kind == JSON else reader)


class Runs:
    """The rules of a schema, ready to run, by the message that they are about: "" but for Protobuf."""

    def __init__(self, schema: Schema, referred: Sequence[tuple[str, str]], rules: Sequence[Rule]) -> None:
        self.schema, self._referred, self._rules = schema, referred, rules
        self._runs: dict[str, Run] = {}

    def of(self, message: str) -> Run:
        """Raises SchemaRefused."""
        if message not in self._runs:
            try:
                self._runs[message] = rules_run(self.schema, self._rules, self._referred, message)
            except UsageError as problem:
                raise SchemaRefused(str(problem)) from None
        return self._runs[message]


class Ruled(PayloadReader):
    """A reader that runs rules about payloads, and reads what they make of them."""

    def payload(self, data: bytes) -> bytes:
        """What the rules make of a payload, with what is in front of its message. Raises Unreadable."""
        raise NotImplementedError


class RuledReader(Ruled):
    """Reads values of Avro and JSON. `first` says whether a payload is one at all: a JSON schema holds for what the
    rules make of it."""

    def __init__(self, reader: PayloadReader, run: Run, first: PayloadReader) -> None:
        self._reader, self._run, self._first = reader, run, first

    def payload(self, data: bytes) -> bytes:
        read_one(self._first, data)
        return _run(self._run, data)

    def json(self, data: bytes) -> bytes:
        text = read_one(self._first, data)
        changed = _run(self._run, data)
        return text if changed == data and self._first is self._reader else read_one(self._reader, changed)


class RuledMessages(Ruled):
    """Reads messages of Protobuf, behind what its reader expects in front of them."""

    def __init__(self, reader: ProtobufReader, runs: Runs) -> None:
        self._reader, self._runs = reader, runs
        self._bare: dict[str, ProtobufReader] = {}  # by the name of a message

    @property
    def unknown(self) -> int:
        return self._reader.unknown

    def payload(self, data: bytes) -> bytes:
        name, _, front = self._first(data)
        return data[:front] + _run(self._runs.of(name), data[front:])

    def json(self, data: bytes) -> bytes:
        name, text, front = self._first(data)
        changed = _run(self._runs.of(name), data[front:])
        if changed == data[front:]:
            return text
        if name not in self._bare:
            self._bare[name] = self._reader.bare(name)
        return self._bare[name].json(changed)

    def message_name(self, data: bytes) -> str:
        return self._reader.message_name(data)

    def _first(self, data: bytes) -> tuple[str, bytes, int]:
        """The message as it is stored: its name, its JSON, and how many bytes are in front of it."""
        try:
            text = self._reader.json(data)
            return self._reader.message_name(data), text, _front(self._reader, data)
        except Unreadable:
            if not isinstance(self._reader, IndexedReader) or (data and data[0] < 8):
                raise
            found = self._reader.unindexed.fits(data)  # KafkaJS writes no message indexes
            if len(found) != 1:
                raise
            ((name, text),) = found.items()
            return name, text, 0


class RuledIndexed(RuledMessages):
    """The reader of a schema, which has a reader of each of its messages."""

    def __init__(self, reader: IndexedReader, runs: Runs) -> None:
        super().__init__(reader, runs)
        self._messages = reader

    def numbered(self) -> PayloadReader:
        return RuledMessages(self._messages.numbered(), self._runs)

    def named(self, indexes: bytes) -> PayloadReader:
        return RuledMessages(self._messages.named(indexes), self._runs)

    def message(self, name: str) -> PayloadReader:
        return RuledMessages(self._messages.message(name), self._runs)


def _front(reader: ProtobufReader, data: bytes) -> int:
    """How many bytes are before the message, in a payload that was read."""
    if isinstance(reader, NumberedReader):
        return next(at for at, byte in enumerate(data, 1) if byte < 128)
    if not isinstance(reader, IndexedReader):
        return 0
    return data[0] + 1 if read_name(data) is not None else read_indexes(data)[1]


def _run(run: Run, payload: bytes) -> bytes:
    try:
        return run(payload)
    except BadValue as bad:
        raise Unreadable(str(bad)) from None
