"""kcat's -f: the meaning of each token, for a parsed record and for a record object."""

from __future__ import annotations

from kcli.proto.plain.builder import Usual
from kcli.proto.plain.walk import body, read_headers
from kcli.proto.plain.writing import value_of, write, write_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from kcli.proto.columns import Record
    from kcli.proto.plain.walk import Header, Walked

    Program = tuple[bytes | tuple[str, Callable[[Any], bytes] | None], ...]


SHOW: dict[str, Callable[[bytes, Walked, bytes, bytes], bytes]] = {
    "s": lambda data, row, topic, partition: value_of(data, row, b""),
    "S": lambda data, row, topic, partition: b"%d" % row[5],
    "R": lambda data, row, topic, partition: row[5].to_bytes(4, "big", signed=True),
    "k": lambda data, row, topic, partition: b"" if row[3] < 0 else data[row[2] : row[2] + row[3]],
    "K": lambda data, row, topic, partition: b"%d" % row[3],
    "T": lambda data, row, topic, partition: b"%d" % row[1],
    "o": lambda data, row, topic, partition: b"%d" % row[0],
    "t": lambda data, row, topic, partition: topic,
    "p": lambda data, row, topic, partition: partition,
    "h": lambda data, row, topic, partition: show_headers(read_headers(data, row[6], row[7])),
}
"""kcat's meaning of each token."""


SHOW_RECORD: dict[str, Callable[[Record, bytes, int], tuple[Any, Callable[[Any], bytes]]]] = {
    "s": lambda record, topic, partition: (record.value, _or_nothing),
    "S": lambda record, topic, partition: (_size(record.value), _digits),
    "R": lambda record, topic, partition: (_size(record.value), _word),
    "k": lambda record, topic, partition: (record.key, _or_nothing),
    "K": lambda record, topic, partition: (_size(record.key), _digits),
    "T": lambda record, topic, partition: (record.timestamp, _digits),
    "o": lambda record, topic, partition: (record.offset, _digits),
    "t": lambda record, topic, partition: (topic, _or_nothing),
    "p": lambda record, topic, partition: (partition, _digits),
    "h": lambda record, topic, partition: (record.headers, show_headers),
}
"""The argument of each token's converter, and the default form."""


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _or_nothing(data: bytes | None) -> bytes:
    return data or b""


def _digits(number: int) -> bytes:
    return b"%d" % number


def _word(number: int) -> bytes:
    return number.to_bytes(4, "big", signed=True)


def show_headers(headers: list[tuple[str, bytes | None]]) -> bytes:
    return b",".join(
        name.encode("utf-8", "surrogateescape") + b"=" + (b"NULL" if value is None else value)
        for name, value in headers
    )


COLUMN: dict[str, Callable[[Header, Usual, bytes, bytes], Iterable[bytes]]] = {
    "s": lambda h, rows, topic, partition: rows.values,
    "S": lambda h, rows, topic, partition: [b"%d" % len(value) for value in rows.values],
    "R": lambda h, rows, topic, partition: [len(value).to_bytes(4, "big", signed=True) for value in rows.values],
    "k": lambda h, rows, topic, partition: _all(rows, b"") if rows.keys is None else rows.keys,
    "K": lambda h, rows, topic, partition: (
        _all(rows, b"-1") if rows.keys is None else [b"%d" % len(key) for key in rows.keys]
    ),
    "T": lambda h, rows, topic, partition: _stamps(h, rows),
    "o": lambda h, rows, topic, partition: [
        b"%d" % offset for offset in range(h.base_offset, h.base_offset + len(rows.values))
    ],
    "t": lambda h, rows, topic, partition: _all(rows, topic),
    "p": lambda h, rows, topic, partition: _all(rows, partition),
    "h": lambda h, rows, topic, partition: _all(rows, b""),
}
"""Each token as a column of records of the usual shape."""


def _stamps(h: Header, rows: Usual) -> Iterable[bytes]:
    shown = {head: b"%d" % stamp for head, stamp in rows.stamps(h).items()}
    return map(shown.__getitem__, rows.heads)


def _all(rows: Usual, text: bytes) -> list[bytes]:
    return [text] * len(rows.values)


def write_format(
    h: Header, out: bytearray, program: Program, topic: bytes, partition: int, limit: int
) -> tuple[int, int]:
    """Append each record as `program`, which has no converters, specifies. Returns like `write_values`."""
    data = body(h)
    steps = [(None, item) if isinstance(item, bytes) else (SHOW[item[0]], b"") for item in program]
    digits = b"%d" % partition

    def show(row: Walked) -> bytes:
        return b"".join([literal if step is None else step(data, row, topic, digits) for step, literal in steps])

    if limit >= 0:
        return write(h, data, out, limit, show)
    rows = Usual(h, data)
    parts = [b""] * (len(rows.values) * len(program))
    for number, item in enumerate(program):
        column = _all(rows, item) if isinstance(item, bytes) else COLUMN[item[0]](h, rows, topic, digits)
        parts[number :: len(program)] = column
    return write_after(h, data, out, b"".join(parts), (rows.at, len(rows.values)), limit, show)
