"""Decodes keys and values to JSON with the schemas that their frames name: batches in, batches out.

In Confluent's format a header names the schema of a bare payload, or the first bytes do, by id or GUID. A frame is only
accepted if its schema is found and the payload is consumed to its last byte. Anything else stays as stored, with the
reason counted, and never ends a run, because keys may begin like a frame by chance. If most of the first such keys of a
partition are not decoded, later ones are not treated as frames (`FRAMES`). If a decision depends on decoded data, a
registry that does not respond ends the run (`must_answer`).
"""

from __future__ import annotations

import time
from array import array
from collections import defaultdict

from kcli.errors import AuthError, ConnectError, DeadlineExceeded, DecodeError, KcliError, UsageError
from kcli.schemas import SchemaNotFound, SchemaRefused
from kcli.serde.schemas import frames
from kcli.serde.schemas.decoded_batch import replaced
from kcli.serde.schemas.frames import frame_names
from kcli.serde.schemas.payloads import AS_IT_IS, Unreadable
from kcli.serde.schemas.readers import Source, read_rows, unknown_fields
from kcli.serde.schemas.typed_rows import typed_rows
from kcli.serde.undecoded import Undecoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Protocol

    from kcli.proto.batch import Batch
    from kcli.proto.columns import Columns
    from kcli.proto.spans import Spans
    from kcli.schemas import Schema, Schemas
    from kcli.serde.schemas.labels import Labels
    from kcli.serde.schemas.readers import Into, Reader, ReaderOf
    from kcli.serde.schemas.typed_rows import TypedRows

    class Field(Protocol):
        """A decoder of the keys, or of the values."""

        kind: str
        labels: Labels | None
        """Labels of the records decoded last; None if no line names schemas."""
        plain: Collection[int]
        """Offsets of the keys read last that stayed as stored; unused for values."""
        typed: TypedRows | None
        """The types of what was read last, for conditions; None without a schema."""

        @property
        def undecoded(self) -> Undecoded: ...
        @property
        def unknown(self) -> int:
            """Number of fields read that their schema does not have."""

        async def decode(self, columns: Columns, topic: str, partition: int) -> Spans | None: ...


FRAME = 5  # bytes of Confluent's frame: 0, and the schema id
TOO_MANY = "more schema ids than the registry has"
HEADER = b"__%s_schema_id"
"""Confluent's header with the schema of a bare key or value."""
GUESSES = 32
"""Number of failed look-ups after which further names are no longer looked up, because they are not names."""
ABSENT = 60.0
"""Seconds after which a failed look-up no longer counts."""
FRAMES = 100
"""Keys of a partition that begin with a frame, of which half have to be decoded. Otherwise they are integers or other
bytes, and a later one that a schema happens to read would be shown wrongly."""
REASONS = 1000
"""Number of cached reasons: names may be bytes of records, and so as numerous as records."""


def column_of(columns: Columns, kind: str) -> tuple[array[int], array[int]]:
    """Starts and lengths of the keys, or of the values."""
    if kind == "key":
        return columns.key_starts, columns.key_lengths
    return columns.value_starts, columns.value_lengths


def plain_keys_of(columns: Columns, which: array[int], faults: Sequence[tuple[int, str]]) -> set[int]:
    """Return the offsets of non-null keys that no reader read; `which` are the numbers of their readers."""
    offsets = columns.offsets
    left = {offsets[row] for row, _ in faults}
    if AS_IT_IS in which:
        read = zip(offsets, which, columns.key_lengths, strict=True)
        left.update(offset for offset, reader, length in read if reader == AS_IT_IS and length >= 0)
    return left


class FieldDecoder:
    """Decodes the keys, or the values, of records. `reader_of` creates a reader of a schema. `every_name`: look up each
    name, however many failed, because a filter must see everything that can be decoded. With `must_answer`, a registry
    that does not respond ends the run, because its response would affect a decision."""

    def __init__(
        self,
        kind: str,
        schemas: Schemas,
        reader_of: ReaderOf,
        *,
        every_name: bool = False,
        must_answer: bool = False,
        context: str = "",
    ) -> None:
        """`context` is the registry's context of the ids in frames."""
        self.kind = kind
        self._context = context
        self._every_name = every_name or must_answer
        self._frames: dict[tuple[str, int], tuple[int, int]] = {}  # of keys, by partition: number seen, number decoded
        self._must_answer = must_answer
        self.undecoded = Undecoded()
        self.labels: Labels | None = None
        self.plain: Collection[int] = ()
        self.typed: TypedRows | None = None
        self.schemas = schemas
        self._reader_of = reader_of
        self._header = HEADER % kind.encode()
        self._readers: list[Reader] = []
        self._sources: list[Source] = []  # of the readers, by their numbers
        self.first: Schema | None = None
        """The first schema that was found."""
        self._known: dict[bytes, int] = {}  # number of a reader by its schema's name: 0 and an id, 1 and a GUID
        self._reasons: dict[bytes, str] = {}  # why a name has none
        self._unanswered: set[bytes] = set()  # names for which the registry did not respond
        self.into: Into | None = None
        """The schema for display of all records; None: each one's own."""
        # failed look-ups with their time, by first byte
        self._missing: defaultdict[int, dict[bytes, float]] = defaultdict(dict)

    async def decode(self, columns: Columns, topic: str, partition: int) -> Spans | None:
        """Return the field as a new column; None if nothing was decoded. With `must_answer` it raises KcliError."""
        starts, lengths = column_of(columns, self.kind)
        names, numbers, skips = frame_names(columns, starts, lengths, self.kind, self._header)
        if (topic, partition) in self.undecoded.unframed:
            numbers = _unframed(numbers, skips, 0)
            if max(numbers, default=-1) < 0:
                return None
        readers = await self._numbers(names, f"{topic}[{partition}]")
        which = readers_of_rows(readers, numbers)
        spans, faults = None, list[tuple[int, str]]()
        unread_rows = array("i", [AS_IT_IS]) * len(which)  # compared as blocks of memory, where max() makes objects
        if which != unread_rows:
            spans, faults = read_rows(columns.data, starts, lengths, skips, which, self._readers)
        if self.kind == "key" and not self._every_name and max(numbers, default=-1) >= 0:
            last = self._last_frame((topic, partition), names, numbers, skips, which, {row for row, _ in faults})
            if last is not None:
                self.undecoded.unframed[topic, partition] = columns.offsets[last], lengths[last]
                numbers, before = _unframed(numbers, skips, last + 1), which
                which = readers_of_rows(readers, numbers)
                if which != before:
                    spans, faults = read_rows(columns.data, starts, lengths, skips, which, self._readers)
        if AS_IT_IS in readers:
            unread = {number: self.reason(names[number]) for number, reader in enumerate(readers) if reader == AS_IT_IS}
            self.undecoded.add_names(unread, numbers, columns, topic, partition)
        self.typed = None
        if which == unread_rows:
            return None
        self.typed = typed_rows(self.kind, columns, which, skips, self._sources, faults)
        self.undecoded.add_rows(faults, columns, topic, partition)
        if self.kind == "key":  # only filters on keys need it
            self.plain = plain_keys_of(columns, which, faults)
        if self.labels is not None:
            await self.labels.read(columns, skips, which, faults, topic, by_header=True)
        return spans

    def _last_frame(
        self,
        place: tuple[str, int],
        names: list[bytes],
        numbers: array[int],
        skips: array[int],
        which: array[int],
        failed: set[int],
    ) -> int | None:
        """Count the first frames of a partition's keys, and how many were decoded. Return the row of the last one
        counted if fewer than half were decoded."""
        count, read = self._frames.get(place, (0, 0))
        for row, (number, skip) in enumerate(zip(numbers, skips, strict=True)) if count < FRAMES else ():
            if number < 0 or not skip or names[number] in self._unanswered:
                continue
            count, read = count + 1, read + (which[row] != AS_IT_IS and row not in failed)
            if count == FRAMES:
                self._frames[place] = count, read
                return row if 2 * read < FRAMES else None
        self._frames[place] = count, read
        return None

    async def _numbers(self, names: list[bytes], place: str) -> list[int]:
        """Return the numbers of the readers for these names, AS_IT_IS for one without a reader."""
        return [self._known[name] if name in self._known else await self._look_up(name, place) for name in names]

    @property
    def unknown(self) -> int:
        return sum(map(unknown_fields, self._readers))

    def reason(self, name: bytes) -> str:
        """Return why a name has no reader."""
        return self._reasons.get(name, TOO_MANY)

    async def _look_up(self, name: bytes, place: str) -> int:
        """Return the number of the reader for a name, or the substitute. A response that may change is requested again
        with the next batch: `Schemas` caches responses, including errors, for as long as they are valid."""
        missing = self._missing[name[0]]
        most = max(GUESSES, 4 * len(self._readers))
        while len(missing) >= most and next(iter(missing.values())) <= time.monotonic() - ABSENT:
            del missing[next(iter(missing))]  # the oldest
        if len(missing) >= most and name not in missing and not self._every_name:
            return AS_IT_IS
        try:
            reader = self._known[name] = await self._reader(await self._schema(name), name)
        except KcliError as problem:
            absent = is_absent(problem, name)
            if self._must_answer and not absent and not isinstance(problem, DecodeError | SchemaRefused):
                raise no_answer(problem, f"{place}: a {self.kind}'s schema") from problem
            if len(self._reasons) < REASONS:
                self._reasons[name] = str(problem)
            self._unanswered.discard(name)
            if not absent and not isinstance(problem, DecodeError | SchemaRefused):
                self._unanswered.add(name)
                self.undecoded.unanswered[self.reason(name)] = problem.exit_code
            if isinstance(problem, AuthError):
                self.undecoded.denied = problem.exit_code
            if isinstance(problem, DecodeError | SchemaRefused):
                self._known[name] = AS_IT_IS
                self.undecoded.refused.add(self.reason(name))
            elif absent and len(missing) < most:
                missing[name] = time.monotonic()
            return AS_IT_IS
        self._reasons.pop(name, None)
        self._unanswered.discard(name)
        return reader

    async def _schema(self, name: bytes) -> Schema:
        return await schema_named(self.schemas, name, self._context)

    async def _reader(self, schema: Schema, framing: bytes) -> int:
        needed = await self.schemas.references(schema) if schema.references else []
        referred = [(name, imported.text) for name, imported in needed]
        self.first = self.first or schema
        into = None if self.into is None or self.into.schema.text == schema.text else self.into
        reader = self._reader_of(schema, referred, into)
        try:
            self._readers.append(frames.reader_behind(framing, schema, reader, [text for _, text in referred]))
        except Unreadable as problem:
            raise DecodeError(f"{schema.name}: {problem}") from None
        number = len(self._readers) - 1
        self._sources.append(Source(*(self.into or (schema, referred)), self._readers[number], self._reader_of))
        if self.labels is not None:
            confluent = framing[0] in (frames.ID, frames.GUID)
            shown, needs = self.into or (schema, referred)
            self.labels.add(number, shown, needs, self._readers[number], confluent=confluent, resolved=into is not None)
        return number


def readers_of_rows(readers: list[int], numbers: array[int]) -> array[int]:
    """Return the reader of each row by the number of its name, AS_IT_IS for a row without one."""
    found = [*readers, AS_IT_IS]
    if not numbers or numbers == array("i", numbers[:1]) * len(numbers):  # one schema, the usual case
        return array("i", [found[number] for number in numbers[:1]]) * len(numbers)
    return array("i", map(found.__getitem__, numbers))


def _unframed(numbers: array[int], skips: array[int], start: int) -> array[int]:
    """Return the numbers without names that precede a payload, from a row on."""
    later = [-1 if skip else number for number, skip in zip(numbers[start:], skips[start:], strict=True)]
    return array("i", [*numbers[:start], *later])


def is_absent(problem: KcliError, name: bytes) -> bool:
    """Whether the registry responded that it has no schema of that name; some have no GUIDs at all."""
    fault = isinstance(problem, ConnectError | DeadlineExceeded | UsageError | DecodeError | SchemaRefused)
    return isinstance(problem, SchemaNotFound) or (name[0] == frames.GUID and not fault)


def no_answer(problem: KcliError, what: str) -> KcliError:
    """Return the error for a registry that did not respond about a schema, with the exit code of the cause."""
    error = KcliError(f"{what} cannot be looked up: {problem}")
    error.exit_code = problem.exit_code
    return error


async def schema_named(schemas: Schemas, name: bytes, context: str = "") -> Schema:
    """Return the schema for a frame's name; an id is looked up in `context`. Raises the errors of `Schemas`."""
    form, id = name[0], name[1 : frames.front(name)]
    if form in (frames.GUID, frames.AZURE):
        return await schemas.by_guid(frames.uuid_of(id))
    if form == frames.GLUE:
        return await schemas.by_guid(frames.uuid_of(id[1:]))
    if form == frames.SINGLE:
        return await schemas.by_fingerprint(id[:0:-1].hex())
    if form | 32 == frames.HASH:
        return await schemas.by_content_hash(id[2:].decode())
    if form | 32 == frames.COORDINATES:
        group, artifact, version = id[2:].decode(errors="replace").split("\0")
        return await schemas.by_coordinates(group, artifact, version)
    if form == frames.BUF:
        commit, message = id[2:].decode(errors="replace").split("\0")
        return await schemas.by_message(message, commit)
    if form == frames.EVENT:
        return await schemas.by_dataschema(id[2:].decode(errors="replace"))
    number = int.from_bytes(id, "big")
    if form in b"gG" or (len(id) == 8 and form == frames.ID):
        return await schemas.by_global_id(number)
    return await schemas.by_id(number, context=context)


class SchemaDecoder:
    """Decodes batches. `fields` are the decoders: of keys, of values, or both."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self.fields = fields

    async def batch(self, batch: Batch, topic: str, partition: int) -> Batch:
        """Return the batch with decoded keys and values; the same one if nothing was decoded, and if it is broken: then
        its reader gets the error."""
        try:
            columns = batch.columns()
        except DecodeError:
            return batch
        spans = {field.kind: await field.decode(columns, topic, partition) for field in self.fields}
        keys, values = spans.get("key"), spans.get("value")
        if keys is None and values is None:
            return batch
        decoded = replaced(batch, keys, values)
        decoded.typed = {field.kind: field.typed for field in self.fields if field.typed is not None}
        if keys is not None:
            decoded.plain_keys = next(field.plain for field in self.fields if field.kind == "key")
        decoded.labels = {
            field.kind: field.labels.rows
            for field in self.fields
            if field.labels is not None and spans[field.kind] is not None
        }
        return decoded
