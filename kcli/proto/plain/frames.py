"""The frame of a Produce request with one batch, in version 13."""

from __future__ import annotations

from struct import Struct, error

from kcli.proto.varint import encode_unsigned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.proto.buffer import Buffer

BEGINNING = Struct(">ihhi")  # size, API, version, correlation id
ASKED = Struct(">bhib16sbi")  # no transactional id, acks, timeout, one topic, its id, one partition, its index
TAGS = b"\0\0\0"  # none, of partition, topic and request


def produce_frame(
    correlation_id: int, header: bytes, acks: int, timeout_ms: int, topic_id: bytes, index: int, records: Buffer
) -> bytes:
    """Return the frame; `header` is what follows the correlation id. Raises ValueError for values out of range."""
    if len(topic_id) != 16:
        raise ValueError("a topic id has 16 bytes")
    size = encode_unsigned(len(records) + 1)
    whole = 8 + len(header) + ASKED.size + len(size) + len(records) + len(TAGS)
    try:
        beginning = BEGINNING.pack(whole, 0, 13, correlation_id)
        asked = ASKED.pack(0, acks, timeout_ms, 2, topic_id, 2, index)
    except error as broken:
        raise ValueError(str(broken)) from None
    return b"".join((beginning, header, asked, size, records, TAGS))
