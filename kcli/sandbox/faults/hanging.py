"""A hanging transaction, made as they come about: a batch of a transaction arrives after its coordinator has ended
that, or was never told of the partition, and brokers before KIP-890 took it."""

from __future__ import annotations

import time

from kcli.errors import UsageError
from kcli.sandbox.log.batches import LAYOUT, SIZE, TRANSACTIONAL, Header

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.sandbox import Sandbox

_RECORD = b"\x00\x00\x00\x01\x0ehanging\x00"  # no deltas, a null key, seven bytes of value, no headers


def append_hanging(sandbox: Sandbox, topic: str, partition: int, age: float, transactional_id: str | None) -> int:
    """Append the batch; its offset. `age` is in seconds. Raises UsageError for an id that nobody has used."""
    producer, epoch = _producer(sandbox, transactional_id)
    found = sandbox.topics.partition(topic, partition)
    known = found.producers.known.get(producer)
    sequence = known.last_sequence + 1 if known is not None and known.epoch == epoch else 0
    then = int((time.time() - age) * 1000)
    body = bytes([2 * len(_RECORD)]) + _RECORD
    head = LAYOUT.pack(
        0, SIZE - 12 + len(body), -1, 2, 0, TRANSACTIONAL, 0, then, then, producer, epoch, sequence, 1
    )  # fmt: skip
    base = sandbox.faults.append(topic, partition, head + body)
    header = Header(head)
    header.base_offset = base
    found.producers.note(header)
    sandbox.checks.forget(topic, partition)
    return base


def _producer(sandbox: Sandbox, transactional_id: str | None) -> tuple[int, int]:
    if transactional_id is None:
        return sandbox.next_producer_id(), 0
    one = sandbox.transactions.by_id.get(transactional_id)
    if one is None:
        raise UsageError(f"nobody has used the transactional id {transactional_id}")
    return one.producer_id, one.epoch
