"""`kcli pipeline profile TOPIC`: counted by Spark, told as plots on a terminal, tables in a pipe, JSON, or a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.session.drive import Job, Outcome, drive, say
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.commands.pipeline.source.source import Source
from kcli.cli.output.render import Document
from kcli.cli.parsing.command import Legacy
from kcli.errors import UsageError
from kcli.pipeline.jobs.profile import Profile
from kcli.pipeline.jobs.work import Action, Stream
from kcli.pipeline.progress_sum import Progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kcli.cli.parsing.option import Values

TOP = 20
SAMPLE = 100_000


class Profiling(Job):
    """Look at one topic."""

    name = "profile"
    verb = "looked at"

    def __init__(self, frame: Frame, topic: str) -> None:
        values = frame.values
        self.frame = frame
        usual = dict.fromkeys(("key_format", "value_format", "key_schema", "value_schema"))
        frame.values = Legacy({**usual, "topics": [], **values})
        self.input = Source(frame, [topic])
        self.source = self.destination = topic
        self.html = Path(values["html"]) if values["html"] is not None else None
        if self.html is not None and not self.html.absolute().parent.is_dir():
            raise UsageError(f"--html {self.html}: there is no folder {self.html.absolute().parent}")
        if self.html is not None and self.html.is_dir():
            raise UsageError(f"--html {self.html} is a folder; name a file")
        self.top: int = values["top"] or TOP
        self.sample: int = SAMPLE if values["sample"] is None else values["sample"]
        self.prints = self.html is None
        self.made: Profile | None = None

    def begin(self, spark: SparkSession, progress: str) -> Action | Stream:
        """All questions, one after the other."""
        from kcli.pipeline.jobs.frames import as_ours, load
        from kcli.pipeline.jobs.profile import profile
        from kcli.pipeline.jobs.work import Action

        def frame(columns: list[str]) -> DataFrame:
            if self.frame.connector == "jvm":
                raw = load(spark, "kafka", self.input.jvm_options(), streaming=False)
                return as_ours(raw, columns, {}, text=False)
            options = self.input.options(columns, progress=progress) | {"pushdown": "false"}
            return load(spark, "kcli", options, streaming=False)

        def work() -> None:
            self.made = profile(frame, self.source, self.input.span, top=self.top, sample=self.sample)

        return Action(spark, work)

    def finish(self, work: Action | Stream, seen: Progress) -> Outcome:
        """Nothing has to be made to last."""
        return Outcome(records=self.made.records if self.made is not None else -1)


def run(values: Values) -> int:
    """Profile. Returns the exit code."""
    words = values["words"] or []
    if len(words) != 1:
        raise UsageError("profile which topic? kcli pipeline profile TOPIC")
    frame = Frame(values, "profile")
    if frame.streaming:
        raise UsageError(f"--{frame.mode}: a profile is of what is there now")
    job = Profiling(frame, words[0])
    form, frame.format = frame.format, None
    if frame.dry_run:
        from kcli.cli.commands.pipeline.source.plan import show

        frame.format = form
        return show(frame, job.input, "a profile")
    frame.session(job.name)
    job.input.look()
    job.spans = job.input.span
    code = drive(frame, job)
    if job.made is not None and code == 0:
        _tell(frame, job, job.made, form)
    return code


def _tell(frame: Frame, job: Profiling, made: Profile, form: str | None) -> None:
    import sys

    from kcli.cli.output.render import write

    if job.html is not None:
        from kcli.cli.commands.pipeline.profile.page import page

        job.html.write_text(page(made), encoding="utf-8")
        if not frame.quiet:
            say(f"the page is {job.html}")
        if form is None:
            return
    if form in (None, "table") and sys.stdout.isatty():
        from kcli.cli.commands.pipeline.profile.plots import draw

        draw(made, sys.stdout)
        return
    write(document(made), form or "table")


def document(made: Profile) -> Document:
    """The rows of a profile."""
    from kcli.cli.output.render import Document
    from kcli.cli.output.shapes.shape import shape

    found = Document(shape=shape("pipeline.profile"))
    found.rows = {
        "keys": made.keys, "sizes": made.sizes, "rate": made.rate,
        "partitions": [{k: v for k, v in row.items() if not k.endswith("_ms")} for row in made.partitions],
        "fields": made.fields, "topic": [made.summary],
    }  # fmt: skip
    return found
