"""The results of a Gather: columns as buffers of Arrow's format. Imported only with a Gather."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from kcli.proto.buffer import Buffer

    class Spans(NamedTuple):
        """A binary column as Arrow buffers. `valid` is None if `nulls` is 0; `ends` has one int32 more than rows."""

        rows: int
        nulls: int
        valid: Buffer | None
        ends: Buffer
        data: Buffer

    class Gathered(NamedTuple):
        """The result of a Gather: int64 offsets and timestamps (ms), int32 timestamp types (0 create, 1 append, -1
        none), and the requested binary columns; `header_ends` are the offsets of a list column of headers."""

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
