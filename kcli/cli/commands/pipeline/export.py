"""`kcli pipeline export`: topics into files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.session.drive import Job, Outcome, drive
from kcli.cli.commands.pipeline.session.frame import PACKAGES, Frame
from kcli.cli.commands.pipeline.session.stream import name_of, stop_file_of, trigger_of
from kcli.cli.commands.pipeline.source.pinned import Pinned
from kcli.cli.commands.pipeline.source.source import Source
from kcli.errors import UsageError
from kcli.pipeline.jobs.bad import BadRows
from kcli.pipeline.jobs.files.export import TEXT, FileForm, check
from kcli.pipeline.jobs.files.folder import Folder
from kcli.pipeline.jobs.work import Action, Stream
from kcli.pipeline.progress_sum import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kcli.cli.parsing.option import Values

DELTA = (
    ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"),
    ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
)


class Exporting(Job):
    """What the line says, as a job."""

    name = "export"
    verb = "exported"
    _bad: BadRows | None = None

    def __init__(self, frame: Frame, topics: list[str], out: str) -> None:
        values = frame.values
        self.frame = frame
        self.form = FileForm(
            form=values["to"] or "parquet",
            compression=values["compression"] or "",
            partition_by=tuple(one.strip() for one in (values["partition_by"] or "").split(",") if one.strip()),
            files=values["files"] or 0,
            jars=delta_jars(frame),
        )
        check(self.form)
        if values["append"] and values["overwrite"]:
            raise UsageError("--append and --overwrite: one of them")
        if frame.streaming and values["overwrite"]:
            raise UsageError(f"--{frame.mode} adds to what it wrote before; --overwrite is for --batch")
        mode = "append" if values["append"] else "overwrite" if values["overwrite"] else "error"
        self.folder = Folder(out, mode, direct=frame.streaming or self.form.form == "delta")
        self.destination = out
        self.writes_to = self.folder.place
        self.input = Source(frame, topics)
        self.source = self.input.label
        if self.form.form == "delta" and self.form.jars:
            self.conf = DELTA
        elif self.form.form == "delta" and frame.streaming and frame.remote is not None:
            raise UsageError(
                f"--{frame.mode} into a Delta table goes with --master: its versions are made by the driver"
            )
        if frame.streaming:
            self._checkpoint = frame.checkpoint(name_of("export", self.source, out, self.form.form))
            self.checkpoint = str(self._checkpoint)
            self.folder.check_stream(self._checkpoint, self.form.form, self.form.partition_by)
        else:
            self.folder.check(self.form.form, self.form.partition_by)

    def look(self) -> None:
        """Ask the cluster."""
        self.input.look()
        if not self.frame.streaming:
            self.spans = self.input.span

    def begin(self, spark: SparkSession, progress: str) -> Action | Stream:
        """The work, with its columns and conditions looked up."""
        from kcli.pipeline.jobs.bad import BadRows
        from kcli.pipeline.jobs.files.export import Export
        from kcli.pipeline.jobs.frames import as_ours, chosen, columns_for, load, placed

        values, form, source = self.frame.values, self.form, self.input
        text, streaming = form.form in TEXT, self.frame.streaming
        pinned = source.schema_of(spark, self._pinned if streaming else None)
        texts = [values["select"] or "", *values["sql_where"], *form.partition_by]
        columns = columns_for(texts, everything=values["select"] is None, headers=form.form != "csv")
        stop_file = stop_file_of(self._checkpoint) if streaming else None
        if self.frame.connector == "jvm":
            frame = load(spark, "kafka", source.jvm_options(), streaming=streaming)
            errors = [f"{part}Error" for part in source.schemed if part in columns] if source.null_bad else []
            frame = as_ours(frame, [*columns, *errors], source.formats, text=text, null_bad=source.null_bad)
            stop_file = None
        else:
            options = source.options(columns, progress=progress, text=text)
            if stop_file is not None:
                options["stopFile"] = str(stop_file)
            frame = load(spark, "kcli", options, streaming=streaming)
        where = values["sql_where"]
        if source.null_bad:
            frame, where = placed(frame, where)
            self._bad = BadRows(frame)
            frame = self._bad.frame
        frame = chosen(frame, where, values["select"], form.partition_by)
        self._export = Export(frame, form)
        if pinned is not None:
            pinned.keep()
        if not streaming:
            return self._export.batch(self.folder.target, self.folder.spark_mode)
        return self._export.stream(self.folder.target, self._checkpoint, trigger_of(self.frame), stop_file)

    def _pinned(self) -> Pinned:
        return Pinned(self._checkpoint)

    def finish(self, work: Action | Stream, seen: Progress) -> Outcome:
        """The folder gets its name."""
        stood = work.look()
        return Outcome(records=self._export.rows if stood is None else stood.rows, bytes=self.folder.settle())

    def bad_rows(self) -> int:
        """What was counted."""
        return self._bad.rows if self._bad is not None else 0

    def undo(self) -> None:
        """Away with what is half written."""
        self.folder.undo()


def run(values: Values) -> int:
    """Export. Returns the exit code."""
    frame = Frame(values, "export")
    topics, out = [*values["topics"], *(values["words"] or [])], values["out"]
    if out is None:
        if len(values["words"] or []) + bool(values["topics"]) < 2:
            raise UsageError("export what, and where to? kcli pipeline export TOPIC DIR --to parquet")
        out = topics.pop()
    job = Exporting(frame, topics, out)
    if frame.dry_run:
        from kcli.cli.commands.pipeline.source.plan import show

        return show(frame, job.input, f"{out} ({job.form.form})")
    frame.session(job.name)  # what is missing is said before the cluster is asked
    job.look()
    return drive(frame, job)


def delta_jars(frame: Frame) -> bool:
    """Whether --conf brings Delta's own jars: then Spark reads and writes Delta tables by them."""
    return any("delta" in frame.conf.get(key, "") for key in (PACKAGES, "spark.jars"))
