"""`kcli pipeline copy`: topic to topic on Spark."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING

from kcli.admin.topics.topics import describe_topics
from kcli.asking.leaders import TopicMissing
from kcli.cli.commands.copy.registries import KeptSchemasOptions, check_ids
from kcli.cli.commands.copy.target import cluster_id, make_like
from kcli.cli.commands.pipeline.options import PipelineOptions, QueryOptions, SourceOptions
from kcli.cli.commands.pipeline.session.drive import drive
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.commands.pipeline.session.job import Job, Outcome
from kcli.cli.commands.pipeline.session.stream import name_of, stop_file_of, trigger_of
from kcli.cli.commands.pipeline.sink.target import Target
from kcli.cli.commands.pipeline.source.plan import show
from kcli.cli.commands.pipeline.source.source import Source
from kcli.cli.parsing.command import command
from kcli.cli.parsing.record_groups import TargetOptions, TopicOptions
from kcli.client import Client
from kcli.errors import UsageError
from kcli.pipeline.connection import sealed_of
from kcli.pipeline.identity import identity_of
from kcli.pipeline.jobs.bad import BadRows
from kcli.pipeline.jobs.frames import chosen, columns_for, decoded, load, placed
from kcli.pipeline.jobs.records import Sink, as_records
from kcli.pipeline.jobs.work import Action, Stream
from kcli.pipeline.log import Log
from kcli.pipeline.offset_options import to_json
from kcli.pipeline.options import COLUMNS
from kcli.pipeline.progress import Progress
from kcli.pipeline.sink.positions import begin

if TYPE_CHECKING:
    from typing import Annotated

    import typer
    from pyspark.sql import DataFrame, SparkSession

    from kcli.cli.parsing.shared import Compression, Repartition

RECORD = ["key", "value", "partition", "timestamp", "headers"]
"""What is copied of a record."""


class CopyOptions(TargetOptions, KeptSchemasOptions, QueryOptions, TopicOptions, SourceOptions, PipelineOptions):
    repartition: Repartition = False
    create: Annotated[
        bool, typer.Option("--create", help="Create DST with the partitions and configs of SRC if it does not exist.")
    ] = False
    exactly_once: Annotated[
        bool,
        typer.Option(
            "--exactly-once", help="Commit records and positions in transactions of DST's cluster, named by --name."
        ),
    ] = False
    compression: Compression = None


@command(
    "pipeline copy",
    help="Copy topics on Spark, within or across clusters.",
    words="SRC DST",
    examples="""
kcli pipeline copy orders orders-2
kcli pipeline copy orders orders --to-profile staging --create --continuous
kcli pipeline copy orders big-orders --value-format json --where 'value.total > 1000' --repartition
kcli pipeline copy orders orders-2 --once --exactly-once""",
)
def copy(options: CopyOptions) -> int:
    """Copy the records of SRC to DST: key, value, headers, timestamp and partition stay. `kcli copy` does the same
    without Spark; use this command if one machine is not enough, or to transform records with --select and --where.

    Delivery is at least once: a retried task sends its records again. With --exactly-once a batch and the
    positions in SRC are committed in transactions of DST's cluster, so readers of committed records see no
    duplicates."""
    frame = Frame(options, "copy")
    if len(options.words) != 2:
        raise UsageError("missing arguments: kcli pipeline copy SRC DST")
    job = Copying(frame, options, *options.words)
    if frame.dry_run:
        return show(frame, job.input, job.destination)
    frame.session(job.name)
    job.prepare()
    return drive(frame, job)


class Copying(Job):
    """What the line says, as a job."""

    name = "copy"
    verb = "copied"
    _bad: BadRows | None = None

    def __init__(self, frame: Frame, options: CopyOptions, source: str, destination: str) -> None:
        self.frame = frame
        self.options = options
        self.source, self.destination = source, destination
        self.input = Source(frame, [*options.topics, source], options, options)
        self.target = Target(frame, destination, options.compression, options)
        check_ids(options, frame.connection, self.target.connection, options.schema_registry)
        if not self.target.elsewhere and source == destination:
            raise UsageError("SRC and DST are the same topic: the copy would read its own records forever")
        if frame.connector == "jvm" and not options.repartition:
            note = "Spark's own connector writes no timestamps: records get the time of the copy"
            frame.connection.properties.notes.append(note)
        if options.exactly_once:
            self._check_exactly_once()
        self.pipeline = options.name or ""
        if frame.streaming:
            frame.checkpoint(self.pipeline or "copy")  # its errors come before the first request

    def _check_exactly_once(self) -> None:
        if self.frame.connector == "jvm":
            raise UsageError("--exactly-once requires kcli's connector: Spark's own connector has no transactions")
        if self.options.repartition or self.options.min_partitions:
            option = "--repartition" if self.options.repartition else "--min-partitions"
            raise UsageError(f"--exactly-once uses a transaction for each partition of SRC; {option} would mix them")

    def prepare(self) -> None:
        """Ask both clusters."""
        self.input.prepare()
        asyncio.run(self._check())
        where = f"{self.target.cluster}/{self.destination}"
        self.pipeline = self.pipeline or name_of("copy", self.source, where, "topic")
        if self.frame.streaming:
            self._checkpoint = self.frame.checkpoint(self.pipeline)
            self.checkpoint = str(self._checkpoint)
        if not self.frame.streaming:
            self.spans = self.input.span

    async def _check(self) -> None:
        async with Client(self.frame.connection.client()) as source:
            if not self.target.elsewhere:
                await self._find(source, source)
                return
            async with Client(self.target.connection.client()) as target:
                here, there = await cluster_id(source.cluster), await cluster_id(target.cluster)
                if self.source == self.destination and here is not None and here == there:
                    raise UsageError(
                        "SRC and DST are the same topic of the same cluster: the copy would read its own records"
                    )
                await self._find(source, target)

    async def _find(self, source: Client, target: Client) -> None:
        options, topic = self.options, self.destination
        if options.create and isinstance((await describe_topics(target.cluster, [topic])).get(topic), TopicMissing):
            await make_like(source, self.source, target, topic)
        await self.target.prepare(target)
        most = max((at.partition for at in self.input.span), default=0)
        if most >= self.target.count and not options.repartition:
            raise UsageError(
                f"{topic} has no partition {most}: its partitions are 0-{self.target.count - 1}; "
                "--repartition assigns new ones"
            )

    def begin(self, spark: SparkSession, progress: str) -> Action | Stream:
        """The work, with its columns and conditions looked up."""
        streaming = self.frame.streaming
        self.input.schema_of(spark)
        kcli = self.frame.connector == "kcli"
        stop_file = stop_file_of(self.frame, self._checkpoint) if streaming and kcli else None
        if kcli:
            self._sink = self._kcli_sink(spark, progress, "" if stop_file is None else str(stop_file))
        else:
            frame = load(spark, "kafka", self.input.jvm_options(), streaming=streaming, times=self.input.times)
            self._sink = Sink(self._mapped(frame), "kafka", self.target.jvm_options())
        if not streaming:
            return self._sink.batch()
        return self._sink.stream(self._checkpoint, trigger_of(self.frame), stop_file)

    def _kcli_sink(self, spark: SparkSession, progress: str, stop_file: str) -> Sink:
        spark_options = self.input.options(self._columns(), progress=progress)
        spark_options |= {"keyFormat": "binary", "valueFormat": "binary"}
        spark_options["columns"] = ",".join(self._columns())
        for name in ("keySchema", "valueSchema"):
            spark_options.pop(name, None)
        if stop_file:
            spark_options["stopFile"] = stop_file
        sink = self.target.options(progress=progress, timestamps=True)
        if self.options.exactly_once:
            spark_options["startingOffsets"] = self._begun(spark_options, sink)
            sink["exactlyOnce"] = self.pipeline
        frame = load(spark, "kcli", spark_options, streaming=self.frame.streaming, times=self.input.times)
        return Sink(self._mapped(frame), "kcli", sink)

    def _begun(self, source: dict[str, str], sink: dict[str, str]) -> str:
        """Where reading starts: at what the target cluster says is copied. Raises Expired."""
        lower = [{key.lower(): text for key, text in options.items()} for options in (source, sink)]
        span = self.input.span
        starts = {at: start for at, (start, _) in span.items()}
        with Log(sealed_of(lower[0])) as here, Log(sealed_of(lower[1])) as there:
            ends = here.latest(span)
            begun = bool(self.checkpoint) and os.path.isdir(os.path.join(self.checkpoint, "offsets"))
            elsewhere = "://" in self.checkpoint or self.frame.remote is not None
            resumed = None if elsewhere and not begun else begun
            ids = identity_of(here, [self.source])["topics"]
            targets = {self.source: self.destination}
            offsets = begin(there, self.pipeline, starts, ends, targets=targets, resumed=resumed, ids=ids)
            sink["sourceIds"] = json.dumps(ids)
        if not self.frame.streaming:
            offsets = {at: min(offset, span[at][1]) for at, offset in offsets.items()}
            self.spans = {at: (offsets[at], end) for at, (_, end) in span.items()}
        return json.dumps(to_json(offsets))

    def _columns(self) -> list[str]:
        texts = [self.options.select or "", *self.options.sql_where]
        wanted = {*columns_for(texts, everything=False, headers=True), *RECORD} if any(texts) else set(RECORD)
        if self.options.exactly_once or self.input.schemed:
            wanted |= {"topic", "offset"}  # of the latter errors say where they are
        return [name for name in (*COLUMNS, "headers") if name in wanted]

    def _mapped(self, frame: DataFrame) -> DataFrame:
        """The rows that are wanted, as records. A condition may look into values; what is sent on are their bytes."""
        options = self.options
        keep = ["key", "value", "timestamp", "headers", *([] if options.repartition else ["partition"])]
        select = options.select or "raw.*, * EXCEPT (raw, key, value)"
        if options.exactly_once:
            from kcli.pipeline.sink.exactly_once import SOURCE as PROVENANCE
            from kcli.pipeline.sink.exactly_once import provenance

            frame, keep = provenance(frame), [*keep, *PROVENANCE]
            select = select if options.select is None else f"{select}, {', '.join(PROVENANCE)}"
        where = options.sql_where
        if self.input.null_bad:
            frame, where = placed(frame, where)
            self._bad = BadRows(decoded(frame, self.input.formats, null_bad=True))
            frame = self._bad.frame
        else:
            frame = decoded(frame, self.input.formats)
        return as_records(chosen(frame, where, select), keep=tuple(keep))

    def finish(self, work: Action | Stream, seen: Progress) -> Outcome:
        """Everything was acknowledged."""
        stood = work.state()
        return Outcome(records=self._sink.rows if stood is None else stood.rows)

    def bad_rows(self) -> int:
        """What was counted."""
        return self._bad.rows if self._bad is not None else 0

    def half(self, seen: Progress) -> str:
        """What is in the topic of a batch that did not end well."""
        return f"up to {seen.written:,} records of {self.source} are in {self.destination}"
