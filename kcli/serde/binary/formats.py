"""Decodes a column of keys or values in a format without a schema."""

from __future__ import annotations

from functools import partial

from kcli.serde.formats import reader_of_format
from kcli.serde.json_text import msgpack_json, url_json
from kcli.serde.schemas.decoder import column_of
from kcli.serde.schemas.payloads import Unreadable
from kcli.serde.undecoded import Undecoded
from kcli.value_formats import PLAIN, WHOLE, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from kcli.proto.columns import Columns
    from kcli.proto.spans import Spans
    from kcli.serde.schemas.labels import Labels
    from kcli.serde.schemas.typed_rows import TypedRows

    Read = Callable[[bytes, bytes | None, str], bytes]
    """Returns a field's JSON from its bytes, the record's key and its topic. Raises Unreadable."""


class FormatDecoder:
    """Decodes the keys, or the values, of records in one format."""

    def __init__(self, kind: str, name: str) -> None:
        self.kind = kind
        self.undecoded = Undecoded()
        self.unknown = 0
        self.labels: Labels | None = None
        self.plain: Collection[int] = ()
        self.typed: TypedRows | None = None
        self._read = _read_of(kind, name)

    async def decode(self, columns: Columns, topic: str, partition: int) -> Spans | None:
        """Return the field as a new column; bytes that are not of the format stay unchanged."""
        from kcli.proto.plain.gather import spans

        data = columns.data
        cells: list[bytes | None] = []
        self.plain = plain = set()
        starts, lengths = column_of(columns, self.kind)
        for row, (start, length) in enumerate(zip(starts, lengths, strict=True)):
            if length < 0:
                cells.append(None)
                continue
            cell = bytes(data[start : start + length])
            at, size = columns.key_starts[row], columns.key_lengths[row]
            try:
                cell = self._read(cell, None if size < 0 else bytes(data[at : at + size]), topic)
            except Unreadable as problem:
                self.undecoded.add(str(problem), topic, partition, columns.offsets[row])
                plain.add(columns.offsets[row])
            cells.append(cell)
        if self.labels is not None:
            present = (offset for offset, cell in zip(columns.offsets, cells, strict=True) if cell is not None)
            self.labels.rows = {offset: None for offset in present if offset not in plain}
        return spans(cells)


def _plain(read: Callable[[bytes], str | None], name: str, data: bytes, key: bytes | None, topic: str) -> bytes:
    text = read(data)
    if text is None:
        raise Unreadable(f"not {name}")
    return text.encode()


def _read_of(kind: str, name: str) -> Read:
    if name in WHOLE:
        read: Read = load(WHOLE[name])(kind)
        return read
    if name in PLAIN:
        return partial(_plain, {"msgpack": msgpack_json, "url": url_json}[name], name)
    reader = reader_of_format(name)
    return lambda data, key, topic: reader.json(data)
