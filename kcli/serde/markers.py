"""Control records for people: what a marker says, as a record that can be printed and filtered like any other (E14).

Its key is the kind (COMMIT, ABORT, …), its value says it as JSON, and the header `__control` distinguishes it from a
record that a producer wrote.
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
"""Kinds below end a transaction, and say under which coordinator."""


def readable(batch: Batch) -> Batch:
    """A marker as a batch of one readable record at the same offset and time; any other batch as it is, also a marker
    that is broken: whoever reads its records finds out."""
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
    """Newer versions only append to a marker's value (F.3)."""
    text = f'{{"type":"{kind}"'
    if 0 <= number < TRANSACTIONAL:
        text += f',"producer_id":{batch.producer_id},"producer_epoch":{batch.producer_epoch}'
        if value is not None and len(value) >= 6:
            text += f',"coordinator_epoch":{int.from_bytes(value[2:6], "big", signed=True)}'
    return (text + "}").encode()
