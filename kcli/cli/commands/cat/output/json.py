"""kcat's -J: one object a record, byte for byte as kcat writes it, and the same escapes in what -L and -Q print.

Keys and values go out as they are, also where they are no UTF-8: what reads back everything is `kcli consume -J`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.proto.batch import Batch

    Members = Callable[[int, bytes | None, bytes | None], bytes]
    """A record's key and payload as members of its object, by its offset."""

SPECIAL = bytes(range(32)) + b'"\\'
ESCAPES = [b"\\u%04X" % n if n < 32 else bytes((n,)) for n in range(256)]
for _byte, _escape in ((34, b'\\"'), (92, b"\\\\"), (8, b"\\b"), (9, b"\\t"), (10, b"\\n"), (12, b"\\f"), (13, b"\\r")):
    ESCAPES[_byte] = _escape


def quoted(data: bytes | None) -> bytes:
    """A JSON string of bytes, null for None."""
    if data is None:
        return b"null"
    if len(data.translate(None, SPECIAL)) != len(data):
        data = b"".join([ESCAPES[byte] for byte in data])
    return b'"%b"' % data


def text(name: str) -> bytes:
    """A JSON string of text."""
    return quoted(name.encode("utf-8", "surrogateescape"))


def members(_: int, key: bytes | None, payload: bytes | None) -> bytes:
    """Both as they are stored."""
    return b'"key":%b,"payload":%b' % (quoted(key), quoted(payload))


def write(
    out: bytearray,
    batch: Batch,
    topic: str,
    partition: int,
    broker: int,
    delimiter: bytes,
    limit: int = -1,
    members: Members = members,
) -> tuple[int, int]:
    """Append a batch's records, at most `limit` (-1: all). Returns how many, and the offset after the last."""
    head = b'{"topic":%b,"partition":%d,"offset":' % (text(topic), partition)
    kind = b"logappend" if batch.timestamp_type == "append" else b"create"
    lines: list[bytes] = []
    after = max(batch.first, batch.base_offset)
    try:
        for record in batch:
            if len(lines) == limit:
                return len(lines), after
            headers = b""
            if record.headers:
                flat = b",".join([b"%b,%b" % (text(name), quoted(value)) for name, value in record.headers])
                headers = b'"headers":[%b],' % flat
            lines.append(
                b'%b%d,"tstype":"%b","ts":%d,"broker":%d,%b%b}%b'
                % (head, record.offset, kind, record.timestamp, broker, headers,
                   members(record.offset, record.key, record.value), delimiter)
            )  # fmt: skip
            after = record.offset + 1
        return len(lines), min(batch.stop, batch.last_offset + 1)
    finally:  # what was before a record that ends the run is printed, too
        out += b"".join(lines)
