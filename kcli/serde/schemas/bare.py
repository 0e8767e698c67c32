"""Keys and values whose schema the user names: bare payloads, and those with a frame whose registry is not at hand."""

from __future__ import annotations

from array import array

from kcli.proto import core
from kcli.serde.schemas.decoder import FRAME, Undecoded, column_of
from kcli.serde.schemas.payloads import AS_IT_IS
from kcli.serde.schemas.readers import indexed, read_rows, unknown_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.proto.columns import Columns
    from kcli.proto.spans import Spans
    from kcli.schemas import Schema
    from kcli.serde.schemas.labels import Labels
    from kcli.serde.schemas.readers import Reader, ReaderOf, References

    Read = tuple[Spans, list[tuple[int, str]]]


class BareDecoder:
    """The keys, or the values, of records by one schema of each topic. `schema_of` finds it, with the schemas that it
    refers to; `message` is the name of a Protobuf message, "" for the first of its file."""

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
        self._readers: dict[str, tuple[Reader, Reader, Schema, References]] = {}
        """By topic: the reader behind a frame, that of a bare payload, the schema and those that it refers to."""

    async def decode(self, columns: Columns, topic: str, partition: int) -> Spans | None:
        """The field as a new column. Raises KcliError for a schema that is not found or not used: without it nothing
        that was asked for can be done."""
        of_topic = self._readers.get(topic)
        if of_topic is None:
            schema, referred = await self._schema_of(topic)
            reader = self._reader_of(schema, referred)
            of_messages = indexed(schema, reader)
            bare = reader if of_messages is None else of_messages.message(self._message)
            of_topic = self._readers[topic] = reader, bare, schema, referred
        (spans, faults), skips, reader = self._read(columns, *of_topic[:2])
        self.undecoded.add_rows(faults, columns, topic, partition)
        if self.labels is not None:
            self.labels.add(0, *of_topic[2:], reader)
            which = array("i", [AS_IT_IS if length < 0 else 0 for length in column_of(columns, self.kind)[1]])
            await self.labels.read(columns, skips, which, faults, topic, by_header=False)
        return spans

    def _read(self, columns: Columns, behind: Reader, bare: Reader) -> tuple[Read, array[int], Reader]:
        """Where all rows begin as frames do, read behind the frames or from the beginning, whichever fails less."""
        starts, lengths = column_of(columns, self.kind)
        none = array("i", [0]) * len(starts)
        which = array("i", [AS_IT_IS if length < 0 else 0 for length in lengths])
        ids = core.frame_ids(columns.data, starts, lengths)
        rows = len(which) - list(which).count(AS_IT_IS)
        framed = [id >= 0 for id in ids].count(True) == rows
        skips = array("i", [FRAME if framed else 0]) * len(which)
        if not framed:  # all may begin with a GUID, as AWS Glue's do, or as Avro's single objects
            _, _, skips = core.frame_names(columns, starts, lengths, b"")
            framed = len(skips) - skips.count(0) == rows
        best: tuple[Read, array[int], Reader] | None = None
        unknown = 0
        behind_frames = (
            ((skips, behind), (none, bare), (skips, bare)) if behind is not bare else ((skips, bare), (none, bare))
        )
        for skip, reader in behind_frames if framed else ((none, bare),):
            before = unknown_fields(reader)
            result = read_rows(columns.data, starts, lengths, skip, which, [reader])
            if best is None or len(result[1]) < len(best[0][1]):
                best, unknown = (result, skip, reader), unknown_fields(reader) - before
            if not best[0][1]:
                break
        assert best is not None
        self.unknown += unknown
        return best
