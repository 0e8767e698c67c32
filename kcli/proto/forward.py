"""Forwards a batch to another topic unchanged: its records stay compressed and are not read.

Only the header is rewritten: offsets, producer, sequence, epoch and CRC belong to the new leader.
"""

from __future__ import annotations

from kcli.errors import EncodeError
from kcli.proto import core
from kcli.proto.batch import CODECS, RESERVED, SealedBatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.proto.batch import Batch

APPEND_TIME, CONTROL, DELETE_HORIZON = 8, 32, 64


def why_not(batch: Batch) -> str | None:
    """Return why the batch cannot be forwarded unchanged; None if it can.

    A leader only accepts offset deltas 0 … count-1 from a producer, and only CreateTime; the base timestamp of a
    compacted batch may be its delete horizon (KIP-534).
    """
    if batch.magic != 2:
        return f"it is of message format {batch.magic}"
    if batch.attributes & CONTROL:
        return "it is a control batch"
    if batch.first > batch.base_offset or batch.stop <= batch.last_offset:
        return "only a part of it is wanted"
    if batch.count != batch.last_offset - batch.base_offset + 1:
        return "offsets are missing in it"
    if batch.attributes & (APPEND_TIME | DELETE_HORIZON):
        return "its timestamps are the broker's"
    if batch.attributes & 7 and not batch.packed:
        return "it was decompressed already"
    return None


def resealed(batch: Batch, *, transactional: bool = False) -> SealedBatch:
    """Return the batch for a ProduceRequest: same records, same bytes. Raises EncodeError if `why_not` returns a
    reason."""
    reason = why_not(batch)
    if reason is not None:
        raise EncodeError(f"the batch at offset {batch.base_offset} cannot be forwarded as it is: {reason}")
    data = bytearray(RESERVED)
    with memoryview(batch.data) as view:
        data += view[batch.body_start : batch.body_end]
    codec = batch.attributes & 7
    attributes = codec | (16 if transactional else 0)
    core.write_header(data, attributes, batch.count, batch.base_timestamp, batch.max_timestamp)
    return SealedBatch(data, batch.count, CODECS[codec], batch.base_timestamp, batch.max_timestamp, len(data))
