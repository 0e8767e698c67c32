"""The schema with which each decoded key or value was read, and its frame, for lines that name it."""

from __future__ import annotations

from kcli.proto.plain.json import texts
from kcli.schemas import PROTOBUF, Schema
from kcli.serde.schemas.payloads import AS_IT_IS
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Awaitable, Callable, Collection, Sequence
    from typing import Any

    from kcli.proto.buffer import Buffer
    from kcli.proto.columns import Columns
    from kcli.schemas import Schemas
    from kcli.serde.schemas.readers import Reader, References

    SubjectOf = Callable[[Schemas, str, Schema, References, str], Awaitable[str]]
    """Returns the subject of a topic that a schema would have, by its name or the message's; "" if unknown."""


class Label(Frozen):
    """How a key or value is stored. `referred` are the schemas that its schema references, `message` is the full name
    of its Protobuf message. `frame` is what precedes the payload and message indexes; None if Confluent's header names
    the schema."""

    schema: Schema
    referred: tuple[tuple[str, str], ...] = ()
    subject: str = ""
    version: int = -1
    message: str = ""
    frame: bytes | None = None
    json: bytes = b""
    """The schema information in a line of `consume -J`, which `produce --value-schema from-record` uses."""

    @property
    def name(self) -> str:
        """Name for display: `orders-value@3`, else the id or the GUID."""
        if self.subject:
            return f"{self.subject}@{self.version}" if self.version >= 0 else self.subject
        return self.id

    @property
    def id(self) -> str:
        """The id, else the GUID; "" for a schema file."""
        return str(self.schema.id) if self.schema.id >= 0 else self.schema.guid


class Labels:
    """The labels of keys, or of values: `rows` has those of the last batch, by offset."""

    def __init__(self, kind: str, schemas: Schemas | None, subject_of: SubjectOf) -> None:
        """`schemas` finds the subjects of a schema, and `subject_of` decides which one counts; without schemas a schema
        keeps its own subject."""
        self.rows: dict[int, Label | None] = {}
        self._kind = kind
        self._schemas = schemas
        self._subject_of = subject_of
        self._sources: dict[int, tuple[Schema, References, Messages]] = {}
        self._confluent: set[int] = set()
        self._resolved: set[int] = set()
        self._made: dict[tuple[str, int, bytes | None, str], Label] = {}

    def others(self) -> Labels:
        """Return labels of the same field for other readers."""
        return Labels(self._kind, self._schemas, self._subject_of)

    def add(
        self,
        number: int,
        schema: Schema,
        referred: References,
        reader: Reader,
        *,
        confluent: bool = False,
        resolved: bool = False,
    ) -> None:
        """Add the schema of the reader with a number. `confluent`: it is named by an id or GUID in Confluent's frame or
        header. `resolved`: payloads were written with another schema, so their frame is not this one's."""
        known = self._sources.get(number)
        messages = known[2] if known is not None and known[2].reader is reader else Messages(reader)
        self._sources[number] = schema, referred, messages
        if resolved:
            self._resolved.add(number)
        if confluent:
            self._confluent.add(number)

    async def read(
        self,
        columns: Columns,
        skips: array[int],
        which: array[int],
        faults: Sequence[tuple[int, str]],
        topic: str,
        *,
        by_header: bool,
    ) -> None:
        """Label the rows that were read. `by_header`: a schema that is not named before the payload is named by
        Confluent's header; otherwise the payload is bare."""
        unread = {row for row, _ in faults}
        keys: list[Any] = list(zip(which, skips, strict=True))
        if varying := {kind for kind in set(keys) if not self._shares_one_label(kind)}:
            self._tell_apart(columns, keys, varying, unread)
        labels: dict[Any, Label] = {}
        for key in set(keys):
            if key[0] != AS_IT_IS:
                labels[key] = await self._known(columns, topic, key, keys, by_header=by_header)
        self.rows = dict(zip(columns.offsets, map(labels.get, keys), strict=True))
        if AS_IT_IS in which:
            unread.update(row for row, number in enumerate(which) if number == AS_IT_IS)
        for row in unread:
            self.rows.pop(columns.offsets[row], None)

    def _shares_one_label(self, kind: tuple[int, int]) -> bool:
        """Whether rows with this reader and frame size share a label: the frame is the name of the schema, or nothing,
        and no payload names its message."""
        number, _ = kind
        return number == AS_IT_IS or not (self._is_framed(kind) or self._sources[number][0].kind == PROTOBUF)

    def _is_framed(self, kind: tuple[int, int]) -> bool:
        """Whether rows of this kind have different frames."""
        number, skip = kind
        return bool(skip) and number not in self._confluent and number not in self._resolved

    def _tell_apart(
        self, columns: Columns, keys: list[Any], varying: set[tuple[int, int]], unread: Collection[int]
    ) -> None:
        """Add frame and message to the keys of rows whose label depends on them."""
        data, (starts, lengths) = columns.data, self._column(columns)
        rows_of: dict[tuple[int, int], list[int]] = {kind: [] for kind in varying}
        for row, kind in enumerate(keys):
            if kind in rows_of:
                rows_of[kind].append(row)
        for kind, rows in rows_of.items():
            number, skip = kind
            schema, _, messages = self._sources[number]
            framed, name = self._is_framed(kind), messages.name if schema.kind == PROTOBUF else _no_name
            made: dict[tuple[bytes, str], tuple[object, ...]] = {}
            for row in rows:
                if row in unread:
                    keys[row] = AS_IT_IS, 0
                    continue
                start = starts[row]
                front = bytes(data[start : start + skip]) if framed else b""
                apart = front, name(data, start + skip, start + lengths[row])
                keys[row] = made.get(apart) or made.setdefault(apart, (*kind, *apart))

    async def _known(self, columns: Columns, topic: str, key: Any, keys: list[Any], *, by_header: bool) -> Label:
        """Return the label of the rows with a key."""
        number, skip, *more = key
        schema = self._sources[number][0]
        frame: bytes | None
        if number in self._resolved:
            frame = b"" if schema.id < 0 else b"\0" + schema.id.to_bytes(4, "big")
        elif by_header and not skip and number in self._confluent:
            frame = None
        else:
            start = self._column(columns)[0][keys.index(key)]
            frame = bytes(columns.data[start : start + skip])
        made = topic, number, frame, more[1] if more else ""
        label = self._made.get(made)
        if label is None:
            label = self._made[made] = await self._label(*made)
        return label

    def _column(self, columns: Columns) -> tuple[array[int], array[int]]:
        if self._kind == "key":
            return columns.key_starts, columns.key_lengths
        return columns.value_starts, columns.value_lengths

    async def _label(self, topic: str, number: int, frame: bytes | None, message: str) -> Label:
        schema, referred, _ = self._sources[number]
        subject, version = schema.subject, schema.version
        if self._schemas is not None:
            own = await self._subject_of(self._schemas, topic, schema, referred, message)
            subject, version = await self._schemas.use_of(schema, own)
        label = Label(
            schema=schema, referred=tuple(referred), subject=subject, version=version, message=message, frame=frame
        )
        return label.replace(json=_json(label))


def _no_name(data: Buffer, start: int, stop: int) -> str:
    return ""


def _json(label: Label) -> bytes:
    schema, text, parts = label.schema, texts(), []
    if schema.id >= 0:
        parts.append(f'"id":{schema.id}')
    elif schema.guid:
        parts.append(f'"guid":{text(schema.guid.encode())}')
    if label.subject:
        parts.append(f'"subject":{text(label.subject.encode())}')
    if label.version >= 0:
        parts.append(f'"version":{label.version}')
    parts.append(f'"type":"{schema.kind}"')
    if label.message:
        parts.append(f'"message":{text(label.message.encode())}')
    if label.frame is not None and label.frame != b"\0" + max(schema.id, 0).to_bytes(4, "big"):
        parts.append(f'"frame":{text(label.frame)}')
    return f"{{{','.join(parts)}}}".encode()


# Which Protobuf message each payload is, usually determined by its first byte.


NUMBER = 10
"""Bytes of AWS Glue's number of a message; readers of one message need none."""
SHORT = (2, 4, 6)
"""First bytes of payloads with one, two or three message indexes; no field begins like that."""


class Messages:
    """The full names of the messages in the payloads of one reader."""

    def __init__(self, reader: Reader) -> None:
        self.reader: Any = reader
        self._indexed = hasattr(reader, "numbered")
        self._short = getattr(reader, "core", None) is not None
        self._first = ""
        self._by_front: dict[bytes, str] = {}

    def name(self, data: Buffer, start: int, stop: int) -> str:
        """Return the message of the payload at data[start:stop], which the reader has read before."""
        if self._indexed and start < stop:
            first = data[start]
            if not first:  # most payloads are the first message of their file
                if not self._first:
                    self._first = str(self.reader.message_name(b"\0"))
                return self._first
            if first in SHORT:
                front = bytes(data[start : min(start + 1 + (first >> 1), stop)])
                name = self._by_front.get(front)
                if name is None:
                    name = self._by_front[front] = str(self.reader.message_name(front))
                if name:
                    return name
        elif self._short:
            stop = min(start + NUMBER, stop)
        return str(self.reader.message_name(bytes(data[start:stop])))
