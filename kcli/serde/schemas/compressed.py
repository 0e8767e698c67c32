"""Payloads that AWS Glue's serializer compressed with zlib: unpacked within bounds, then read."""

from __future__ import annotations

import zlib

from kcli.serde.schemas.payloads import PayloadReader, Unreadable, read_one
from kcli.serde.schemas.readers import unknown_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.serde.schemas.readers import Reader

LARGEST = 64 << 20  # bytes of a payload that was unpacked
RATIO = 1000
"""How many times the packed payload it may be."""


class CompressedReader(PayloadReader):
    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @property
    def unknown(self) -> int:
        return unknown_fields(self._reader)

    def message_name(self, data: bytes) -> str:
        """Of Protobuf: behind what is compressed it is not looked for."""
        return ""

    def json(self, data: bytes) -> bytes:
        return read_one(self._reader, unpacked(data))


def unpacked(data: bytes) -> bytes:
    """What zlib packed. Raises Unreadable."""
    most = min(LARGEST, RATIO * len(data))
    unpacking = zlib.decompressobj()
    try:
        payload = unpacking.decompress(data, most + 1)
    except zlib.error:
        raise Unreadable("the payload is not compressed with zlib") from None
    if len(payload) > most:
        raise Unreadable(f"it would be larger than {LARGEST >> 20} MiB or {RATIO:,} times what is stored")
    if not unpacking.eof or unpacking.unused_data:
        raise Unreadable("the compressed payload is cut, or bytes are left after it")
    return payload
