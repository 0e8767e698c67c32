"""The writers: each task has its own producer, and finishes when every row is acknowledged. At least once: a repeated
task sends its rows again."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from typing import TYPE_CHECKING

from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from kcli.errors import KcliError, UsageError
from kcli.pipeline.connection import Sealed
from kcli.pipeline.options import WriteOptions
from kcli.pipeline.progress import Reporter
from kcli.producer.batches.batch import BatchOutcome
from kcli.producer.batches.ledger import Counts

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from kcli.pipeline.schemas.sealed import SealedSchemas

ACCEPTED = {
    "key": ("binary", "string"),
    "value": ("binary", "string"),
    "topic": ("string",),
    "partition": ("int",),
    "timestamp": ("timestamp",),
    "headers": ("array<struct<key:string,value:binary>>",),
}


class Written(WriterCommitMessage):
    """What a task wrote."""

    def __init__(self, rows: int) -> None:
        self.rows = rows


class NotWritten(KcliError):
    """Rows that were not acknowledged, or may be stored without an acknowledgement."""


class Writing:
    """Common parts of batch and stream writers."""

    def __init__(
        self,
        options: WriteOptions,
        sealed: Sealed,
        schema: StructType,
        schemas: Mapping[str, SealedSchemas] | None = None,
    ) -> None:
        self.options = options
        self.sealed = sealed
        self.schemas = dict(schemas or {})
        check_schema(schema, options, self.schemas)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Send every row, and wait until all are acknowledged. Raises NotWritten, and the client's errors."""
        from kcli.pipeline.progress import Reporter

        if self.schemas:
            from kcli.pipeline.schemas.writing import Framing

            iterator = map(Framing(self.schemas), iterator)
        reporter = Reporter(self.options.progress)
        wrong: list[BatchOutcome] = []

        def settled(outcome: BatchOutcome) -> None:
            if outcome.error is not None:
                wrong.append(outcome)

        try:
            counts = self._send(iterator, reporter, settled, wrong)
            if wrong:
                first = wrong[0]
                raise NotWritten(
                    f"{first.topic}[{first.partition}]: {first.error}; of {counts.accepted} rows {counts.acked} are "
                    f"written, {counts.failed} are not, {counts.unknown} may be"
                )
            reporter.done()
        finally:
            reporter.close()
        return Written(counts.acked)

    def _send(
        self,
        iterator: Iterator[pa.RecordBatch],
        reporter: Reporter,
        settled: Callable[[BatchOutcome], None],
        wrong: list[BatchOutcome],
    ) -> Counts:
        """Send until the rows end or something goes wrong; return the counts."""
        from kcli.pipeline.kept_client import client_of
        from kcli.pipeline.sink.rows import sends_of

        with client_of(self.sealed) as kafka:
            producer = kafka.client.producer(self.sealed.producer.for_command(max_block_given=False))
            producer.on_batch = settled
            kafka.run(producer.start())
            try:
                for batch in iterator:
                    for send in sends_of(batch, self.options):
                        kafka.run(send(producer))
                    reporter.noted(batch.num_rows, batch.nbytes, -1)
                    if wrong:
                        break
                kafka.run(producer.flush())
            finally:
                kafka.run(producer.close(0))
            return producer.counts


class BatchWriter(Writing, DataSourceArrowWriter):
    """df.write.format("kcli")."""


class StreamWriter(Writing, DataSourceStreamArrowWriter):
    """df.writeStream.format("kcli")."""


def check_schema(schema: StructType, options: WriteOptions, framed: Container[str] = ()) -> None:
    """Raise UsageError for columns that cannot be written; those `framed` with a schema may be of any type. Columns
    with other names are ignored, as in Spark's sink."""
    names = {field.name: field.dataType.simpleString() for field in schema.fields}
    for name, kinds in ACCEPTED.items():
        if (
            name in names
            and name not in framed
            and names[name] not in kinds
            and not (name == "timestamp" and not options.keep_timestamp)
        ):
            raise UsageError(f"column {name} must be {' or '.join(kinds)}, not {names[name]}")
    if "value" not in names:
        raise UsageError(f"column value is missing; columns: {', '.join(names) or 'none'}")
    if not options.topic and "topic" not in names:
        raise UsageError("no destination: set the option topic, or add a column topic")
    if options.keep_timestamp and "timestamp" not in names:
        raise UsageError("option keepTimestamp requires a column timestamp")
