"""Message sets as brokers before 0.11 stored them (engine.md F.2)."""

from __future__ import annotations

import zlib

from kcli.proto import compression
from kcli.proto.batch import CODECS


def message(offset, value, *, magic=1, attributes=0, timestamp=5):
    body = bytes((magic, attributes)) + (timestamp.to_bytes(8, "big") if magic else b"")
    body += b"\xff" * 4 + len(value).to_bytes(4, "big") + value
    return offset.to_bytes(8, "big") + (len(body) + 4).to_bytes(4, "big") + zlib.crc32(body).to_bytes(4, "big") + body


def wrapped(last, inner, *, magic=1, codec="gzip"):
    packed = bytes(compression.compress(codec, b"".join(inner)))
    return message(last, packed, magic=magic, attributes=CODECS.index(codec))


def stored(log, base, last, data):
    """Put bytes that are no v2 batch into a log."""
    log.batches.append((base, last, data))
    log.end = last + 1
    return log
