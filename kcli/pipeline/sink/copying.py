"""One partition of the source in one task of an exactly-once copy: fence, look how far it is, write, commit both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from kcli.asking.coordinators import Coordinators
from kcli.errors import KcliError
from kcli.model import GroupMetadata, OffsetAndMetadata, TopicPartition
from kcli.pipeline.background import Background
from kcli.pipeline.connection import Sealed
from kcli.pipeline.sink.positions import group_of, positions, transactional_id, written_by
from kcli.producer.batches.batch import BatchOutcome
from kcli.producer.batches.ledger import Counts
from kcli.producer.producer import Producer

if TYPE_CHECKING:
    import pyarrow as pa

    from kcli.pipeline.sink.rows import Send

EVERY = 5.0
"""Seconds after which a transaction is committed and the next begun, within a task: readers need not wait for all."""


class OutOfOrder(KcliError):
    """The rows of a partition came in another order, or to more than one task."""


TWICE = (
    "its rows came to more than one task, or not in order; an exactly-once copy has no repartition or sort in it, and "
    "its source neither minPartitions nor maxRecordsPerPartition"
)


class Copying:
    """One partition of the source in one task: a transactional producer, and how far the source is written. `made` is
    the id of the source's topic, where it is known."""

    def __init__(self, kafka: Background, name: str, at: TopicPartition, writer: str, topic_id: str = "") -> None:
        self.at = at
        self._made = topic_id
        self._kafka = kafka
        self._name = name
        self._writer = writer
        self._producer: Producer | None = None
        self._next = self._covered = -1
        self._began: float | None = None
        self._key = at

    def open(self, sealed: Sealed, settled: Callable[[BatchOutcome], None], target: str) -> None:
        """Fence whoever had the partition before, then look how far they came. Raises OutOfOrder for another task of
        the same run."""
        settings = sealed.producer.for_command(max_block_given=False).replace(
            transactional_id=transactional_id(self._name, self.at)
        )
        self._every = min(EVERY, settings.transaction_timeout / 4)
        self._producer = self._kafka.client.producer(settings)
        self._kafka.run(self._producer.start())
        self._kafka.run(self._producer.initialise())
        standing = self._kafka.run(positions(Coordinators(self._kafka.client.cluster), self._name, {self.at: target}))[
            self.at
        ]
        self._key, self._covered = standing.key, standing.offset
        if standing.writer and self._another(standing.writer):
            raise OutOfOrder(f"{self.at.topic}[{self.at.partition}]: {TWICE}")

    def _another(self, writer: str) -> bool:
        """Whether it is another task of our run."""
        return writer != self._writer and writer.rpartition("/")[0] == self._writer.rpartition("/")[0]

    def fresh(self, part: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that no transaction has written yet. Raises OutOfOrder."""
        offsets = part.column("sourceOffset").to_numpy(zero_copy_only=False)
        if int(offsets[0]) < self._next or (len(offsets) > 1 and int(np.diff(offsets).min()) <= 0):
            raise OutOfOrder(f"{self.at.topic}[{self.at.partition}]: {TWICE}")
        self._next = int(offsets[-1]) + 1
        return part.slice(int(np.searchsorted(offsets, self._covered)))

    def send(self, sends: list[Send], last: int) -> None:
        """Rows into the transaction, which is begun if none is open and committed when it is old."""
        producer = self._producer
        assert producer is not None

        async def go() -> None:
            now = asyncio.get_running_loop().time()
            if self._began is None:
                await producer.begin()
                self._began = now
            for send in sends:
                await send(producer)
            if now - self._began >= self._every:
                await self._commit(producer, last + 1)

        self._kafka.run(go())
        self._last = last

    async def _commit(self, producer: Producer, position: int) -> None:
        """Records and position, all or nothing."""
        metadata = written_by(self.at.topic, self._writer, self._made)
        await producer.send_offsets(
            {self._key: OffsetAndMetadata(offset=position, metadata=metadata)}, GroupMetadata(group_of(self._name))
        )
        await producer.commit()
        self._began = None

    def finish(self) -> None:
        """Commit what is open. Raises AbortRequired, Fenced, UnknownOutcome: Spark runs the task again, and that finds
        out what was committed."""
        if self._producer is not None and self._began is not None:
            self._kafka.run(self._commit(self._producer, self._last + 1))

    def close(self, total: Counts) -> None:
        """End the producer, which aborts what is still open, and add what it did to `total`."""
        if self._producer is None:
            return
        try:
            self._kafka.run(self._producer.close(0))
        finally:
            counts = self._producer.counts
            for name in ("accepted", "acked", "failed", "unknown"):
                setattr(total, name, getattr(total, name) + getattr(counts, name))
