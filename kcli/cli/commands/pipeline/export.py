"""`kcli pipeline export`: topics into files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.options import (
    SINKS,
    PipelineOptions,
    QuarantineOptions,
    QueryOptions,
    SchemaOptions,
    SourceOptions,
)
from kcli.cli.commands.pipeline.session.drive import drive
from kcli.cli.commands.pipeline.session.frame import Frame, delta_jars
from kcli.cli.commands.pipeline.session.job import Job, Outcome, again_of, widening, with_unknown
from kcli.cli.commands.pipeline.session.stream import FILES, name_of, stop_file_of, trigger_of
from kcli.cli.commands.pipeline.sink.folder import FolderOptions, compact_of, conf_of, folder_of, recover, size_of, told
from kcli.cli.commands.pipeline.sink.merging import MergeOptions, Merging
from kcli.cli.commands.pipeline.sink.quarantine import place_of, quarantine_of
from kcli.cli.commands.pipeline.source.pinned import Pinned
from kcli.cli.commands.pipeline.source.plan import show
from kcli.cli.commands.pipeline.source.source import Source
from kcli.cli.parsing.command import command
from kcli.cli.parsing.record_groups import TopicOptions
from kcli.errors import UsageError
from kcli.pipeline.jobs.bad import BadRows
from kcli.pipeline.jobs.files.export import TEXT, Export, FileForm, partitioning_of
from kcli.pipeline.jobs.frames import as_ours, chosen, columns_for, load, placed
from kcli.pipeline.jobs.lake.merging.latest import SEEN
from kcli.pipeline.jobs.work import Action, Stream
from kcli.pipeline.progress import Progress
from kcli.pipeline.source.task_sizes import LARGE

if TYPE_CHECKING:
    from typing import Annotated

    import typer
    from pyspark.sql import DataFrame, SparkSession

    from kcli.cli.parsing.shared import KcliOption
    from kcli.pipeline.jobs.lake.table import Written


class ExportOptions(
    FolderOptions,
    MergeOptions,
    QueryOptions,
    TopicOptions,
    SchemaOptions,
    QuarantineOptions,
    SourceOptions,
    PipelineOptions,
):
    moved = (("--to", "--file-format FORMAT"),)
    file_format: Annotated[
        str | None, KcliOption("--file-format", choices=SINKS, help="The format of the files (default parquet).")
    ] = None
    out: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="The destination, instead of the last argument.")
    ] = None
    partition_by: Annotated[
        str | None,
        typer.Option(
            "--partition-by",
            metavar="COLUMN,…",
            help="Create a folder for each value; date and hour come from the timestamp, and day(COLUMN) from a "
            "column with a time (year, month, hour too).",
        ),
    ] = None
    compression: Annotated[
        str | None,
        typer.Option(
            "-z",
            "--compression",
            metavar="CODEC",
            help="zstd, snappy, gzip, lz4, none, … (default zstd in parquet and ORC).",
        ),
    ] = None
    files: Annotated[int | None, typer.Option("--files", min=1, help="Write about N files.")] = None


@command(
    "pipeline export",
    help="Export topics to parquet, JSON, CSV, ORC, Delta or Iceberg.",
    words="TOPIC... DIR",
    examples="""
kcli pipeline export orders --file-format parquet out/orders
kcli pipeline export orders --file-format parquet out -o @-1d: --partition-by date,partition
kcli pipeline export orders --file-format parquet out --value-format json --partition-by 'day(value.created)'
kcli pipeline export orders --file-format csv out --value-format json --select 'key, value.user, value.total'
kcli pipeline export orders --file-format json out --where 'partition = 3 AND offset >= 1000' --files 1
kcli pipeline export orders --file-format parquet out --once          # again tomorrow: the new records
kcli pipeline export orders --file-format parquet out --value-format json --once --schema-mode evolve
kcli pipeline export orders --file-format parquet out --value-format json --on-bad quarantine
kcli pipeline export orders --file-format parquet out --value-format avro --schema-registry http://localhost:8081
kcli pipeline export orders lake.orders --file-format iceberg --warehouse lake --once
kcli pipeline export orders lake.orders --file-format iceberg --warehouse lake --continuous --prometheus :9308
kcli pipeline export db.orders out --file-format delta --value-format json --merge id --unwrap debezium --once
kcli pipeline export orders --file-format parquet out --dry-run       # only the plan""",
)
def export(options: ExportOptions) -> int:
    """Write the records of topics into files in folder DIR: key, value, topic, partition, offset, timestamp,
    timestampType and headers, or the columns of --select. The folder appears only when the export is complete: a run
    that fails leaves no files, and --overwrite replaces files only then. A Delta table gets a new version. With
    --file-format iceberg the last argument is NAMESPACE.TABLE, in --warehouse or --catalog; each batch is one commit.

    --once writes the records since the last run, exactly once; --continuous keeps running. Both save progress in a
    checkpoint. By default keys and values are binary in parquet, ORC and Delta, and strings in JSON and CSV.
    Conditions on partition, offset and timestamp reduce how much is read."""
    frame = Frame(options, "export")
    topics, out = [*options.topics, *options.words], options.out
    if out is None:
        if len(options.words) + bool(options.topics) < 2:
            raise UsageError("missing arguments: kcli pipeline export TOPIC DIR --file-format parquet")
        out = topics.pop()
    job = Exporting(frame, options, topics, out)
    if frame.dry_run:
        return show(frame, job.input, f"{out} ({job.form.form})")
    frame.session(job.name)  # a missing dependency is reported before the first request
    job.prepare()
    return drive(frame, job)


class Exporting(Job):
    """What the line says, as a job."""

    name = "export"
    verb = "exported"
    _bad: BadRows | None = None
    _before: Export | None = None

    def __init__(self, frame: Frame, options: ExportOptions, topics: list[str], out: str) -> None:
        self.frame = frame
        self.query = options
        folders = partitioning_of(options.partition_by)
        self.form = FileForm(
            form=options.file_format or "parquet",
            compression=options.compression or "",
            partition_by=folders.names,
            made=folders.made,
            units=folders.units,
            size=size_of(options),
            compact=compact_of(options),
            files=options.files or 0,
            jars=delta_jars(frame),
            evolve=options.schema_mode == "evolve",
        )
        self.merging = Merging(options, options.select)
        self.merging.check(frame, self.form, options)
        self.merging.check_payload(options)
        self.folder = folder_of(frame, options, self.form, out, self.merging.merge)
        self.conf = conf_of(frame, self.form, self.folder)
        self.destination = out
        self.writes_to = self.folder.place
        self.exclusive = "" if self.form.is_table else self.folder.place
        place = self.folder.place if self.form.form == "iceberg" else out
        self.quarantine = place_of(frame, options, place)
        self.kept = quarantine_of(frame, options, self.quarantine)
        self.input = self._input(topics)
        self.source = self.input.label
        recover(frame, self.folder)
        if frame.streaming:
            self._checkpoint = frame.checkpoint(name_of("export", self.source, place, self.form.form))
            self.checkpoint = str(self._checkpoint)
            self.folder.check_stream(self._checkpoint, self.form.form, self.form.partition_by)
        else:
            self.folder.check(self.form.form, self.form.partition_by)

    def _input(self, topics: list[str]) -> Source:
        """What is read."""
        options = self.query
        return Source(
            self.frame,
            topics,
            options,
            options,
            schema_mode=options.schema_mode,
            usual="fail" if self.frame.streaming else "evolve",
            text=self.form.form in TEXT,
            quarantine="" if self.kept is None else self.kept.target,
            events=self.merging.events,
        )

    def prepare(self) -> None:
        """Ask the cluster."""
        self.input.prepare()
        self.merging.check_topics(self.input.named, pattern=self.input.selection.pattern is not None)
        if self.kept is not None:
            self.kept.prepare(self.input.topics)
        if not self.frame.streaming:
            self.spans = self.input.span

    def begin(self, spark: SparkSession, progress: str) -> Action | Stream:
        """The work, with its columns and conditions looked up."""
        self._spark, self._progress = spark, progress
        work = self._made()
        work.again = again_of(
            self.frame, work, self._clear, widening(self.frame, [self.input], self._clear, self._made)
        )
        return work

    def _clear(self) -> None:
        """Take away what a batch has half written; of a stream Spark knows what that is."""
        if not self.frame.streaming:
            self.undo()
            if self.kept is not None:
                self.kept.begin()

    def _made(self) -> Action | Stream:
        query, form, streaming = self.query, self.form, self.frame.streaming
        pinned = self.input.schema_of(self._spark, self._pinned if streaming else None)
        kcli = self.frame.connector == "kcli"
        stop_file = stop_file_of(self.frame, self._checkpoint) if streaming and kcli else None
        frame = self._records(self._spark, self._progress, "" if stop_file is None else str(stop_file))
        where = query.sql_where
        if self.input.counts:
            frame, where = placed(frame, where)
            self._bad = BadRows(frame, leave_out=self.kept is not None)
            frame = self._bad.frame
        merging = self.merging
        beside = [name for name, _ in merging.beside]
        frame = merging.seen(frame)
        frame = chosen(frame, where, merging.select, [*form.partition_by, *beside], (*form.made, *merging.beside))
        frame = frame.drop(SEEN)
        null_bad, before = self.input.null_bad and self.kept is None, self._before
        table, tell = self.folder.table, told(self.frame)
        self._before = self._export = Export(frame, form, table, merging.merge, tell, null_bad=null_bad)
        if streaming and before is not None:
            self._export.bytes, self._export.written = before.bytes, before.written
        if self.kept is not None:
            self.kept.begin()
        if not streaming:
            return self._export.batch(self.folder.target, self.folder.spark_mode)
        stream = self._export.stream(self.folder.target, self._checkpoint, trigger_of(self.frame, FILES), stop_file)
        if pinned is not None:
            pinned.keep()
        return stream

    def _records(self, spark: SparkSession, progress: str, stop_file: str) -> DataFrame:
        """The columns of the records that are written or looked at."""
        query, form, source, streaming = self.query, self.form.form, self.input, self.frame.streaming
        texts = [self.merging.select or "", *query.sql_where, *self.form.partition_by, *self.merging.texts]
        texts += [sql for _, sql in self.form.made]
        columns = columns_for(texts, everything=self.merging.select is None, headers=form != "csv")
        if self.frame.connector == "jvm":
            frame = load(spark, "kafka", source.jvm_options(), streaming=streaming, times=source.times)
            named = source.columns(columns)
            return as_ours(frame, named, source.formats, text=form in TEXT, null_bad=source.null_bad)
        spark_options = source.options(columns, progress=progress)
        spark_options["maxBytesPerPartition"] = str(LARGE)
        if stop_file:
            spark_options["stopFile"] = stop_file
        return load(spark, "kcli", spark_options, streaming=streaming, times=source.times)

    def _pinned(self) -> Pinned:
        return Pinned(self._checkpoint)

    def finish(self, work: Action | Stream, seen: Progress) -> Outcome:
        """The folder gets its name."""
        stood = work.state()
        if self.kept is not None:
            self.kept.settle()
        size = self.folder.settle()
        outcome = Outcome(
            records=self._export.rows if stood is None else stood.rows,
            bytes=self._export.bytes if self.folder.table is not None else size,
        )
        return with_unknown(self.frame, outcome, stood or self._bad)

    def bad_rows(self) -> int:
        """What was counted."""
        return sum(bad.rows for bad in (self._bad, self._export.bad) if bad is not None)

    @property
    def written(self) -> Mapping[int, Written]:
        """By what was exported."""
        return self._export.written

    def undo(self) -> None:
        """Away with what is half written."""
        self.folder.undo()
        if self.kept is not None:
            self.kept.undo()
