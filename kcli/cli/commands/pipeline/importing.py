"""`kcli pipeline import`: files into a topic."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.session.drive import Job, Outcome, drive
from kcli.cli.commands.pipeline.session.frame import Frame, conf_of
from kcli.cli.commands.pipeline.session.stream import name_of, trigger_of
from kcli.cli.commands.pipeline.sink.target import Target
from kcli.errors import UsageError
from kcli.pipeline.jobs.files.importing import count_of, files_of, form_of
from kcli.pipeline.jobs.work import Action, Stream
from kcli.pipeline.progress_sum import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kcli.cli.parsing.option import Values


class Importing(Job):
    """What the line says, as a job."""

    name = "import"
    verb = "imported"

    def __init__(self, frame: Frame, places: list[str], topic: str) -> None:
        values = frame.values
        self.frame = frame
        self.places = places
        self.source = ", ".join(places)
        self.destination = topic
        self.files = files_of(places)
        self.form = values["source"] or form_of(places, self.files)
        if values["value"] and values["value_column"]:
            raise UsageError("--value json is the whole row; --value-column is one column of it")
        self._load_as = self.form
        self.reader = conf_of(values["reader"], "--reader")
        self.target = Target(frame, topic)
        self.expected = count_of(self.form, self.files) if not values["sql_where"] else None
        if self.form == "delta":
            self._delta()
        if frame.streaming:
            if len(places) > 1:
                raise UsageError(f"--{frame.mode} takes one folder, and what comes into it")
            frame.checkpoint("import")  # what is wrong with it is said before anybody is asked

    def look(self) -> None:
        """Ask the cluster: files that are new to its topic may be old to another's."""
        self.target.check()
        if self.frame.streaming:
            place = self.places[0] if "://" in self.places[0] else os.path.abspath(self.places[0])
            name = name_of("import", self.destination, f"{self.target.cluster}/{place}", self.form)
            self._checkpoint = self.frame.checkpoint(name)
            self.checkpoint = str(self._checkpoint)

    def _delta(self) -> None:
        """By Delta's jars where --conf brings them, else as its files say."""
        from kcli.cli.commands.pipeline.export import DELTA, delta_jars
        from kcli.pipeline.jobs.files import delta

        if delta_jars(self.frame):
            self.conf = DELTA
            return
        delta.check()
        if self.frame.streaming:
            raise UsageError(
                f"--{self.frame.mode} from a Delta table takes Delta's jars: --conf spark.jars.packages=io.delta:…"
            )
        if len(self.places) > 1 or self.reader or "://" in self.places[0]:
            raise UsageError("--from delta: one folder of this machine, without --reader")
        self._load_as = "delta-files"

    @property
    def quick(self) -> bool:
        """A count or a size says that it will not take long."""
        return not self.frame.streaming and sum(one.stat().st_size for one in self.files) < 50_000_000

    def begin(self, spark: SparkSession, progress: str) -> Action | Stream:
        """The work, with its columns looked up."""
        from kcli.pipeline.jobs.files.importing import load, records
        from kcli.pipeline.jobs.frames import chosen
        from kcli.pipeline.jobs.records import Sink

        values, streaming = self.frame.values, self.frame.streaming
        frame = load(spark, self._load_as, self.places, self.reader, streaming=streaming)
        frame = records(
            chosen(frame, values["sql_where"], values["select"]), key=values["key_column"],
            value=values["value_column"], whole=values["value"] == "json", partitions=values["keep_partitions"],
            timestamps=values["keep_timestamps"],
        )  # fmt: skip
        if self.frame.connector == "jvm":
            if values["keep_timestamps"]:
                raise UsageError("--keep-timestamps is kcli's: Spark's own connector writes no timestamps")
            self._sink = Sink(frame, "kafka", self.target.jvm_options())
        else:
            options = self.target.options(progress=progress, timestamps=values["keep_timestamps"])
            self._sink = Sink(frame, "kcli", options)
        if not streaming:
            return self._sink.batch()
        return self._sink.stream(self._checkpoint, trigger_of(self.frame), None)

    def finish(self, work: Action | Stream, seen: Progress) -> Outcome:
        """Everything was acknowledged."""
        stood = work.look()
        return Outcome(records=self._sink.rows if stood is None else stood.rows)

    def half(self, seen: Progress) -> str:
        """What is in the topic of a batch that did not end well."""
        return f"up to {seen.written:,} records of {self.source} are in {self.destination}"


def run(values: Values) -> int:
    """Import. Returns the exit code."""
    frame = Frame(values, "import")
    places, topic = list(values["words"] or []), values["topic"]
    if topic is None and len(places) > 1:
        topic = places.pop()
    if topic is None or not places:
        raise UsageError("import what, and where to? kcli pipeline import PATH TOPIC")
    if values["commit_group"] or values["max_per_batch"]:
        raise UsageError("--commit-group and --max-per-batch are about reading topics")
    job = Importing(frame, places, topic)
    if frame.dry_run:
        return _plan(frame, job)
    frame.session(job.name)
    job.look()
    return drive(frame, job)


def _plan(frame: Frame, job: Importing) -> int:
    """The files, one a row."""
    from kcli.cli.output.render import Document, write
    from kcli.cli.output.shapes.shape import shape

    made = Document(shape=shape("pipeline.files"))
    made.rows["files"] = [
        {
            "path": str(one), "format": job.form, "bytes": one.stat().st_size, "records": count_of(job.form, [one]),
            "destination": job.destination,
        }
        for one in job.files
    ]  # fmt: skip
    write(made, frame.format or "table")
    return 0
