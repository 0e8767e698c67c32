"""Message sets as brokers before 0.11 stored them."""

from __future__ import annotations

import zlib

from kcli.proto import compression
from kcli.proto.batch import CODECS
from tests.consumer.log import Log


def message(offset: int, value: bytes, *, magic: int = 1, attributes: int = 0, timestamp: int = 5) -> bytes:
    body = bytes((magic, attributes)) + (timestamp.to_bytes(8, "big") if magic else b"")
    body += b"\xff" * 4 + len(value).to_bytes(4, "big") + value
    return offset.to_bytes(8, "big") + (len(body) + 4).to_bytes(4, "big") + zlib.crc32(body).to_bytes(4, "big") + body


def wrapped(last: int, inner: list[bytes], *, magic: int = 1, codec: str = "gzip") -> bytes:
    packed = bytes(compression.compress(codec, b"".join(inner)))
    return message(last, packed, magic=magic, attributes=CODECS.index(codec))


def stored(log: Log, base: int, last: int, data: bytes) -> Log:
    """Put bytes that are no v2 batch into a log."""
    log.batches.append((base, last, data))
    log.end = last + 1
    return log
