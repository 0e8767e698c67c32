"""Keys and values whose schema the user names: bare payloads, and those with a frame whose registry is not at hand."""

from __future__ import annotations

from array import array

from kcli.errors import KcliError
from kcli.proto import core
from kcli.proto.avro_code import FAULTS
from kcli.schemas import AVRO
from kcli.serde.schemas.decoder import AS_IT_IS, FRAME, Undecoded, column_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.proto.columns import Columns
    from kcli.proto.spans import Spans
    from kcli.schemas import Schema
    from kcli.serde.schemas.decoder import ReaderOf, References

    Read = tuple[Spans, list[tuple[int, int]]]


class BareDecoder:
    """The keys, or the values, of records by one schema of each topic. `schema_of` finds it, with the schemas that it
    refers to."""

    def __init__(
        self, kind: str, schema_of: Callable[[str], Awaitable[tuple[Schema, References]]], reader_of: ReaderOf
    ) -> None:
        self.kind = kind
        self.undecoded = Undecoded()
        self._schema_of = schema_of
        self._reader_of = reader_of
        self._readers: dict[str, core.AvroReader] = {}  # by topic

    async def decode(self, columns: Columns, topic: str, partition: int) -> Spans | None:
        """The field as a new column. Raises KcliError for a schema that is not found or not used: without it nothing
        that was asked for can be done."""
        reader = self._readers.get(topic)
        if reader is None:
            schema, referred = await self._schema_of(topic)
            if schema.kind != AVRO:
                raise KcliError(f"{schema.name} is of the kind {schema.kind}; --{self.kind}-schema reads Avro")
            reader = self._readers[topic] = self._reader_of(schema, referred)
        spans, faults = self._read(columns, reader)
        for row, fault in faults:
            self.undecoded.add(FAULTS[fault], (topic, partition, columns.offsets[row]))
        return spans

    def _read(self, columns: Columns, reader: core.AvroReader) -> Read:
        """Where all rows begin as frames do, read behind the frames or from the beginning, whichever fails less."""
        starts, lengths = column_of(columns, self.kind)
        which = array("i", [AS_IT_IS if length < 0 else 0 for length in lengths])
        ids = core.frame_ids(columns.data, starts, lengths)
        framed = [id >= 0 for id in ids].count(True) == len(which) - list(which).count(AS_IT_IS)
        read: Read | None = None
        for skip in (FRAME, 0) if framed else (0,):
            skips = array("i", [skip]) * len(which)
            found = core.avro_json(columns.data, starts, lengths, skips, which, [reader])
            if read is None or len(found[1]) < len(read[1]):
                read = found
            if not read[1]:
                break
        assert read is not None
        return read
