"""`kcli pipeline sql`: what the line says, as steps, views and an output; and the job that `run` shares."""

from __future__ import annotations

import asyncio
import copy
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.session.drive import Job, Outcome, drive
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.commands.pipeline.sink.outputs import Output, output_of
from kcli.cli.commands.pipeline.source.pinned import Pinned
from kcli.cli.commands.pipeline.source.source import Source, Span
from kcli.client import Client
from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.pipeline.jobs.sql.query import Script, Step, View
from kcli.pipeline.jobs.sql.statements import mentioned, split, words
from kcli.pipeline.jobs.work import Action, Stream
from kcli.pipeline.progress_sum import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kcli.cli.parsing.option import Values


class Querying(Job):
    """Steps over topics, and where the rows of the last one go. `each` has what is said of single topics only."""

    name = "sql"
    verb = "wrote"
    _pinned: Pinned | None = None

    def __init__(self, frame: Frame, steps: Sequence[Step], each: Mapping[str, Values] | None = None) -> None:
        self.frame = frame
        self.steps = steps
        self.each = each or {}
        self.sources: list[Source] = []
        self.topics: list[str] = []
        self.span: Span = {}
        self.sizes: dict[TopicPartition, float] = {}
        self._only = list(self.each)
        if frame.streaming and len([one for one in steps if not one.name]) > 1:
            raise UsageError(
                f"--{frame.mode} takes one statement; steps of `kcli pipeline run` can build on each other"
            )
        self.output: Output = output_of(frame, steps)
        self.destination = self.output.label
        self.writes_to = self.output.writes_to
        self.prints = self.output.prints

    def look(self, *, measure: bool = False) -> None:
        """Which topics are meant, and where their ranges begin and end; with `measure` bytes per record too. Raises
        KcliError."""
        named = self._named()
        for topic in named:
            frame = copy.copy(self.frame)
            frame.values = {**frame.values, "topics": [], **self.each.get(topic, {})}
            source = Source(frame, [topic])
            source.look(measure=measure)
            self.span |= source.span
            self.sizes |= source.sizes
            self.sources.append(source)
        self.source = ", ".join(named) or "no topic"
        if not self.frame.streaming:
            self.spans = self.span
        elif not named:
            raise UsageError(f"--{self.frame.mode}: the SQL names no topic of this cluster: nothing to follow")
        self.output.check(self.source, [one.sql for one in self.steps])
        self.checkpoint = str(self.output.checkpoint or "")

    def _named(self) -> list[str]:
        from kcli.client import Client

        async def ask() -> list[str]:
            async with Client(self.frame.connection.client()) as client:
                return await self._ask(client)

        self.topics = asyncio.run(ask())
        made = {one.name for one in self.steps if one.name}
        twice = sorted(made & {*self.topics} & set(self._only))
        if twice:
            raise UsageError(f"{twice[0]} is the name of a step and of a topic that is read: name the step otherwise")
        meant = [one for one in self._only or self.topics if one not in made]
        found = dict.fromkeys(name for one in self.steps for name in mentioned(one.sql, meant))
        unread = [one for one in self._only if one not in found]
        if unread:
            raise UsageError(f"no step reads the topic {unread[0]}: FROM {unread[0]}")
        return list(found)

    async def _ask(self, client: Client) -> list[str]:
        every = await client.cluster.topics()
        missing = [one for one in self._only if one not in every]
        if missing:
            from kcli.cli.commands.consume.selection import partitions

            await partitions(client.cluster, missing[0])
        return sorted(every)

    # -- the work ---------------------------------------------------------------------------------------------------

    def begin(self, spark: SparkSession, progress: str) -> Action | Stream:
        """The statements, or the query that they describe."""
        self._running = self._script(spark, progress)
        return self.output.begin(self._running, spark)

    def _script(self, spark: SparkSession, progress: str) -> Script:
        from kcli.pipeline.jobs.sql.query import Script

        watermark = self.frame.values["watermark"]
        views = [self._view(one, spark, progress) for one in self.sources]
        if self._pinned is not None:
            self._pinned.keep()
        return Script(
            spark,
            views,
            self.steps,
            streaming=self.frame.streaming,
            topics=self.topics,
            watermark=None if watermark is None else ("timestamp", watermark),
        )

    def _view(self, source: Source, spark: SparkSession, progress: str) -> View:
        from kcli.pipeline.jobs.frames import columns_for

        self._typed(source, spark)
        texts = words([one.sql for one in self.steps])
        headers = any("headers" in text.lower() for text in texts)
        columns = columns_for(texts, everything=False, headers=headers)
        if self.frame.values["watermark"] and "timestamp" not in columns:
            columns.append("timestamp")
        (topic,) = source.topics
        if self.frame.connector == "jvm":
            errors = [f"{part}Error" for part in source.schemed if part in columns] if source.null_bad else []
            return View(
                topic=topic,
                form="kafka",
                options=source.jvm_options(),
                columns=(*columns, *errors),
                formats=source.formats,
                null_bad=source.null_bad,
            )
        options = source.options(columns, progress=progress, text=True)
        if self.output.stop_file is not None:
            options["stopFile"] = str(self.output.stop_file)
        return View(topic=topic, options=options, null_bad=source.null_bad)

    def _typed(self, source: Source, spark: SparkSession) -> None:
        """The schema of JSON, by the newest records; beside others a topic without JSON stays text."""
        try:
            source.schema_of(spark, self._pin if self.frame.streaming and self.writes_to else None)
        except UsageError:
            if len(self.sources) == 1:
                raise
            source.as_text()

    def _pin(self) -> Pinned:
        """What is kept beside the checkpoint, once for all topics."""
        if self._pinned is None:
            self._pinned = Pinned(self.output.checkpoint or "")
        return self._pinned

    def finish(self, work: Action | Stream, seen: Progress) -> Outcome:
        """What was written is made to last."""
        return self.output.finish(work, seen)

    def bad_rows(self) -> int:
        """What was counted."""
        return self._running.bad

    def undo(self) -> None:
        """Away with what is half written."""
        self.output.undo()


def run(values: Values) -> int:
    """Run the SQL. Returns the exit code."""
    frame = Frame(values, "sql")
    job = Querying(frame, steps_of(values))
    return start(frame, job)


def start(frame: Frame, job: Querying) -> int:
    """Look, then show the plan or do it. Returns the exit code."""
    if frame.dry_run:
        from kcli.cli.commands.pipeline.source.plan import show

        return show(frame, job, job.destination)
    frame.session(job.name)  # what is missing is said before the cluster is asked
    job.look()
    frame.format = None if job.prints else frame.format
    return drive(frame, job)


def steps_of(values: Values) -> list[Step]:
    """The statements of the line, of -f FILE or of stdin. Raises UsageError."""
    given, file = values["words"] or [], values["file"]
    if len(given) > 1:
        raise UsageError("the SQL is one word of the shell: put it in quotes")
    if bool(given) == (file is not None):
        raise UsageError("which SQL? kcli pipeline sql 'SELECT …', or -f FILE")
    text = given[0] if given else read_file(file)
    found = split(text)
    if not found:
        raise UsageError("there is no statement in the SQL")
    many = len(found) > 1
    return [Step(sql=one, where=f"statement {number}" if many else "") for number, one in enumerate(found, 1)]


def read_file(name: str) -> str:
    """A file's text; - is stdin. Raises UsageError."""
    if name == "-":
        return sys.stdin.read()
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"{name}: {getattr(problem, 'strerror', None) or problem}") from problem
