"""The names of the schemas of a column's rows, as `kcli consume` finds them: at the front of cells, or in headers."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kcli.proto import core
from kcli.proto.plain.avro import LONGEST_NAME
from kcli.proto.spans import Gathered, Spans
from kcli.serde.schemas.frames import GUID, ID, may_name, of_headers

if TYPE_CHECKING:
    Names = tuple[list[bytes], array[int], array[int]]
    """The names, the number of each row's name (-1 for none), and how many bytes of the row are its framing."""


class Frames:
    """What `core.frame_names` reads, without headers."""

    def __init__(self, data: Any, rows: int) -> None:
        self.data = data
        self.header_starts = self.header_counts = array("i", bytes(4 * rows))


def names_of(spans: tuple[Any, Any, Any], got: Gathered, field: str) -> Names:
    """The names of keys or values (`field`), which `spans` locate. A header goes before what is in front of a cell: it
    names the schema of a bare payload."""
    data, starts, lengths = spans
    frames: Any = Frames(data, len(starts))
    names, numbers, skips = core.frame_names(frames, starts, lengths, b"")
    if got.header_ends is None or got.header_names is None or got.header_values is None:
        return names, numbers, skips
    known = {name: number for number, name in enumerate(names)}
    for row, name in _in_headers(got.header_ends, got.header_names, got.header_values, field):
        if row < len(lengths) and lengths[row] >= 0:
            numbers[row], skips[row] = known.setdefault(name, len(known)), 0
    return list(known), numbers, skips


def _in_headers(header_ends: Any, names: Spans, values: Spans, field: str) -> list[tuple[int, bytes]]:
    """The rows whose headers name a schema, and the names; the last of a row counts."""
    from kcli.pipeline.formats.arrow import binary

    ends = np.frombuffer(header_ends, np.int32)
    titles, contents = binary(names), binary(values)
    found = _of_confluent(ends, titles, contents, f"__{field}_schema_id".encode())
    if may_name(bytes(names.data) + b"\n" + bytes(values.data), field):
        found += _of_others(ends, titles.to_pylist(), contents.to_pylist(), field)
    return found


def _of_confluent(ends: Any, titles: pa.Array, contents: pa.Array, title: bytes) -> list[tuple[int, bytes]]:
    places = np.flatnonzero(pc.equal(titles, title).to_numpy(zero_copy_only=False))
    rows = np.searchsorted(ends[1:], places, side="right").tolist()
    found = []
    for row, place in zip(rows, places.tolist(), strict=True):
        name = (contents[place].as_py() or b"")[:LONGEST_NAME]
        if (name[:1] == bytes([ID]) and len(name) == 5) or (name[:1] == bytes([GUID]) and len(name) >= 17):
            found.append((row, name))
    return found


def _of_others(
    ends: Any, titles: Sequence[bytes], contents: Sequence[bytes | None], field: str
) -> list[tuple[int, bytes]]:
    """Of Apicurio, Azure, Buf and CloudEvents."""
    found = []
    for row in np.flatnonzero(np.diff(ends)).tolist():
        start, stop = ends[row], ends[row + 1]
        texts = [title.decode("utf-8", "surrogateescape") for title in titles[start:stop]]
        name = of_headers(list(zip(texts, contents[start:stop], strict=True)), field)
        if name:
            found.append((row, name))
    return found
