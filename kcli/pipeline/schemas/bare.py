"""A column whose schema the user names, where no registry is: bare payloads, and those behind a frame."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from kcli.pipeline.formats.avro_arrow import spans_of
from kcli.pipeline.schemas.framing.messages import BareMessage
from kcli.pipeline.schemas.framing.names import Frames, names_of
from kcli.pipeline.schemas.framing.opened import Open, opened
from kcli.pipeline.schemas.framing.ruled import with_rules
from kcli.schemas import PROTOBUF
from kcli.serde.schemas.bare import frame_skips
from kcli.serde.schemas.frames import BUF, ID

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    import pyarrow as pa

    from kcli.pipeline.schemas.sealed import Known, SealedSchemas
    from kcli.proto.spans import Gathered

    Decoded = tuple[pa.Array, dict[int, str]]

    class Field(Protocol):
        """A kind of schema: reading.RegisteredField."""

        sealed: SealedSchemas

        def reader_of(self, known: Known, name: bytes) -> Any: ...
        def read(self, cells: pa.Array, skips: array[int], which: array[int], readers: Sequence[Any]) -> Decoded: ...


FRAMED, BARE = 0, 1
"""The numbers of the readers: behind a frame, and of a bare payload."""


class BareField:
    """The keys or the values of a task's records, all by the schema that is `known`, as `kcli consume --value-schema`
    reads them. `message` names one of Protobuf: "" takes the one that Buf's header names, or the first."""

    def __init__(self, field: Field, known: Known, message: str) -> None:
        """Raises SchemaRefused."""
        self._field, self._known, self._message = field, known, message
        of_messages = known.schema.kind == PROTOBUF
        behind = field.reader_of(known, bytes([ID]) * 5)
        self._readers = [behind, BareMessage(known, message) if of_messages else behind]
        self._named: dict[bytes, int] = {}
        self._by_header = of_messages and not message
        way = with_rules(known, bytes([ID]) * 5, None) if field.sealed.rules and not of_messages else None
        self._openings: list[Open | None] = [way, way]

    def __call__(self, cells: pa.Array, got: Gathered) -> Decoded:
        """Binary cells as the columns of the reader's schema, and by row why a record has none."""
        spans = spans_of(cells)
        data, starts, lengths = spans
        which = np.where(lengths >= 0, BARE, -1).astype(np.int32)
        frames: Any = Frames(data, len(starts))
        if self._by_header and self._names(which, spans, got):
            return self._read(cells, array("i", bytes(4 * len(which))), which)
        return self._tried(cells, frame_skips(frames, starts, lengths), which)

    def alone(self, name: bytes) -> tuple[Any, Open | None]:
        """The reader of a payload without a frame, of the message that a header's name says, and what opens it."""
        number = self._number(name) if name and self._by_header else BARE
        return self._readers[number], self._openings[number]

    def _tried(self, cells: pa.Array, skips: array[int] | None, bare: Any) -> Decoded:
        """Read from the beginning; where all rows begin as frames do, behind the frames or from the beginning,
        whichever fails less."""
        none, behind = array("i", bytes(4 * len(bare))), np.where(bare < 0, bare, FRAMED).astype(np.int32)
        ways = [(none, bare)] if skips is None else [(skips, behind), (none, bare), (skips, bare)]
        best: Decoded | None = None
        for skip, which in ways:
            made, errors = self._read(cells, array("i", skip), which)
            if best is None or len(errors) < len(best[1]):
                best = made, errors
            if not errors:
                break
        assert best is not None
        return best

    def _read(self, cells: pa.Array, skips: array[int], numbers: Any) -> Decoded:
        which, closed = array("i", numbers.tobytes()), dict[int, str]()
        if self._openings[BARE] is not None:
            cells, closed = opened(cells, skips, which, self._openings)
        made, errors = self._field.read(cells, skips, which, self._readers)
        return made, errors | closed

    def _names(self, which: Any, spans: tuple[Any, Any, Any], got: Gathered) -> bool:
        """Give rows to the messages that Buf's header names; whether there are any."""
        names, numbers, _ = names_of(spans, got, self._field.sealed.field)
        readers = np.asarray([*(self._number(name) for name in names), -1], np.int32)
        named = readers[np.asarray(numbers, np.int32)]  # -1, no name, is the last one's number
        rows = named >= 0
        which[rows] = named[rows]
        return bool(rows.any())

    def _number(self, name: bytes) -> int:
        """The number of the reader of the message that Buf's header names; -1 for a name of another kind."""
        if name[:1] != bytes([BUF]):
            return -1
        if name not in self._named:
            self._readers.append(self._field.reader_of(self._known, name))
            self._openings.append(None)
            self._named[name] = len(self._readers) - 1
        return self._named[name]
