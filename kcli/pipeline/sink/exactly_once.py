"""The exactly-once sink of a copy: records and the source's positions are committed in one transaction.

A transactional id belongs to a partition of the source, so the attempt that comes last fences the one before it and
ends what that left open. Only then it reads the committed position, and skips the rows before it: so a task that
is run again, a batch that is replayed and a zombie write nothing twice, whatever Spark's checkpoint says. A partition's
rows have to come to one task and in order; where they do not, the task fails before anything is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.pipeline.connection import Sealed
from kcli.pipeline.options import WriteOptions
from kcli.pipeline.progress import Reporter
from kcli.pipeline.sink.copying import TWICE, Copying, OutOfOrder
from kcli.pipeline.sink.write import BatchWriter, StreamWriter, Writing
from kcli.producer.batches.batch import BatchOutcome
from kcli.producer.batches.ledger import Counts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from kcli.pipeline.schemas.sealed import SealedSchemas

SOURCE = {"sourceTopic": "string", "sourcePartition": "int", "sourceOffset": "bigint"}


def provenance(frame: DataFrame) -> DataFrame:
    """What was read, with where each row is from in columns that a change of topic and partition leaves alone."""
    own = dict(zip(SOURCE, ("topic", "partition", "offset"), strict=True))
    return frame.withColumns({name: frame[column] for name, column in own.items()})


class ExactlyOnce(Writing):
    """What the batch and the stream writer share. `options.exactly_once` names the pipeline."""

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
                    f"option exactlyOnce takes a column {name} of type {kind}: which record of the source a row is"
                )

    def _send(
        self,
        iterator: Iterator[pa.RecordBatch],
        reporter: Reporter,
        settled: Callable[[BatchOutcome], None],
        wrong: list[BatchOutcome],
    ) -> Counts:
        """All rows of the task, partition by partition of the source. `wrong` stays empty: what fails is raised."""
        from kcli.pipeline.background import Background
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
        """The writer, so that a second task of the same run differs from a second attempt of the same task."""
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        query = context.getLocalProperty("sql.streaming.queryId")
        batch = context.getLocalProperty("streaming.sql.batchId")
        run = f"{query}.{batch}" if query and batch else self._run
        return f"{run}/{context.partitionId()}"


def runs(batch: pa.RecordBatch) -> Iterator[tuple[TopicPartition, pa.RecordBatch]]:
    """The batch cut where the source's partition changes."""
    if not batch.num_rows:
        return
    topics = batch.column("sourceTopic").dictionary_encode()
    if topics.null_count or batch.column("sourcePartition").null_count or batch.column("sourceOffset").null_count:
        raise UsageError("option exactlyOnce: a row does not say which record of the source it is (null)")
    codes = topics.indices.to_numpy(zero_copy_only=False)
    partitions = batch.column("sourcePartition").to_numpy(zero_copy_only=False)
    cuts = np.flatnonzero((np.diff(codes) != 0) | (np.diff(partitions) != 0)) + 1
    edges = [0, *cuts.tolist(), batch.num_rows]
    for start, end in pairwise(edges):
        at = TopicPartition(topics.dictionary[int(codes[start])].as_py(), int(partitions[start]))
        yield at, batch.slice(start, end - start)


def target_of(part: pa.RecordBatch, topic: str) -> str:
    """The topic that a partition of the source goes to."""
    return topic or str(part.column("topic")[0].as_py())


class BatchExactlyOnce(ExactlyOnce, BatchWriter):
    """df.write with option exactlyOnce."""


class StreamExactlyOnce(ExactlyOnce, StreamWriter):
    """df.writeStream with option exactlyOnce."""
