"""`kcli pipeline profile TOPIC`: counted by Spark, shown as plots on a terminal, tables in a pipe, JSON, or a page."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.options import FORMATS, PipelineOptions, RangeOptions
from kcli.cli.commands.pipeline.profile.page import page
from kcli.cli.commands.pipeline.profile.rows import (
    SHAPE,
    FieldRow,
    KeyRow,
    PartitionRow,
    ProfiledTopicRow,
    SizeRow,
    StepRow,
    field_rows,
    key_row,
    partition_row,
    size_row,
    step_row,
    topic_row,
)
from kcli.cli.commands.pipeline.session.drive import drive
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.commands.pipeline.session.job import Job, Outcome
from kcli.cli.commands.pipeline.source.plan import show
from kcli.cli.commands.pipeline.source.source import Source
from kcli.cli.output.messages import complain
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.output.written import check, written
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics, OverwriteOptions
from kcli.errors import UsageError
from kcli.pipeline.jobs.frames import as_ours, load
from kcli.pipeline.jobs.profile import Profile, profile
from kcli.pipeline.jobs.work import Action, Stream
from kcli.pipeline.progress import Progress

if TYPE_CHECKING:
    from typing import Annotated

    import typer
    from pyspark.sql import DataFrame, SparkSession

    from kcli.cli.parsing.shared import KcliOption

TOP = 20
SAMPLE = 100_000


class ProfileOptions(NamedTopics, RangeOptions, PipelineOptions, OverwriteOptions):
    html: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="Write a self-contained web page with charts.")
    ] = None
    top: Annotated[int | None, typer.Option("--top", min=1, help="Show the N most frequent keys (default 20).")] = None
    sample: Annotated[
        int | None,
        typer.Option("--sample", min=0, help="Parse about N values for their fields (default 100000; 0: all)."),
    ] = None
    format: Annotated[
        str | None,
        KcliOption("--format", choices=FORMATS, help="Format of the rows on stdout (default table; ndjson streams)."),
    ] = None


@command(
    "pipeline profile",
    help="Profile a topic: sizes, keys, rate, JSON fields.",
    words="TOPIC",
    examples="""
kcli pipeline profile orders
kcli pipeline profile orders -o @-1d: --html orders.html
kcli pipeline profile orders --json | jq .fields
kcli pipeline profile orders --sample 0 --top 50         # parse every value""",
)
def profile_topic(options: ProfileOptions) -> int:
    """Count all records of the topic and parse a sample of the values. The profile shows the spread over partitions,
    keys and time, sizes, nulls, gaps in the offsets, and each JSON field with its types, null share, distinct values,
    minimum, maximum and examples."""
    if len(options.words) != 1:
        raise UsageError("missing argument: kcli pipeline profile TOPIC")
    frame = Frame(options, "profile")
    if frame.streaming:
        raise UsageError(f"--{frame.mode}: a profile reads only the current records")
    job = Profiling(frame, options, options.words[0])
    if frame.dry_run:
        return show(frame, job.input, "a profile")
    form, frame.format = frame.format, None
    frame.session(job.name)
    job.input.prepare()
    job.spans = job.input.span
    code = drive(frame, job)
    if job.result is not None and code == 0:
        _print(frame, job, job.result, form)
    return code


class Profiling(Job):
    """Look at one topic."""

    name = "profile"
    verb = "looked at"

    def __init__(self, frame: Frame, options: ProfileOptions, topic: str) -> None:
        self.frame = frame
        self.input = Source(frame, [topic], options)
        self.source = self.destination = topic
        self.html = options.html
        self.force = options.force
        if self.html is not None:
            check(self.html, "--html", force=self.force)
        self.top = options.top or TOP
        self.sample = SAMPLE if options.sample is None else options.sample
        self.prints = self.html is None
        self.result: Profile | None = None

    def begin(self, spark: SparkSession, progress: str) -> Action | Stream:
        """All questions, one after the other."""

        def frame(columns: list[str]) -> DataFrame:
            if self.frame.connector == "jvm":
                raw = load(spark, "kafka", self.input.jvm_options(), streaming=False, times=self.input.times)
                return as_ours(raw, columns, {}, text=False)
            options = self.input.options(columns, progress=progress) | {"pushdown": "false"}
            return load(spark, "kcli", options, streaming=False, times=self.input.times)

        def work() -> None:
            self.result = profile(frame, self.source, self.input.span, top=self.top, sample=self.sample)

        return Action(spark, work)

    def finish(self, work: Action | Stream, seen: Progress) -> Outcome:
        """Nothing has to be made to last."""
        return Outcome(records=self.result.records if self.result is not None else -1)


def _print(frame: Frame, job: Profiling, result: Profile, form: str | None) -> None:
    if job.html is not None:
        with written(job.html, "--html", force=job.force) as file:
            file.write(page(result).encode())
        if not frame.quiet:
            complain(f"the page is {job.html}")
        if form is None:
            return
    if form in (None, "table") and sys.stdout.isatty():
        from kcli.cli.commands.pipeline.profile.plots import draw

        draw(result, sys.stdout, wide=frame.view.wide)
        return
    made = document(result)
    made.view = frame.view
    write(made, form or "table")


def document(result: Profile) -> Document:
    """The rows of a profile."""
    document = Document(shape=SHAPE)
    document.of(PartitionRow).extend(map(partition_row, result.partitions))
    document.of(SizeRow).extend(map(size_row, result.sizes))
    document.of(KeyRow).extend(map(key_row, result.keys))
    document.of(StepRow).extend(map(step_row, result.rate))
    document.of(FieldRow).extend(field_rows(result.fields))
    document.of(ProfiledTopicRow).append(topic_row(result))
    return document
