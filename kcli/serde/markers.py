"""Makes control records readable: a marker becomes a record that can be printed and filtered like any other.

Its key is the kind (COMMIT, ABORT, …), its value describes it as JSON, and the header `__control` distinguishes it from
a produced record.
"""

from __future__ import annotations

from array import array

from kcli.errors import DecodeError
from kcli.proto.batch import RESERVED
from kcli.proto.core import Builder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.proto.batch import Batch

HEADER = "__control"
KINDS = ("ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER", "KRAFT_VERSION", "KRAFT_VOTERS")
TRANSACTIONAL = 2
"""Lower kinds end a transaction, and contain the coordinator's epoch."""


def readable(batch: Batch) -> Batch:
    """Return a marker as a batch with one readable record at the same offset and time. Other batches are returned
    unchanged, and so are broken markers, whose reader gets the error."""
    if not batch.is_control:
        return batch
    try:
        records = list(batch)
    except DecodeError:
        return batch
    if len(records) != 1 or records[0].key is None or len(records[0].key) < 4:
        return batch
    record, key = records[0], records[0].key
    number = int.from_bytes(key[2:4], "big", signed=True)
    kind = KINDS[number] if 0 <= number < len(KINDS) else str(number)
    builder = Builder()
    builder.append(record.timestamp, kind.encode(), _said(batch, number, kind, record.value), [(HEADER, kind.encode())])
    copy = batch.picked(array("q", [record.offset]))
    copy.data = builder.take()
    copy.body_start, copy.body_end = RESERVED, len(copy.data)
    copy.base_offset, copy.base_timestamp = record.offset, record.timestamp
    return copy


def _said(batch: Batch, number: int, kind: str, value: bytes | None) -> bytes:
    """Newer versions only append to a marker's value."""
    text = f'{{"type":"{kind}"'
    if 0 <= number < TRANSACTIONAL:
        text += f',"producer_id":{batch.producer_id},"producer_epoch":{batch.producer_epoch}'
        if value is not None and len(value) >= 6:
            text += f',"coordinator_epoch":{int.from_bytes(value[2:6], "big", signed=True)}'
    return (text + "}").encode()
