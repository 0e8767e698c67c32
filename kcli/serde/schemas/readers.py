"""Creates readers for a registry's schemas, by type, and reads a column with several of them."""

from __future__ import annotations

from array import array
from collections import namedtuple

from kcli.proto import core
from kcli.proto.faults import FAULTS, NO_MESSAGE
from kcli.schemas import JSON, PROTOBUF, SchemaRefused
from kcli.serde.schemas.labels import Messages
from kcli.serde.schemas.payloads import AS_IT_IS, read_payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NamedTuple, Protocol, TypeAlias

    from kcli.proto.buffer import Buffer
    from kcli.proto.spans import Spans
    from kcli.schemas import Schema
    from kcli.serde.protobuf.reader import IndexedReader
    from kcli.serde.schemas.payloads import PayloadReader

    References = list[tuple[str, str]]
    """Names and texts of referenced schemas, each after what it needs itself."""
    Reader: TypeAlias = core.AvroReader | PayloadReader

    class ReaderOf(Protocol):
        """Creates readers: `Readers`."""

        @property
        def camel(self) -> bool: ...
        @property
        def plain(self) -> bool: ...
        def __call__(self, schema: Schema, referred: References, into: Into | None = None, /) -> Reader: ...

    class Into(NamedTuple):
        """A schema for display, and those that it references."""

        schema: Schema
        referred: References
else:
    Into = namedtuple("Into", "schema referred")


class Source:
    """How rows were read: the display schema, and `names`, which made the reader."""

    __slots__ = ("_hidden", "_messages", "names", "reader", "referred", "schema")

    def __init__(self, schema: Schema, referred: References, reader: Reader, names: ReaderOf) -> None:
        self.schema, self.referred, self.reader, self.names = schema, referred, reader, names
        self._hidden: frozenset[bytes] | None = None
        self._messages: Messages | None = None

    @property
    def hidden(self) -> frozenset[bytes]:
        """The texts that a field may have although its JSON omits it: proto3 omits an enum's first symbol."""
        if self._hidden is None:
            self._hidden = frozenset()
            if self.schema.kind == PROTOBUF:
                from kcli.serde.protobuf.reader import parsed_schema
                from kcli.serde.protobuf.schema.types import Enum

                types = parsed_schema(self.schema.text, tuple(text for _, text in self.referred)).types.values()
                self._hidden = frozenset(type.names.get(0, "").encode() for type in types if isinstance(type, Enum))
        return self._hidden

    @property
    def messages(self) -> Messages:
        """The Protobuf messages of payloads."""
        if self._messages is None:
            self._messages = Messages(self.reader)
        return self._messages


class Readers:
    """Creates readers of schemas: for Avro with logical types as texts or numbers, and unions plain or `wrapped`; for
    Protobuf with fields by the file's names or in `camel` case; for JSON schemas with validation if `validate`. With
    `marks`, encrypted parts are replaced by placeholders; with `rules`, CEL rules for reading are run."""

    def __init__(
        self,
        *,
        logical: bool = True,
        wrapped: bool = False,
        camel: bool = False,
        validate: bool = False,
        marks: bool = True,
        rules: bool = True,
    ) -> None:
        self._logical, self._wrapped, self._validate = logical, wrapped, validate
        self._marks, self._rules = marks, rules
        self.camel = camel
        self.plain = logical and not wrapped
        """Whether Avro logical types are texts, without the names of branches."""

    def __call__(self, schema: Schema, referred: References, into: Into | None = None, /) -> Reader:
        """Return the reader of payloads written with `schema`, displayed with the schema `into`. Raises
        SchemaRefused."""
        if into is not None and into.schema.kind != schema.kind:
            raise SchemaRefused(f"{schema.name} is {schema.kind}, but {into.schema.name} is {into.schema.kind}")
        reader = self._read(schema, referred, into or Into(schema, referred))
        return _heeded(schema, referred, reader, rules=self._rules) if self._marks and schema.rule_set else reader

    def _read(self, schema: Schema, referred: References, into: Into) -> Reader:
        texts, others = [text for _, text in referred], [text for _, text in into.referred]
        if schema.kind == PROTOBUF:
            from kcli.serde.protobuf.reader import IndexedReader, parsed_schema

            shown = parsed_schema(into.schema.text, tuple(others))
            return IndexedReader(parsed_schema(schema.text, tuple(texts)), camel=self.camel, into=shown)
        if schema.kind == JSON:
            from kcli.serde.json_schema.reader import JsonReader

            if not self._validate:
                return JsonReader()
            from kcli.serde.json_schema.validate import JsonValidator

            return JsonReader(JsonValidator(into.schema.text, into.referred))
        from kcli.serde.avro.parse import parse
        from kcli.serde.avro.program import avro_reader

        writer = parse(schema.text, texts)
        reader = None if into.schema is schema else parse(into.schema.text, others)
        if self._wrapped and writer.kind == "bytes" and (reader is None or reader.kind == "bytes"):
            from kcli.serde.json_schema.avro import LatinReader

            return LatinReader()
        return avro_reader(writer, reader, logical=self._logical, wrapped=self._wrapped)


reader_of = Readers


def _heeded(schema: Schema, referred: References, reader: Reader, *, rules: bool) -> Reader:
    """Return the reader of a schema with its rules."""
    if rules and 'READ"' in schema.rule_set:
        from kcli.serde.contracts.rules import check_cel, reading

        if run := reading(schema):
            check_cel(schema, run, SchemaRefused)
            from kcli.serde.rules.read import ruled

            reader = ruled(schema, referred, reader, run)
    if "ENCRYPT" not in schema.rule_set:
        return reader
    from kcli.serde.contracts.encrypted import marked

    return marked(schema, referred, reader)


def indexed(schema: Schema, reader: Reader) -> IndexedReader | None:
    """Return the reader of a Protobuf schema, with a reader for each message; None for other schemas, and for one whose
    payloads are encrypted."""
    candidate: Any = reader
    return candidate if schema.kind == PROTOBUF and hasattr(reader, "numbered") else None


def unknown_fields(reader: Reader) -> int:
    """Return the number of fields that a reader skipped because its schema does not have them; Protobuf only."""
    return getattr(reader, "unknown", 0)


def read_rows(
    data: Buffer,
    starts: array[int],
    lengths: array[int],
    skips: array[int],
    which: array[int],
    readers: Sequence[Reader],
) -> tuple[Spans, list[tuple[int, str]]]:
    """Like `core.payload_json`, with readers of all kinds and reasons as sentences."""
    cores: list[Any] = [
        reader if isinstance(reader, core.AvroReader) else getattr(reader, "core", None) for reader in readers
    ]
    others = None in cores
    in_core = (
        array("i", [AS_IT_IS if number >= 0 and cores[number] is None else number for number in which])
        if others
        else which
    )
    done, reasons = None, list[tuple[int, str]]()
    chosen: list[Any] = []
    if not others or max(in_core, default=AS_IT_IS) > AS_IT_IS:
        done, faults = core.payload_json(data, starts, lengths, skips, in_core, cores)
        reasons = [
            (row, _reason(readers[which[row]], fault, data, starts[row] + skips[row], starts[row] + lengths[row]))
            for row, fault in faults
        ]
        chosen = _without_indexes(data, starts, lengths, skips, which, readers, [row for row, _ in faults])
        if not others and not chosen:
            return done, reasons
    chosen = chosen or [None] * len(which)
    if others:
        chosen = [readers[n] if n >= 0 and cores[n] is None else held for n, held in zip(which, chosen, strict=True)]
    spans, more = read_payloads(data, starts, lengths, skips, chosen, done)
    before = dict(reasons)  # if a row was read in another way, that way counts
    left = {row: reason or before[row] for row, reason in more}
    kept = [(row, reason) for row, reason in reasons if chosen[row] is None]
    return spans, sorted([*kept, *left.items()])


def _without_indexes(
    data: Buffer,
    starts: array[int],
    lengths: array[int],
    skips: array[int],
    which: array[int],
    readers: Sequence[Any],
    failed: Sequence[int],
) -> list[Any]:
    """Return by row the Protobuf reader for rows that may lack message indexes and could not be read with them; empty
    for none. A row that begins with a byte below 8 cannot be a field."""
    chosen: list[Any] = []
    for row in failed:
        reader, empty = readers[which[row]], lengths[row] <= skips[row]
        if hasattr(reader, "unindexed") and (empty or data[starts[row] + skips[row]] >= 8):
            chosen = chosen or [None] * len(which)
            chosen[row] = reader.unindexed
    return chosen


def _reason(reader: Any, fault: int, data: Buffer, start: int, stop: int) -> str:
    """Return the text of a fault, naming a message that a schema does not have."""
    return str(reader.reason(fault, bytes(data[start:stop]))) if fault == NO_MESSAGE else FAULTS[fault]
