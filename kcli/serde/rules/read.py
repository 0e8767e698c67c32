"""Applies CEL rules for reading to values: the result, or the reason of a rule that rejects the value. The action DLQ
counts as ERROR, because kcli stores no rejected records."""

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
    """Return the reader of a schema with its rules. Raises SchemaRefused for an invalid expression."""
    runs = Runs(schema, referred, rules)
    if isinstance(reader, IndexedReader):
        runs.of("")
        return RuledIndexed(reader, runs)
    return RuledReader(reader, runs.of(""), JsonReader() if schema.kind == JSON else reader)


class Runs:
    """The rules of a schema, ready to run, by message: "" except for Protobuf."""

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
    """A reader that runs rules on payloads, and reads the result."""

    def payload(self, data: bytes) -> bytes:
        """Return a payload after the rules, including what precedes its message. Raises Unreadable."""
        raise NotImplementedError


class RuledReader(Ruled):
    """Reads values of Avro and JSON. `first` checks whether a payload is valid at all: a JSON schema applies to the
    result of the rules."""

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
    """Reads Protobuf messages, after what its reader expects before them."""

    def __init__(self, reader: ProtobufReader, runs: Runs) -> None:
        self._reader, self._runs = reader, runs
        self._bare: dict[str, ProtobufReader] = {}  # by message name

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
        """Return the stored message: its name, its JSON, and the number of bytes before it."""
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
    """The reader of a schema, with a reader for each of its messages."""

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
    """Return the number of bytes before the message, in a payload that was read."""
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
