"""Decodes keys and values with a schema given by the user, without a registry: bare and framed payloads."""

from __future__ import annotations

from array import array

from kcli.proto import core
from kcli.schemas import SchemaRefused
from kcli.serde.schemas.decoder import FRAME, column_of
from kcli.serde.schemas.frames import message_names
from kcli.serde.schemas.payloads import AS_IT_IS
from kcli.serde.schemas.readers import Source, indexed, read_rows, unknown_fields
from kcli.serde.schemas.typed_rows import typed_rows
from kcli.serde.undecoded import Undecoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from kcli.proto.columns import Columns
    from kcli.proto.spans import Spans
    from kcli.schemas import Schema
    from kcli.serde.protobuf.reader import IndexedReader
    from kcli.serde.schemas.labels import Labels
    from kcli.serde.schemas.readers import Reader, ReaderOf, References
    from kcli.serde.schemas.typed_rows import TypedRows

    Read = tuple[Spans, list[tuple[int, str]]]


class OneSchema:
    """The readers of a topic's schema: `behind` a frame, of a `bare` payload, and of each message that a header names.
    Each has one Source for all batches, because conditions are planned once per Source."""

    def __init__(self, schema: Schema, referred: References, behind: Reader, message: str, reader_of: ReaderOf) -> None:
        """Raises SchemaRefused."""
        self.schema = schema
        self.referred = referred
        self.behind = behind
        self._reader_of = reader_of
        of_messages = indexed(schema, behind)
        self.bare: Reader = behind if of_messages is None else of_messages.message(message)
        self.of_messages: IndexedReader | None = None if message else of_messages
        self.readers: list[Reader] = [self.bare]
        self.sources = [self._source(self.bare)]
        self.source_behind = self.sources[0] if behind is self.bare else self._source(behind)
        self.numbers: dict[str, int] = {}
        self.reasons: dict[str, str] = {}
        """Why a message has no reader."""

    def number(self, message: str) -> int:
        """Return the index in `readers` of a message's reader, AS_IT_IS if the schema does not have the message."""
        if message not in self.numbers:
            assert self.of_messages is not None
            try:
                self.readers.append(self.of_messages.message(message))
                self.sources.append(self._source(self.readers[-1]))
                self.numbers[message] = len(self.readers) - 1
            except SchemaRefused as problem:
                self.numbers[message], self.reasons[message] = AS_IT_IS, str(problem)
        return self.numbers[message]

    def _source(self, reader: Reader) -> Source:
        return Source(self.schema, self.referred, reader, self._reader_of)


class BareDecoder:
    """Decodes the keys, or the values, of records with one schema per topic. `schema_of` finds it, with the schemas
    that it references; `message` is the name of a Protobuf message: "" means the message in Buf's header, or the first
    of the file."""

    def __init__(
        self,
        kind: str,
        schema_of: Callable[[str], Awaitable[tuple[Schema, References]]],
        reader_of: ReaderOf,
        message: str = "",
    ) -> None:
        self.kind = kind
        self.undecoded = Undecoded()
        self.unknown = 0
        self._schema_of = schema_of
        self._reader_of = reader_of
        self._message = message
        self.labels: Labels | None = None
        self.plain: Collection[int] = ()
        self.typed: TypedRows | None = None
        self._topics: dict[str, OneSchema] = {}

    async def decode(self, columns: Columns, topic: str, partition: int) -> Spans | None:
        """Return the field as a new column. Raises KcliError if a schema is not found or cannot be used, because then
        nothing can be decoded."""
        known = self._topics.get(topic)
        if known is None:
            schema, referred = await self._schema_of(topic)
            known = OneSchema(schema, referred, self._reader_of(schema, referred), self._message, self._reader_of)
            self._topics[topic] = known
        if known.of_messages is not None:
            named = message_names(columns, column_of(columns, self.kind)[1], self.kind)
            if named:
                return await self._by_headers(columns, known, named, topic, partition)
        which = array("i", [AS_IT_IS if length < 0 else 0 for length in column_of(columns, self.kind)[1]])
        (spans, faults), skips, source = self._read(columns, which, known)
        self.undecoded.add_rows(faults, columns, topic, partition)
        self.plain = {columns.offsets[row] for row, _ in faults}
        self.typed = typed_rows(self.kind, columns, which, skips, [source], faults)
        if self.labels is not None:
            self.labels.add(0, known.schema, known.referred, source.reader)
            await self.labels.read(columns, skips, which, faults, topic, by_header=False)
        return spans

    async def _by_headers(
        self, columns: Columns, known: OneSchema, named: dict[int, str], topic: str, partition: int
    ) -> Spans:
        """Decode a batch in which headers name messages of the schema; the other rows are bare."""
        starts, lengths = column_of(columns, self.kind)
        skips = array("i", [0]) * len(starts)
        which = array("i", [AS_IT_IS if length < 0 else 0 for length in lengths])
        for row, message in named.items():
            which[row] = known.number(message)
        before = sum(map(unknown_fields, known.readers))
        spans, faults = read_rows(columns.data, starts, lengths, skips, which, known.readers)
        self.unknown += sum(map(unknown_fields, known.readers)) - before
        missing = [(row, known.reasons[message]) for row, message in named.items() if which[row] == AS_IT_IS]
        self.undecoded.add_rows(sorted([*faults, *missing]), columns, topic, partition)
        self.plain = {columns.offsets[row] for row, _ in (*faults, *missing)}
        self.typed = typed_rows(self.kind, columns, which, skips, known.sources, faults)
        if self.labels is not None:
            for number, reader in enumerate(known.readers):
                self.labels.add(number, known.schema, known.referred, reader)
            await self.labels.read(columns, skips, which, faults, topic, by_header=True)
        return spans

    def _read(self, columns: Columns, which: array[int], known: OneSchema) -> tuple[Read, array[int], Source]:
        """Decode rows that all begin like frames, either after the frames or from the beginning, whichever
        fails less."""
        starts, lengths = column_of(columns, self.kind)
        none = array("i", [0]) * len(starts)
        skips = frame_skips(columns, starts, lengths)
        best: tuple[Read, array[int], Source] | None = None
        unknown = 0
        bare, behind = known.sources[0], known.source_behind
        ways = [(none, bare)]
        if skips is not None:
            ways = [(skips, bare), (none, bare)] if behind is bare else [(skips, behind), (none, bare), (skips, bare)]
        for skip, source in ways:
            before = unknown_fields(source.reader)
            result = read_rows(columns.data, starts, lengths, skip, which, [source.reader])
            if best is None or len(result[1]) < len(best[0][1]):
                best, unknown = (result, skip, source), unknown_fields(source.reader) - before
            if not best[0][1]:
                break
        assert best is not None
        self.unknown += unknown
        return best


def frame_skips(columns: Columns, starts: array[int], lengths: array[int]) -> array[int] | None:
    """Return the size of each row's frame, if all rows begin like frames; else None."""
    nulls = lengths.tolist().count(-1)
    if core.frame_ids(columns.data, starts, lengths).tolist().count(-1) == nulls:
        return array("i", [FRAME]) * len(lengths)
    _, _, skips = core.frame_names(columns, starts, lengths, b"")  # a GUID, as for AWS Glue, or Avro's single objects
    return skips if skips.count(0) == nulls else None
