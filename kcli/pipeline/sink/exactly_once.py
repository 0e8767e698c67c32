"""The exactly-once sink of a copy: records and the source's positions are committed in one transaction.

A transactional id belongs to a partition of the source, so a new attempt fences the previous one and aborts its open
transaction. Only then does it read the committed position, and skip the rows before it: so a repeated task, a replayed
batch and a zombie write nothing twice, whatever Spark's checkpoint says. A partition's rows have to reach one task, in
order; otherwise the task fails before anything is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from kcli.asking.coordinators import Coordinators
from kcli.errors import KcliError, UsageError
from kcli.model import GroupMetadata, OffsetAndMetadata, TopicPartition
from kcli.pipeline.connection import Sealed
from kcli.pipeline.kept_client import Background
from kcli.pipeline.options import WriteOptions
from kcli.pipeline.progress import Reporter
from kcli.pipeline.sink.positions import group_of, positions, transactional_id, written_by
from kcli.pipeline.sink.write import BatchWriter, StreamWriter, Writing
from kcli.producer.batches.batch import BatchOutcome
from kcli.producer.batches.ledger import Counts
from kcli.producer.producer import Producer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from kcli.pipeline.schemas.sealed import SealedSchemas
    from kcli.pipeline.sink.rows import Send

SOURCE = {"sourceTopic": "string", "sourcePartition": "int", "sourceOffset": "bigint"}
EVERY = 5.0
"""Seconds after which a transaction is committed and the next begun within a task, so that readers need not wait for
the end."""


def provenance(frame: DataFrame) -> DataFrame:
    """Return the records with each row's source position in columns that a change of topic and partition does not
    affect."""
    own = dict(zip(SOURCE, ("topic", "partition", "offset"), strict=True))
    return frame.withColumns({name: frame[column] for name, column in own.items()})


class ExactlyOnce(Writing):
    """Common parts of the batch and the stream writer. `options.exactly_once` names the pipeline."""

    def __init__(
        self,
        options: WriteOptions,
        sealed: Sealed,
        schema: StructType,
        schemas: Mapping[str, SealedSchemas] | None = None,
    ) -> None:
        from uuid import uuid4

        super().__init__(options, sealed, schema, schemas)
        self._run = uuid4().hex[:12]
        types = {field.name: field.dataType.simpleString() for field in schema.fields}
        for name, kind in SOURCE.items():
            if types.get(name) != kind:
                raise UsageError(
                    f"option exactlyOnce requires a column {name} of type {kind}, which identifies the source record "
                    "of a row"
                )

    def _send(
        self,
        iterator: Iterator[pa.RecordBatch],
        reporter: Reporter,
        settled: Callable[[BatchOutcome], None],
        wrong: list[BatchOutcome],
    ) -> Counts:
        """Send all rows of the task, by partition of the source. `wrong` stays empty: failures are raised."""
        from kcli.pipeline.kept_client import Background
        from kcli.pipeline.sink.rows import sends_of
        from kcli.producer.batches.ledger import Counts

        total = Counts()
        seen: dict[TopicPartition, Copying] = {}
        with Background(self.sealed.client) as kafka:
            now: Copying | None = None
            try:
                for batch in iterator:
                    for at, part in runs(batch):
                        if now is None or now.at != at:
                            if at in seen:
                                raise OutOfOrder(f"{at.topic}[{at.partition}]: {TWICE}")
                            if now is not None:
                                now.finish()
                            topic_id = dict(self.options.source_ids).get(at.topic, "")
                            now = seen[at] = Copying(kafka, self.options.exactly_once, at, self._writer(), topic_id)
                            now.open(self.sealed, settled, target_of(part, self.options.topic))
                        fresh = now.fresh(part)
                        if fresh.num_rows:
                            now.send(list(sends_of(fresh, self.options)), int(fresh.column("sourceOffset")[-1].as_py()))
                    reporter.noted(batch.num_rows, batch.nbytes, -1)
                if now is not None:
                    now.finish()
            finally:
                for copying in seen.values():
                    copying.close(total)
        return total

    def _writer(self) -> str:
        """Return an identifier of the writer, which distinguishes a second task of the same run from a second attempt
        of the same task."""
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        query = context.getLocalProperty("sql.streaming.queryId")
        batch = context.getLocalProperty("streaming.sql.batchId")
        run = f"{query}.{batch}" if query and batch else self._run
        return f"{run}/{context.partitionId()}"


def runs(batch: pa.RecordBatch) -> Iterator[tuple[TopicPartition, pa.RecordBatch]]:
    """Split the batch at changes of the source's partition."""
    if not batch.num_rows:
        return
    topics = batch.column("sourceTopic").dictionary_encode()
    if topics.null_count or batch.column("sourcePartition").null_count or batch.column("sourceOffset").null_count:
        raise UsageError("option exactlyOnce: a row does not identify its source record (null)")
    codes = topics.indices.to_numpy(zero_copy_only=False)
    partitions = batch.column("sourcePartition").to_numpy(zero_copy_only=False)
    cuts = np.flatnonzero((np.diff(codes) != 0) | (np.diff(partitions) != 0)) + 1
    edges = [0, *cuts.tolist(), batch.num_rows]
    for start, end in pairwise(edges):
        at = TopicPartition(topics.dictionary[int(codes[start])].as_py(), int(partitions[start]))
        yield at, batch.slice(start, end - start)


def target_of(part: pa.RecordBatch, topic: str) -> str:
    """Return the topic to which a partition of the source is written."""
    return topic or str(part.column("topic")[0].as_py())


class BatchExactlyOnce(ExactlyOnce, BatchWriter):
    """df.write with option exactlyOnce."""


class StreamExactlyOnce(ExactlyOnce, StreamWriter):
    """df.writeStream with option exactlyOnce."""


class OutOfOrder(KcliError):
    """The rows of a partition arrived in another order, or in more than one task."""


TWICE = (
    "its rows reached more than one task, or were out of order; an exactly-once copy must not use "
    "repartition or sort, and its source must not set minPartitions or maxRecordsPerPartition"
)


class Copying:
    """One partition of the source in one task: a transactional producer, and the position of the source. `made` is the
    id of the source's topic, if known."""

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
        """Fence the partition's previous writer, then read its position. Raises OutOfOrder for another task of the same
        run."""
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
        """Whether it is another task of this run."""
        return writer != self._writer and writer.rpartition("/")[0] == self._writer.rpartition("/")[0]

    def fresh(self, part: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows that no transaction has written yet. Raises OutOfOrder."""
        offsets = part.column("sourceOffset").to_numpy(zero_copy_only=False)
        if int(offsets[0]) < self._next or (len(offsets) > 1 and int(np.diff(offsets).min()) <= 0):
            raise OutOfOrder(f"{self.at.topic}[{self.at.partition}]: {TWICE}")
        self._next = int(offsets[-1]) + 1
        return part.slice(int(np.searchsorted(offsets, self._covered)))

    def send(self, sends: list[Send], last: int) -> None:
        """Send rows in the transaction, which is begun if none is open, and committed when it is old."""
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
        """Commit records and position together."""
        metadata = written_by(self.at.topic, self._writer, self._made)
        await producer.send_offsets(
            {self._key: OffsetAndMetadata(offset=position, metadata=metadata)}, GroupMetadata(group_of(self._name))
        )
        await producer.commit()
        self._began = None

    def finish(self) -> None:
        """Commit the open transaction. Raises AbortRequired, Fenced, UnknownOutcome: Spark then repeats the task, which
        finds out what was committed."""
        if self._producer is not None and self._began is not None:
            self._kafka.run(self._commit(self._producer, self._last + 1))

    def close(self, total: Counts) -> None:
        """Close the producer, which aborts an open transaction, and add its counts to `total`."""
        if self._producer is None:
            return
        try:
            self._kafka.run(self._producer.close(0))
        finally:
            counts = self._producer.counts
            for name in ("accepted", "acked", "failed", "unknown"):
                setattr(total, name, getattr(total, name) + getattr(counts, name))
