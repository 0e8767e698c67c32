"""Which schema each decoded key or value was read by, and what was in front of its payload: for lines that name it."""

from __future__ import annotations

from kcli.proto.plain.json import texts
from kcli.schemas import PROTOBUF, Schema
from kcli.serde.schemas.payloads import AS_IT_IS
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Awaitable, Callable, Sequence

    from kcli.proto.columns import Columns
    from kcli.schemas import Schemas
    from kcli.serde.schemas.readers import Reader, References

    SubjectOf = Callable[[Schemas, str, Schema, References, str], Awaitable[str]]
    """The subject of a topic that a schema would have there, by its name or the message's; "" where it is not known."""


class Label(Frozen):
    """How one key or value is stored. `referred` are the schemas that its own refers to, `message` is the full name of
    its message in Protobuf. `frame` is what is in front of the payload and of message indexes; None where Confluent's
    header names the schema."""

    schema: Schema
    referred: tuple[tuple[str, str], ...] = ()
    subject: str = ""
    version: int = -1
    message: str = ""
    frame: bytes | None = None
    json: bytes = b""
    """What a line of `consume -J` says of the schema, by which `produce --value-schema from-record` finds it."""

    @property
    def name(self) -> str:
        """For people: `orders-value@3`, else the id or the GUID."""
        if self.subject:
            return f"{self.subject}@{self.version}" if self.version >= 0 else self.subject
        return self.id

    @property
    def id(self) -> str:
        """The id, else the GUID; "" for the schema of a file."""
        return str(self.schema.id) if self.schema.id >= 0 else self.schema.guid


class Labels:
    """The labels of keys, or of values: `rows` has those of the last batch, by offset."""

    def __init__(self, kind: str, schemas: Schemas | None, subject_of: SubjectOf) -> None:
        """`schemas` finds the subjects of a schema, and `subject_of` says which of them counts; without schemas a
        schema keeps the subject that it came with."""
        self.rows: dict[int, Label | None] = {}
        self._kind = kind
        self._schemas = schemas
        self._subject_of = subject_of
        self._sources: dict[int, tuple[Schema, References, Reader]] = {}
        self._confluent: set[int] = set()
        self._resolved: set[int] = set()
        self._made: dict[tuple[str, int, bytes | None, str], Label] = {}

    def others(self) -> Labels:
        """Labels of the same field by other readers."""
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
        """The schema of the reader with a number. `confluent`: what names it is an id or a GUID as Confluent's frames
        and headers have. `resolved`: payloads were written with another schema, so that what is in front of them is
        not this one's."""
        self._sources[number] = schema, referred, reader
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
        """Label the rows that were read; without `by_header` nothing in front of a payload is a frame of no bytes."""
        starts = columns.key_starts if self._kind == "key" else columns.value_starts
        lengths = columns.key_lengths if self._kind == "key" else columns.value_lengths
        left = [row for row, _ in faults]
        if AS_IT_IS in which:
            left += [row for row, number in enumerate(which) if number == AS_IT_IS]
        kinds = list(zip(which, skips, strict=True))
        if all(map(self._is_alike, set(kinds))):
            labels = {
                kind: await self._known(columns, topic, kind, starts[row], lengths[row], by_header=by_header)
                for kind, row in dict(zip(kinds, range(len(kinds)), strict=True)).items()
                if kind[0] != AS_IT_IS
            }
            self.rows = dict(zip(columns.offsets, map(labels.get, kinds), strict=True))
            for row in left:
                self.rows.pop(columns.offsets[row], None)
            return
        self.rows = {}
        gone = set(left)
        for row, kind in enumerate(kinds):
            if row not in gone:
                label = await self._known(columns, topic, kind, starts[row], lengths[row], by_header=by_header)
                self.rows[columns.offsets[row]] = label

    def _is_alike(self, kind: tuple[int, int]) -> bool:
        """Whether rows with this reader, and so many bytes in front of their payloads, have one label: what is in front
        is the name of the schema, or nothing, and no payload names its message."""
        number, skip = kind
        if number == AS_IT_IS:
            return True
        if number in self._resolved:
            return self._sources[number][0].kind != PROTOBUF
        return self._sources[number][0].kind != PROTOBUF and (not skip or number in self._confluent)

    async def _known(
        self, columns: Columns, topic: str, kind: tuple[int, int], start: int, length: int, *, by_header: bool
    ) -> Label:
        """The label of the row that begins at `start`."""
        number, skip = kind
        frame: bytes | None = bytes(columns.data[start : start + skip])
        if by_header and not frame and number in self._confluent:
            frame = None
        schema, _, reader = self._sources[number]
        if number in self._resolved:
            frame = b"" if schema.id < 0 else b"\0" + schema.id.to_bytes(4, "big")
        message = ""
        if schema.kind == PROTOBUF:
            message = reader.message_name(bytes(columns.data[start + skip : start + length]))  # type: ignore[union-attr]
        key = topic, number, frame, message
        label = self._made.get(key)
        if label is None:
            label = self._made[key] = await self._label(*key)
        return label

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
