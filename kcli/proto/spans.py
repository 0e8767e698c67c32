"""What a Gather hands out: columns as the buffers of Arrow's format. Imported only where a Gather is used."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from kcli.proto.buffer import Buffer

    class Spans(NamedTuple):
        """A binary column as Arrow's buffers. `valid` is None where `nulls` is 0; `ends` has an int32 more."""

        rows: int
        nulls: int
        valid: Buffer | None
        ends: Buffer
        data: Buffer

    class Gathered(NamedTuple):
        """What a Gather collected: int64 offsets and timestamps (ms), int32 timestamp types (0 create, 1 append, -1
        none), and of what was asked for the binary columns; `header_ends` are a row's headers as a list column's."""

        rows: int
        offsets: Buffer
        timestamps: Buffer
        kinds: Buffer
        keys: Spans | None
        values: Spans | None
        header_ends: Buffer | None
        header_names: Spans | None
        header_values: Spans | None
else:
    Spans = namedtuple("Spans", "rows nulls valid ends data")
    Gathered = namedtuple(
        "Gathered", "rows offsets timestamps kinds keys values header_ends header_names header_values"
    )
