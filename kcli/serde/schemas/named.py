"""Decodes keys and values for display with a schema given by the user, while a registry has the schemas of their
frames.

A record's frame always names the schema with which it was written; the given schema is the reader's, and the writer's
only for records without a frame. Bytes that look like a frame by chance are not one: the registry has no schema of that
name, or it does not read the payload to its last byte, and the given schema then reads it from the first byte.
"""

from __future__ import annotations

from array import array
from functools import partial

from kcli.serde.schemas import frames
from kcli.serde.schemas.bare import OneSchema
from kcli.serde.schemas.decoder import FieldDecoder, column_of, plain_keys_of
from kcli.serde.schemas.payloads import AS_IT_IS, cells_of
from kcli.serde.schemas.readers import Into, read_rows
from kcli.serde.schemas.typed_rows import typed_rows
from kcli.serde.undecoded import Undecoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from kcli.proto.columns import Columns
    from kcli.proto.spans import Spans
    from kcli.schemas import Schema, Schemas
    from kcli.serde.schemas.labels import Labels
    from kcli.serde.schemas.readers import ReaderOf, References
    from kcli.serde.schemas.typed_rows import TypedRows


class NamedDecoder:
    """The keys, or the values, of records with one schema per topic, which `schema_of` finds; `message` is the name of
    a Protobuf message. The other arguments are those of FieldDecoder."""

    def __init__(
        self,
        kind: str,
        schemas: Schemas,
        schema_of: Callable[[str], Awaitable[tuple[Schema, References]]],
        reader_of: ReaderOf,
        message: str = "",
        *,
        every_name: bool = False,
        must_answer: bool = False,
    ) -> None:
        self.kind = kind
        self.undecoded = Undecoded()
        self.labels: Labels | None = None
        self.plain: Collection[int] = ()
        self.typed: TypedRows | None = None
        self._schema_of, self._message = schema_of, message
        self._make = partial(
            _ResolvingDecoder, kind, schemas, reader_of, every_name=every_name, must_answer=must_answer
        )
        self._reader_of = reader_of
        self._topics: dict[str, _ResolvingDecoder] = {}

    @property
    def unknown(self) -> int:
        return sum(field.unknown for field in self._topics.values())

    async def decode(self, columns: Columns, topic: str, partition: int) -> Spans | None:
        """Return the field as a new column. Raises KcliError if a given schema is not found or cannot be used, and with
        `must_answer` if the registry does not respond."""
        field = self._topics.get(topic)
        if field is None:
            schema, referred = await self._schema_of(topic)
            one = OneSchema(schema, referred, self._reader_of(schema, referred), self._message, self._reader_of)
            field = self._topics[topic] = self._make(one)
            field.undecoded = self.undecoded
            field.labels = None if self.labels is None else self.labels.others()
        spans = await field.decode(columns, topic, partition)
        self.plain, self.typed = field.plain, field.typed
        if self.labels is not None and field.labels is not None:
            self.labels.rows = field.labels.rows
        return spans


class _ResolvingDecoder(FieldDecoder):
    """Like a FieldDecoder, with every record displayed with the schema `one`, which also reads those without a
    frame."""

    def __init__(
        self,
        kind: str,
        schemas: Schemas,
        reader_of: ReaderOf,
        one: OneSchema,
        *,
        every_name: bool = False,
        must_answer: bool = False,
    ) -> None:
        super().__init__(
            kind, schemas, reader_of, every_name=every_name, must_answer=must_answer, context=one.schema.context
        )
        self._one = one
        self.into = Into(one.schema, one.referred)
        self._bare_numbers: dict[str, int] = {}

    async def decode(self, columns: Columns, topic: str, partition: int) -> Spans | None:
        starts, lengths = column_of(columns, self.kind)
        names, numbers, skips = frames.frame_names(columns, starts, lengths, self.kind, self._header)
        readers = await self._numbers(names, f"{topic}[{partition}]")
        bare = self._bare("")
        which = array("i", map([*readers, bare].__getitem__, numbers))
        reasons: dict[int, str] = {}
        if AS_IT_IS in readers or -1 in lengths:
            others = [self._instead(name) for name in names]
            skips = array("i", skips)
            for row, (reader, number) in enumerate(zip(which, numbers, strict=True)):
                if lengths[row] < 0:
                    which[row] = AS_IT_IS
                elif reader == AS_IT_IS:
                    reasons[row] = self.reason(names[number])
                    which[row] = others[number] if skips[row] or names[number][0] == frames.BUF else AS_IT_IS
                    skips[row] = 0
        spans, faults = read_rows(columns.data, starts, lengths, skips, which, self._readers)
        by_chance = [row for row, _ in faults if skips[row]]
        if by_chance:
            spans, read = self._read_without_frames(columns, by_chance, spans)
            if read:
                which, skips = array("i", which), array("i", skips)
                for row in read:
                    which[row], skips[row] = bare, 0
                faults = [(row, reason) for row, reason in faults if row not in read]
        unread = {row: reason for row, reason in reasons.items() if which[row] == AS_IT_IS}
        failed = sorted((unread | {row: reasons.get(row, reason) for row, reason in faults}).items())
        self.undecoded.add_rows(failed, columns, topic, partition)
        self.typed = typed_rows(self.kind, columns, which, skips, self._sources, faults)
        if self.kind == "key":
            self.plain = plain_keys_of(columns, which, faults)
        if self.labels is not None:
            await self.labels.read(columns, skips, which, faults, topic, by_header=True)
        return spans

    def _read_without_frames(self, columns: Columns, rows: list[int], spans: Spans) -> tuple[Spans, Collection[int]]:
        """Read rows from their first byte. Return the column with the rows that the given schema reads, and
        these rows."""
        starts, lengths = column_of(columns, self.kind)
        some_starts, some_lengths = (array("i", map(column.__getitem__, rows)) for column in (starts, lengths))
        which, skips = array("i", [self._bare("")]) * len(rows), array("i", [0]) * len(rows)
        some, faults = read_rows(columns.data, some_starts, some_lengths, skips, which, self._readers)
        failed = {rows[number] for number, _ in faults}
        read = {row: cell for row, cell in zip(rows, cells_of(some), strict=True) if row not in failed}
        if read:
            from kcli.proto.plain.gather import spans as column_of_cells

            spans = column_of_cells([read.get(row, cell) for row, cell in enumerate(cells_of(spans))])
        return spans, read.keys()

    def _bare(self, message: str) -> int:
        """Return the number of the reader for payloads without a frame, of the message that a header names. Raises
        SchemaRefused."""
        if message not in self._bare_numbers:
            one = self._one
            source = one.sources[one.number(message) if message else 0]
            self._readers.append(source.reader)
            self._sources.append(source)
            number = self._bare_numbers[message] = len(self._readers) - 1
            if self.labels is not None:
                self.labels.add(number, one.schema, one.referred, source.reader)
        return self._bare_numbers[message]

    def _instead(self, name: bytes) -> int:
        """Return the reader for rows with a name, in the frame or header, that no schema of the registry has."""
        if name in self._known or name in self._unanswered:
            return AS_IT_IS
        if name[0] != frames.BUF or self._one.of_messages is None:
            return self._bare("")
        message = name[frames.front(name) :].decode(errors="replace")
        return self._bare(message) if self._one.number(message) != AS_IT_IS else AS_IT_IS
