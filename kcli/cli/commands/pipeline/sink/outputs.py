"""Where rows of SQL go: the terminal, a topic, files. One class each, chosen by `output_of`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.options import FORMATS, SINKS
from kcli.cli.commands.pipeline.session.frame import Frame, delta_jars
from kcli.cli.commands.pipeline.session.job import Outcome
from kcli.cli.commands.pipeline.session.stream import FILES, name_of, stop_file_of, trigger_of
from kcli.cli.commands.pipeline.sink.folder import FolderOptions, compact_of, conf_of, folder_of, recover, size_of, told
from kcli.cli.commands.pipeline.sink.formats import WrittenFormats, WrittenOptions
from kcli.cli.commands.pipeline.sink.merging import MergeOptions, Merging
from kcli.cli.commands.pipeline.sink.results import Results
from kcli.cli.commands.pipeline.sink.target import Target
from kcli.cli.output.messages import complain
from kcli.cli.parsing.record_groups import TargetOptions
from kcli.errors import UsageError
from kcli.pipeline.jobs.files.export import FileForm, partitioning_of
from kcli.pipeline.jobs.sql import Script
from kcli.pipeline.jobs.work import Action, Stream
from kcli.pipeline.progress import Progress

if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer
    from pyspark.sql import DataFrame, SparkSession

    from kcli.cli.parsing.shared import KcliOption
    from kcli.pipeline.jobs.lake.table import Written


class RowsOptions(FolderOptions, MergeOptions, TargetOptions, WrittenOptions):
    """Where rows go, and how."""

    format: Annotated[
        str | None,
        KcliOption("--format", choices=FORMATS, help="Format of the rows on stdout (default table; ndjson streams)."),
    ] = None
    top: Annotated[
        int | None,
        typer.Option("--top", min=1, help="At most N rows of each result (default for a table: 1000)."),
    ] = None
    into: Annotated[
        str | None, typer.Option("--into", metavar="TOPIC", help="Send the last statement's rows to TOPIC.")
    ] = None
    file_format: Annotated[
        str | None,
        KcliOption("--file-format", choices=SINKS, help="Write the last statement's rows as files; --out says where."),
    ] = None
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="The folder for --file-format; for iceberg, NAMESPACE.TABLE."),
    ] = None
    partition_by: Annotated[
        str | None,
        typer.Option(
            "--partition-by",
            metavar="COLUMN,…",
            help="Create a folder for each value; day(COLUMN) comes from a column with a time (year, month, hour too).",
        ),
    ] = None
    compression: Annotated[
        str | None,
        typer.Option(
            "-z",
            "--compression",
            metavar="CODEC",
            help="For files: zstd, snappy, …; for --into: gzip, snappy, lz4 or zstd.",
        ),
    ] = None
    output_mode: Annotated[
        Literal["append", "update", "complete"] | None,
        typer.Option(
            "--output-mode",
            help="Which rows each batch of a stream outputs (default: append, or what the query allows).",
        ),
    ] = None
    watermark: Annotated[
        str | None,
        typer.Option(
            "--watermark",
            metavar="DURATION",
            help="How late records may arrive before their window closes, such as 10m.",
        ),
    ] = None


class Output:
    """`check` before Spark is up, then `begin`, then `finish` or `undo`. Raises UsageError."""

    prints = False
    label = ""
    writes_to = ""
    exclusive = ""
    """As `Job` has them."""
    conf: tuple[tuple[str, str], ...] = ()
    """Settings of Spark for it."""
    cuts = True
    """Whether several tasks may read a partition; rows that go into a topic keep their order."""
    kind = "print"  # a word for the name of the pipeline
    merges = False
    """Whether rows are merged into a table."""

    def __init__(self, frame: Frame, options: RowsOptions) -> None:
        self.frame = frame
        self.options = options
        self.checkpoint: Path | str | None = None
        self.stop_file: Path | None = None

    def check(self, source: str, statements: Sequence[str]) -> None:
        """Everything that can be seen to be wrong by now."""
        if self.frame.streaming:
            name = name_of("sql", source, self.label, self.kind, statements)
            self.checkpoint = self.frame.checkpoint(name)
            if self.frame.connector == "kcli":
                self.stop_file = stop_file_of(self.frame, self.checkpoint)

    def evolves(self) -> None:
        """Let it get columns and wider types, where it has any."""

    def begin(self, script: Script, spark: SparkSession) -> Action | Stream:
        """The work."""
        if self.frame.streaming:
            return self.stream(last_of(script))
        from kcli.pipeline.jobs.work import Action

        return Action(spark, lambda: self.batch(script))

    def batch(self, script: Script) -> None:
        """All statements."""
        self.write(last_of(script))

    def write(self, frame: DataFrame) -> None:
        """The rows of the last statement."""
        raise NotImplementedError

    def stream(self, frame: DataFrame) -> Stream:
        """The rows as they come."""
        raise NotImplementedError

    @property
    def written(self) -> Mapping[int, Written]:
        """What each batch put into a table, by its number."""
        return {}

    def finish(self, work: Action | Stream, seen: Progress) -> Outcome:
        """Make it last."""
        stood = work.state()
        return Outcome(records=-1 if stood is None else stood.rows)

    def undo(self) -> None:
        """Leave nothing behind."""


class Printed(Output):
    """To stdout."""

    prints = True
    label = "stdout"

    def __init__(self, frame: Frame, options: RowsOptions) -> None:
        super().__init__(frame, options)
        if frame.streaming and frame.remote is not None:
            raise UsageError("--remote: the rows of a stream stay on the server; add --into or --out")
        self._results = Results(frame.format or "table", options.top, view=frame.view)

    def batch(self, script: Script) -> None:
        """Every statement's rows, as each is done."""
        for step, frame in script.frames():
            if frame.columns and not step.name:
                self._results.show(frame)

    def stream(self, frame: DataFrame) -> Stream:
        """Each batch's rows."""
        from kcli.pipeline.jobs.sql import started
        from kcli.pipeline.jobs.work import Stream

        assert self.checkpoint is not None
        writer = frame.writeStream.foreachBatch(lambda rows, _: self._results.show(rows))
        writer = trigger_of(self.frame).on(writer.option("checkpointLocation", str(self.checkpoint)))
        mode = self.options.output_mode
        return Stream(lambda: started(writer, mode), self.stop_file)

    def finish(self, work: Action | Stream, seen: Progress) -> Outcome:
        """Say how many rows a table has not."""
        if self._results.cut and not self.frame.quiet:
            complain(f"the first {self._results.cut:,} rows; --top N shows more, --format ndjson all")
        return Outcome(records=self._results.rows)


class IntoTopic(Output):
    """To a topic."""

    kind = "topic"
    cuts = False

    def __init__(self, frame: Frame, options: RowsOptions, topic: str) -> None:
        super().__init__(frame, options)
        self.target = Target(frame, topic, options.compression, options)
        url = options.given().get("schema_registry")  # that of what is read
        self.formats = WrittenFormats(options, frame, registry=str(url) if url and not self.target.elsewhere else None)
        self.label = topic
        self._rows = -1

    def check(self, source: str, statements: Sequence[str]) -> None:
        """The topic is there, and is none that is read."""
        super().check(source, statements)
        if not self.target.elsewhere and self.target.topic in source.split(", "):
            raise UsageError(f"--into {self.target.topic}: the SQL reads that topic, so it would read its own records")
        self.target.check()

    def _options(self) -> tuple[str, dict[str, str]]:
        if self.frame.connector == "jvm":
            return "kafka", self.target.jvm_options()
        return "kcli", self.formats.options(self.target.options(progress="", timestamps=False))

    def write(self, frame: DataFrame) -> None:
        """All of them, once."""
        from kcli.pipeline.jobs.records import Sink
        from kcli.pipeline.jobs.sql import records_of

        sink = Sink(records_of(frame, self.formats.typed), *self._options())
        sink.write()
        self._rows = sink.rows

    def finish(self, work: Action | Stream, seen: Progress) -> Outcome:
        """How many were sent."""
        stood = work.state()
        return Outcome(records=self._rows if stood is None else stood.rows)

    def stream(self, frame: DataFrame) -> Stream:
        """As they come."""
        from kcli.pipeline.jobs.sql import records_of, started
        from kcli.pipeline.jobs.work import Stream

        rows = records_of(frame, self.formats.typed)
        form, options = self._options()
        writer = rows.writeStream.format(form).options(**options)
        writer = trigger_of(self.frame).on(writer.option("checkpointLocation", str(self.checkpoint)))
        mode = self.options.output_mode
        return Stream(lambda: started(writer, mode), self.stop_file)


class IntoFiles(Output):
    """To a folder of files."""

    def __init__(self, frame: Frame, options: RowsOptions, form: str, out: str) -> None:
        super().__init__(frame, options)
        folders = partitioning_of(options.partition_by)
        self.form = FileForm(
            form=form,
            compression=options.compression or "",
            partition_by=folders.names,
            made=folders.made,
            units=folders.units,
            size=size_of(options),
            compact=compact_of(options),
            jars=delta_jars(frame),
        )
        self.kind = form
        merging = Merging(options, None)
        merging.check(frame, self.form, options)
        self.merge = merging.merge
        self.merges = merging.merge is not None
        self.folder = folder_of(frame, options, self.form, out, merging.merge)
        self.conf = conf_of(frame, self.form, self.folder)
        if options.output_mode not in (None, "append") and not self.merges:
            raise UsageError(f"--output-mode {options.output_mode}: files can only be added to")
        self.label = self.folder.place if form == "iceberg" else out
        self.writes_to = self.folder.place
        self.exclusive = "" if self.form.is_table else self.folder.place
        self._rows = -1

    def check(self, source: str, statements: Sequence[str]) -> None:
        """The folder may be written."""
        super().check(source, statements)
        recover(self.frame, self.folder)
        if self.checkpoint is not None:
            self.folder.check_stream(self.checkpoint, self.form.form, self.form.partition_by)
        else:
            self.folder.check(self.form.form, self.form.partition_by)

    def evolves(self) -> None:
        """A table gets them; a folder of files has them in its new files."""
        self.form = self.form.replace(evolve=True)

    def write(self, frame: DataFrame) -> None:
        """All of them, once."""
        from kcli.pipeline.jobs.files.export import Export

        export = self._export = Export(frame, self.form, self.folder.table, self.merge, told(self.frame))
        export.write(self.folder.target, self.folder.spark_mode)
        self._rows = export.rows

    def stream(self, frame: DataFrame) -> Stream:
        """As they come."""
        from kcli.pipeline.jobs.files.export import Export

        assert self.checkpoint is not None
        export = self._export = Export(frame, self.form, self.folder.table, self.merge, told(self.frame))
        trigger = trigger_of(self.frame, FILES)
        if not self.merges:
            return export.stream(self.folder.target, self.checkpoint, trigger, self.stop_file)
        from kcli.pipeline.jobs.sql import started

        mode = self.options.output_mode
        begin = partial(started, mode=mode)
        return export.stream(self.folder.target, self.checkpoint, trigger, self.stop_file, begin)

    def finish(self, work: Action | Stream, seen: Progress) -> Outcome:
        """The folder gets its name."""
        stood = work.state()
        size = self.folder.settle()
        return Outcome(
            records=self._rows if stood is None else stood.rows,
            bytes=self._export.bytes if self.folder.table is not None else size,
        )

    @property
    def written(self) -> Mapping[int, Written]:
        """By what was exported."""
        return self._export.written

    def undo(self) -> None:
        """Away with what is half written."""
        self.folder.undo()


def output_of(frame: Frame, options: RowsOptions) -> Output:
    """What the line says. Raises UsageError."""
    into, form, out = options.into, options.file_format, options.out
    if into is not None and form is not None:
        raise UsageError("--into (a topic) and --file-format (files) cannot be combined")
    if (form is None) != (out is None):
        raise UsageError("--file-format FORMAT and --out DIR require each other")
    if options.top is not None and (into is not None or form is not None):
        raise UsageError("--top limits printed rows; use LIMIT in the SQL instead")
    if options.output_mode is not None and not frame.streaming:
        raise UsageError("--output-mode requires --once or --continuous")
    if options.watermark is not None and not frame.streaming:
        raise UsageError("--watermark requires --once or --continuous")
    if options.merge is not None and form is None:
        raise UsageError("--merge requires --file-format delta or iceberg, because it replaces rows of a table")
    if into is not None:
        return IntoTopic(frame, options, into)
    WrittenFormats(options, frame, topic=False)
    return Printed(frame, options) if form is None or out is None else IntoFiles(frame, options, form, out)


def last_of(script: Script) -> DataFrame:
    """The rows of the last statement, after all others ran. Raises UsageError where another has rows too."""
    rows: DataFrame | None = None
    earlier = False
    for step, frame in script.frames():
        if earlier:
            raise UsageError("only the rows of the last statement are written, but an earlier statement has rows, too")
        earlier = bool(frame.columns) and not step.name
        rows = frame
    assert rows is not None
    if not rows.columns:
        raise UsageError("the last statement has no rows that could be written")
    return rows
