"""A batch the broker found too large, cut in two (KIP-126): same records, same order, consecutive sequences (D31)."""

from __future__ import annotations

from kcli.producer.batches.batch import ProducerBatch
from kcli.producer.batches.queue import after
from kcli.proto.batch import read_batches
from kcli.proto.core import Fate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.settings import ProducerSettings


def split(batch: ProducerBatch, settings: ProducerSettings) -> list[ProducerBatch]:
    """Two sealed batches with the waiters, creation time and share of the budget of `batch`."""
    assert batch.sealed is not None
    (whole,) = read_batches(batch.sealed.data, check_crcs=False)
    half = batch.count // 2
    parts = [ProducerBatch(batch.at, batch.created, (*batch.number, place)) for place in range(2)]
    for index, record in enumerate(whole):
        part = parts[index >= half]
        part.builder.append(record.timestamp, record.key, record.value, record.headers)
    if batch.fate is not None:
        fates = [Fate(batch.at, batch.fate.loop) for _ in parts]
        parts[0].fate, parts[1].fate = fates
        batch.fate.split(half, *fates)
    first = 0
    for part in parts:
        part.end()
        part.close(settings)
        part.retries, part.sent = batch.retries, batch.sent  # it uses no retry, and goes in its order like one
        part.maybe_written = part.doubtful = batch.maybe_written
        part.charged = batch.charged * part.count // batch.count
        if batch.stamp is not None:
            producer_id, epoch, sequence = batch.stamp
            part.stamp = (producer_id, epoch, after(sequence, first))
            assert part.sealed is not None
            part.sealed.stamp(*part.stamp)
        first += part.count
    parts[1].charged = batch.charged - parts[0].charged
    return parts
