"""Replaces ids in Confluent's frames by those of another registry: batches in, batches of the same size out.

A frame is accepted by the decoder's rules: its schema is found, and the payload is consumed to its last byte. Anything
that only looks like a frame, such as an eight-byte integer, stays unchanged and is counted.
"""

from __future__ import annotations

from array import array
from struct import Struct

from kcli.errors import KcliError
from kcli.proto.batch import Batch
from kcli.serde.contracts.rules import PAYLOAD, rules_of
from kcli.serde.schemas.decoder import FRAME, FieldDecoder, column_of, readers_of_rows
from kcli.serde.schemas.frames import ID as ID_FORM
from kcli.serde.schemas.frames import frame_names
from kcli.serde.schemas.payloads import AS_IT_IS
from kcli.serde.schemas.readers import read_rows, reader_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from kcli.proto.columns import Columns
    from kcli.schemas import Schema, Schemas

    NewId = Callable[[str, Schema], Awaitable[int]]
    """Returns the id in the other registry for a schema of keys or values ("key", "value")."""

ID = Struct(">I")
UNCHANGED = -1


class FieldFrames(FieldDecoder):
    """The frames of keys, or of values. `new_id` is called once for each id."""

    def __init__(self, kind: str, schemas: Schemas, new_id: NewId) -> None:
        super().__init__(kind, schemas, reader_of(marks=False), must_answer=True)
        self._new_id = new_id
        self._ids: dict[bytes, int] = {}
        self._found: dict[bytes, Schema] = {}

    async def patch(self, columns: Columns, section: bytearray, at: int, topic: str, partition: int) -> int:
        """Write the new ids into the section, which begins at `at` in the indexed data; return their number. Raises
        KcliError if a schema cannot be looked up, and for a header that names one."""
        starts, lengths = column_of(columns, self.kind)
        names, numbers, skips = frame_names(columns, starts, lengths, self.kind, self._header)
        rows = {number: row for row, number in reversed([*enumerate(numbers)])}  # the first with each name
        place = f"{topic}[{partition}]"
        ids = [await self._id(name, columns, rows.get(number, -1), skips, place) for number, name in enumerate(names)]
        unread = {number: self.reason(name) for number, name in enumerate(names) if ids[number] == UNCHANGED}
        self.undecoded.add_names(unread, numbers, columns, topic, partition)
        readers = [self._known.get(name, AS_IT_IS) for name in names]
        which = readers_of_rows(readers, numbers)
        if which == array("i", [AS_IT_IS]) * len(which):
            return 0
        _, faults = read_rows(columns.data, starts, lengths, skips, which, self._readers)
        for row, _ in faults:
            numbers[row] = UNCHANGED
        self.undecoded.add_rows(faults, columns, topic, partition)
        return self._write(section, at, starts, numbers, ids)

    @staticmethod
    def _write(section: bytearray, at: int, starts: array[int], numbers: array[int], ids: list[int]) -> int:
        """Patch each row whose schema has another id."""
        put, done, before = ID.pack_into, 0, at - 1
        for start, number in zip(starts, numbers, strict=True):
            if number >= 0 and ids[number] >= 0:
                put(section, start - before, ids[number])
                done += 1
        return done

    async def _id(self, name: bytes, columns: Columns, row: int, skips: array[int], place: str) -> int:
        """Return the new id of a name in `row`, UNCHANGED for a name that is not a schema's, or that no row has. Raises
        KcliError."""
        if row < 0:  # a header of the same record names another one
            return UNCHANGED
        plain = name[0] == ID_FORM and len(name) == FRAME
        if name not in self._known:
            await self._look_up(name, place)
        if self._known.get(name, AS_IT_IS) == AS_IT_IS:
            if name not in self._known or not plain:
                return UNCHANGED
            raise KcliError(f"a {self.kind}'s schema cannot be looked up: {self.reason(name)}")
        if name not in self._ids:
            if not plain or not skips[row]:
                where = "a header" if not skips[row] else "a frame without an id of four bytes"
                raise KcliError(
                    f"offset {columns.offsets[row]}: its {self.kind} refers to its schema by {where}, which kcli does "
                    "not rewrite"
                ).hinted("schemas-keep")
            sealed = [rule for rule in rules_of(self._found[name]) if rule.type == PAYLOAD]
            if sealed:
                raise KcliError(
                    f"offset {columns.offsets[row]}: its {self.kind} is entirely encrypted "
                    f"({sealed[0].key or sealed[0].name}), so its frame cannot be checked or rewritten"
                ).hinted("schemas-keep")
            self._ids[name] = await self._new_id(self.kind, self._found[name])
        return self._ids[name]

    async def _schema(self, name: bytes) -> Schema:
        schema = self._found[name] = await super()._schema(name)
        return schema


class FrameRewriter:
    """Rewrites batches. `fields` are those of keys, of values, or both."""

    def __init__(self, fields: Sequence[FieldFrames]) -> None:
        self.fields = fields
        self.rewritten = 0

    async def batch(self, batch: Batch, topic: str, partition: int) -> Batch:
        """Return the batch with the ids of the other registry; the same one if it has none. Raises KcliError."""
        columns = batch.columns()
        size = batch.body_end - batch.body_start
        at = 0 if len(columns.data) == size else batch.body_start  # the compiled core indexes the whole buffer
        with memoryview(columns.data) as view:
            section = bytearray(view[at : at + size])
        done = sum([await field.patch(columns, section, at, topic, partition) for field in self.fields])
        if not done:
            return batch
        self.rewritten += done
        copy = batch.window(batch.first, batch.stop)
        copy.data, copy.body_start, copy.body_end, copy.packed = section, 0, len(section), False
        return copy
