"""`kcli pipeline sql`: what the line says, as steps, views and an output; and the job that `run` shares."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kcli.cli.commands.consume.selection import partitions
from kcli.cli.commands.pipeline.options import PipelineOptions, QuarantineOptions, SchemaOptions, SourceOptions
from kcli.cli.commands.pipeline.session.drive import drive
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.commands.pipeline.session.job import Job, Outcome, again_of, widening, with_unknown
from kcli.cli.commands.pipeline.sink.merging import Merging
from kcli.cli.commands.pipeline.sink.outputs import Output, RowsOptions, output_of
from kcli.cli.commands.pipeline.sink.quarantine import Quarantine, QuarantineTopic, place_of, quarantine_of
from kcli.cli.commands.pipeline.source.pinned import Pinned
from kcli.cli.commands.pipeline.source.plan import Span, show
from kcli.cli.commands.pipeline.source.source import Source
from kcli.cli.documents.input_file import read_text
from kcli.cli.parsing.command import command
from kcli.client import Client
from kcli.errors import UsageError
from kcli.grammar.offsets import duration
from kcli.model import TopicPartition
from kcli.pipeline.jobs.frames import columns_for
from kcli.pipeline.jobs.sql import Script, Statement, View, mentioned, split, words
from kcli.pipeline.jobs.work import Action, Stream
from kcli.pipeline.progress import Progress
from kcli.pipeline.source.task_sizes import LARGE
from kcli.system.files import TEXT

if TYPE_CHECKING:
    from typing import Annotated

    import typer
    from pyspark.sql import SparkSession

    from kcli.pipeline.jobs.lake.table import Written


class SqlOptions(RowsOptions, SchemaOptions, QuarantineOptions, SourceOptions, PipelineOptions):
    moved = (("-f", "--file FILE"), ("--to", "--file-format FORMAT"))
    file: Annotated[str | None, typer.Option("--file", metavar="FILE", help="Read the SQL from FILE; - is stdin.")] = (
        None
    )


@command(
    "pipeline sql",
    help="Run Spark SQL over topics, batch or continuous.",
    words="[SQL]",
    examples="""
kcli pipeline sql 'SELECT partition, count(*) FROM orders GROUP BY partition'
kcli pipeline sql 'SELECT value.user, sum(value.total) AS total FROM orders GROUP BY 1' --value-format json
kcli pipeline sql 'SELECT * FROM `orders.eu` WHERE offset > 1000' -o @-1h: --format ndjson
kcli pipeline sql --file report.sql --file-format parquet --out out/report
kcli pipeline sql 'SELECT key, value FROM orders WHERE value.total > 100' --value-format json --into big --continuous
kcli pipeline sql 'SELECT key, value, _record FROM orders' --file-format delta --out t --merge key --once
kcli pipeline sql 'SELECT key, offset AS id FROM orders' --into ids --to-value-format avro   # by a schema registry
kcli pipeline sql 'SELECT window(timestamp, "1 hour") AS t, count(*) FROM orders GROUP BY 1' --continuous""",
)
def sql(options: SqlOptions) -> int:
    """Every topic of the cluster is a table: key, value, topic, partition, offset, timestamp, timestampType and, if you
    name it, headers. Put odd names in back-quotes: `orders.eu`. Keys and values are strings. With --value-format json,
    value.total is a column with the type found in the newest records, or given by --value-schema.

    With --merge each topic has a column _record: SELECT it, and the last record of a key wins.

    kcli reads only the topics that a statement names. Separate statements with semicolons; all of them see the same
    records. A stream (--once, --continuous) is one statement, and prints the rows of each batch."""
    frame = Frame(options, "sql")
    return start(frame, Querying(frame, options, steps_of(options)))


class Querying(Job):
    """Steps over topics, and where the rows of the last one go. `each` has the options of the only topics that are
    read; without it all topics of the cluster may be named, and are read by the line's options."""

    name = "sql"
    verb = "wrote"
    _pinned: Pinned | None = None

    def __init__(
        self,
        frame: Frame,
        options: SqlOptions,
        steps: Sequence[Statement],
        each: Mapping[str, SqlOptions] | None = None,
    ) -> None:
        self.frame = frame
        self.options = options
        self.steps = steps
        self.each = each or {}
        self.sources: list[Source] = []
        self.topics: list[str] = []
        self.kept: dict[str, Quarantine | QuarantineTopic] = {}
        self.span: Span = {}
        self.sizes: dict[TopicPartition, float] = {}
        if frame.streaming and len([step for step in steps if not step.name]) > 1:
            raise UsageError(
                f"--{frame.mode} accepts only one statement; steps of `kcli pipeline run` can build on each other"
            )
        self.output: Output = output_of(frame, options)
        self.destination = self.output.label
        self.writes_to, self.exclusive = self.output.writes_to, self.output.exclusive
        self.prints = self.output.prints
        self.conf = self.output.conf

    def prepare(self, *, measure: bool = False) -> None:
        """Which topics are meant, and where their ranges begin and end; with `measure` bytes per record too. Raises
        KcliError."""
        named = self._named()
        Merging(self.options, None).check_topics(named)
        for topic in named:
            options = self.each.get(topic, self.options)
            if options.schema_mode and not self.writes_to:
                raise UsageError("--schema-mode requires --file-format: only files keep the schema of the first run")
            if options.schema_mode == "evolve":
                self.output.evolves()
            self._check_merge(options)
            source = Source(
                self.frame,
                [topic],
                options,
                options,
                schema_mode=options.schema_mode,
                usual="fail" if self.writes_to else "pinned",
                text=True,
                quarantine=self._quarantine(options),
                events=options.unwrap is not None,
            )
            source.prepare(measure=measure)
            self.span |= source.span
            self.sizes |= source.sizes
            self.sources.append(source)
        for place in self.kept.values():
            place.prepare(named)
        self.source = ", ".join(named) or "no topic"
        if not self.frame.streaming:
            self.spans = self.span
        elif not named:
            raise UsageError(
                f"--{self.frame.mode}: the SQL names no topic of this cluster, so there is nothing to follow"
            )
        self.output.check(self.source, [step.sql for step in self.steps])
        self.checkpoint = str(self.output.checkpoint or "")

    def _check_merge(self, options: SqlOptions) -> None:
        """Raise UsageError where records of these options cannot be merged."""
        if self.output.merges:
            Merging(options, None).check_payload(options)
        elif options.unwrap is not None:
            raise UsageError("--unwrap requires --merge COLUMN, the key of a row")

    def _quarantine(self, options: SqlOptions) -> str:
        """Where the tasks keep bad records of a topic; "" for nowhere."""
        place = place_of(self.frame, options, self.writes_to)
        kept = self.kept.get(place) or quarantine_of(self.frame, options, place)
        if kept is None:
            return ""
        self.kept[place] = kept
        self.quarantine = ", ".join(self.kept)
        return kept.target

    @property
    def written(self) -> Mapping[int, Written]:
        """By the output."""
        return self.output.written

    def _named(self) -> list[str]:
        """The topics that the steps read."""

        async def ask() -> list[str]:
            async with Client(self.frame.connection.client()) as client:
                return await self._ask(client)

        self.topics = asyncio.run(ask())
        names = {step.name for step in self.steps if step.name}
        twice = sorted(names & {*self.topics} & set(self.each))
        if twice:
            raise UsageError(f"{twice[0]} is the name of a step and of a topic that is read: rename the step")
        topics = [topic for topic in list(self.each) or self.topics if topic not in names]
        read = dict.fromkeys(name for step in self.steps for name in mentioned(step.sql, topics))
        unread = [topic for topic in self.each if topic not in read]
        if unread:
            raise UsageError(f"no step reads the topic {unread[0]}: FROM {unread[0]}")
        return list(read)

    async def _ask(self, client: Client) -> list[str]:
        """The topics of the cluster. Raises KcliError where one that is read is missing."""
        known = await client.cluster.topics()
        missing = [topic for topic in self.each if topic not in known]
        if missing:
            await partitions(client.cluster, missing[0])
        return sorted(known)

    def begin(self, spark: SparkSession, progress: str) -> Action | Stream:
        """The statements, or the query that they describe."""
        self._spark, self._progress = spark, progress
        work = self._made()
        if self.frame.streaming or self.writes_to:  # a batch that prints, or sends, would do it twice
            more = widening(self.frame, self.sources, self._clear, self._made)
            work.again = again_of(self.frame, work, self._clear, more)
        return work

    def _made(self) -> Action | Stream:
        self._running = self._script(self._spark, self._progress)
        work = self.output.begin(self._running, self._spark)
        for kept in self.kept.values():
            kept.begin()
        if self._pinned is not None:
            self._pinned.keep()
        return work

    def _clear(self) -> None:
        """Take away what a batch has half written; of a stream Spark knows what that is."""
        if not self.frame.streaming:
            self.undo()
            for kept in self.kept.values():
                kept.begin()

    def _script(self, spark: SparkSession, progress: str) -> Script:
        watermark = self.options.watermark
        views = [self._view(source, spark, progress) for source in self.sources]
        return Script(
            spark,
            views,
            self.steps,
            streaming=self.frame.streaming,
            topics=self.topics,
            watermark=None if watermark is None else ("timestamp", _interval(watermark)),
        )

    def _view(self, source: Source, spark: SparkSession, progress: str) -> View:
        self._typed(source, spark)
        texts = words([step.sql for step in self.steps])
        headers = any("headers" in text.lower() for text in texts)
        events = self.each.get(source.topics[0], self.options).unwrap is not None
        merges = ["topic partition offset", "key value" if events else ""] if self.output.merges else []
        columns = columns_for([*texts, *merges], everything=False, headers=headers)
        if self.options.watermark and "timestamp" not in columns:
            columns.append("timestamp")
        (topic,) = source.topics
        if self.frame.connector == "jvm":
            return View(
                topic=topic,
                form="kafka",
                options=source.jvm_options(),
                columns=tuple(source.columns(columns)),
                formats=source.formats,
                times=source.times,
                null_bad=source.null_bad,
                counts=source.counts,
                record=self.output.merges,
                events=events,
            )
        spark_options = source.options(columns, progress=progress)
        if self.output.cuts:
            spark_options["maxBytesPerPartition"] = str(LARGE)
        if self.output.stop_file is not None:
            spark_options["stopFile"] = str(self.output.stop_file)
        leave_out = bool(source.quarantine)
        return View(
            topic=topic,
            options=spark_options,
            times=source.times,
            null_bad=source.null_bad,
            counts=source.counts,
            leave_out=leave_out,
            record=self.output.merges,
            events=events,
        )

    def _typed(self, source: Source, spark: SparkSession) -> None:
        """The schema of JSON, by the newest records; beside others a topic without JSON stays text."""
        try:
            source.schema_of(spark, self._pin if self.frame.streaming and self.writes_to else None)
        except UsageError:
            if len(self.sources) == 1 or source.by_registry:
                raise
            source.as_text()

    def _pin(self) -> Pinned:
        """What is kept beside the checkpoint, once for all topics."""
        if self._pinned is None:
            self._pinned = Pinned(self.output.checkpoint or "")
        return self._pinned

    def finish(self, work: Action | Stream, seen: Progress) -> Outcome:
        """What was written is made to last."""
        for kept in self.kept.values():
            kept.settle()
        outcome = self.output.finish(work, seen)
        return with_unknown(self.frame, outcome, work.state() or self._running)

    def bad_rows(self) -> int:
        """What was counted."""
        return self._running.bad

    def undo(self) -> None:
        """Away with what is half written."""
        self.output.undo()
        for kept in self.kept.values():
            kept.undo()


def start(frame: Frame, job: Querying) -> int:
    """Look, then show the plan or do it. Returns the exit code."""
    if frame.dry_run:
        return show(frame, job, job.destination)
    frame.session(job.name)  # a missing dependency is reported before the first request
    job.prepare()
    frame.format = None if job.prints else frame.format
    return drive(frame, job)


def steps_of(options: SqlOptions) -> list[Statement]:
    """The statements of the line, of -f FILE or of stdin. Raises UsageError."""
    if len(options.words) > 1:
        raise UsageError("the SQL must be one argument: put it in quotes")
    if options.words and options.file is None:
        text = options.words[0]
    elif options.file is not None and not options.words:
        text = read_text(options.file, TEXT)
    else:
        raise UsageError("missing SQL: kcli pipeline sql 'SELECT …', or --file FILE")
    statements = split(text)
    if not statements:
        raise UsageError("the SQL has no statement")
    many = len(statements) > 1
    return [Statement(sql=sql, where=f"statement {number}" if many else "") for number, sql in enumerate(statements, 1)]


def _interval(text: str) -> str:
    """A duration as Spark has it; its own words ('10 minutes') pass, which files of pipelines have."""
    length = duration(text)
    return text if length is None else f"{length} milliseconds"
