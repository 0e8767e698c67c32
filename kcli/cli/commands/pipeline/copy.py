"""`kcli pipeline copy`: topic to topic on Spark."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.session.drive import Job, Outcome, drive
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.commands.pipeline.session.stream import name_of, stop_file_of, trigger_of
from kcli.cli.commands.pipeline.sink.target import Target
from kcli.cli.commands.pipeline.source.source import Source
from kcli.client import Client
from kcli.errors import UsageError
from kcli.pipeline.jobs.bad import BadRows
from kcli.pipeline.jobs.work import Action, Stream
from kcli.pipeline.progress_sum import Progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kcli.cli.parsing.option import Values

RECORD = ["key", "value", "partition", "timestamp", "headers"]
"""What is copied of a record."""


class Copying(Job):
    """What the line says, as a job."""

    name = "copy"
    verb = "copied"
    _bad: BadRows | None = None

    def __init__(self, frame: Frame, source: str, destination: str) -> None:
        values = frame.values
        self.frame = frame
        self.source, self.destination = source, destination
        self.input = Source(frame, [source])
        self.target = Target(frame, destination)
        if not self.target.elsewhere and source == destination:
            raise UsageError("SRC and DST are one topic: the copy would read what it writes, without end")
        if frame.connector == "jvm" and not values["repartition"]:
            said = "Spark's own connector writes no timestamps: they are those of the copy"
            frame.connection.properties.notes.append(said)
        self.exactly_once = bool(values["exactly_once"])
        if self.exactly_once:
            self._check_exactly_once()
        self.pipeline: str = values["name"] or ""
        if frame.streaming:
            frame.checkpoint(self.pipeline or "copy")  # what is wrong with it is said before anybody is asked

    def _check_exactly_once(self) -> None:
        values = self.frame.values
        if self.frame.connector == "jvm":
            raise UsageError("--exactly-once is kcli's: Spark's own connector has no transactions")
        if values["repartition"] or values["min_partitions"]:
            option = "--repartition" if values["repartition"] else "--min-partitions"
            raise UsageError(f"--exactly-once has a transaction for each partition of SRC; {option} would mix them")

    def look(self) -> None:
        """Ask both clusters."""
        self.input.look()
        asyncio.run(self._look())
        where = f"{self.target.cluster}/{self.destination}"
        self.pipeline = self.pipeline or name_of("copy", self.source, where, "topic")
        if self.frame.streaming:
            self._checkpoint = self.frame.checkpoint(self.pipeline)
            self.checkpoint = str(self._checkpoint)
        if not self.frame.streaming:
            self.spans = self.input.span

    async def _look(self) -> None:
        from kcli.cli.commands.copy.command import cluster_id
        from kcli.client import Client

        async with Client(self.frame.connection.client()) as source:
            if not self.target.elsewhere:
                await self._find(source, source)
                return
            async with Client(self.target.connection.client()) as target:
                here, there = await cluster_id(source.cluster), await cluster_id(target.cluster)
                if self.source == self.destination and here is not None and here == there:
                    raise UsageError("SRC and DST are one topic of one cluster: the copy would read what it writes")
                await self._find(source, target)

    async def _find(self, source: Client, target: Client) -> None:
        from kcli.admin.topics.topics import describe_topics
        from kcli.asking.leaders import TopicMissing
        from kcli.cli.commands.copy.command import make_like

        values, topic = self.frame.values, self.destination
        if values["create"] and isinstance((await describe_topics(target.cluster, [topic])).get(topic), TopicMissing):
            await make_like(source, self.source, target, topic)
        await self.target.look(target)
        most = max((at.partition for at in self.input.span), default=0)
        if most >= self.target.count and not values["repartition"]:
            raise UsageError(
                f"{topic} has no partition {most}: its partitions are 0-{self.target.count - 1}; "
                "--repartition chooses anew"
            )

    def begin(self, spark: SparkSession, progress: str) -> Action | Stream:
        """The work, with its columns and conditions looked up."""
        from kcli.pipeline.jobs.frames import load
        from kcli.pipeline.jobs.records import Sink

        streaming, source = self.frame.streaming, self.input
        source.schema_of(spark)
        stop_file = stop_file_of(self._checkpoint) if streaming else None
        if self.frame.connector == "jvm":
            frame, stop_file = load(spark, "kafka", source.jvm_options(), streaming=streaming), None
            self._sink = Sink(self._mapped(frame), "kafka", self.target.jvm_options())
        else:
            options = source.options(self._columns(), progress=progress)
            options |= {"keyFormat": "binary", "valueFormat": "binary"}
            options["columns"] = ",".join(self._columns())
            for name in ("keySchema", "valueSchema"):
                options.pop(name, None)
            if stop_file is not None:
                options["stopFile"] = str(stop_file)
            sink = self.target.options(progress=progress, timestamps=True)
            if self.exactly_once:
                options["startingOffsets"] = self._begun(options, sink)
                sink["exactlyOnce"] = self.pipeline
            frame = load(spark, "kcli", options, streaming=streaming)
            self._sink = Sink(self._mapped(frame), "kcli", sink)
        return (
            self._sink.stream(self._checkpoint, trigger_of(self.frame), stop_file) if streaming else self._sink.batch()
        )

    def _begun(self, source: dict[str, str], sink: dict[str, str]) -> str:
        """Where reading starts: at what the target cluster says is copied. Raises Expired."""
        from kcli.pipeline.connection import sealed_of
        from kcli.pipeline.identity import identity_of
        from kcli.pipeline.log import Log
        from kcli.pipeline.offset_options import to_json
        from kcli.pipeline.sink.positions import begin

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
            found = begin(there, self.pipeline, starts, ends, targets=targets, resumed=resumed, ids=ids)
            sink["sourceIds"] = json.dumps(ids)
        if not self.frame.streaming:
            found = {at: min(offset, span[at][1]) for at, offset in found.items()}
            self.spans = {at: (found[at], end) for at, (_, end) in span.items()}
        return json.dumps(to_json(found))

    def _columns(self) -> list[str]:
        from kcli.pipeline.jobs.frames import columns_for
        from kcli.pipeline.options import COLUMNS

        values = self.frame.values
        texts = [values["select"] or "", *values["sql_where"]]
        wanted = {*columns_for(texts, everything=False, headers=True), *RECORD} if any(texts) else set(RECORD)
        if self.exactly_once or self.input.schemed:
            wanted |= {"topic", "offset"}  # of the latter errors say where they are
        return [name for name in (*COLUMNS, "headers") if name in wanted]

    def _mapped(self, frame: DataFrame) -> DataFrame:
        """The rows that are wanted, as records. A condition may look into values; what is sent on are their bytes."""
        from kcli.pipeline.jobs.frames import chosen, decoded, placed
        from kcli.pipeline.jobs.records import as_records
        from kcli.pipeline.sink.exactly_once import SOURCE as PROVENANCE
        from kcli.pipeline.sink.exactly_once import provenance

        values = self.frame.values
        keep: tuple[str, ...] = (
            "key",
            "value",
            "timestamp",
            "headers",
            *(() if values["repartition"] else ("partition",)),
        )
        select = values["select"] or "raw.*, * EXCEPT (raw, key, value)"
        if self.exactly_once:
            frame, keep = provenance(frame), (*keep, *PROVENANCE)
            select = select if values["select"] is None else f"{select}, {', '.join(PROVENANCE)}"
        where, null_bad = values["sql_where"], self.input.null_bad
        if null_bad:
            from kcli.pipeline.jobs.bad import BadRows

            frame, where = placed(frame, where)
            self._bad = BadRows(decoded(frame, self.input.formats, null_bad=True))
            frame = self._bad.frame
        else:
            frame = decoded(frame, self.input.formats)
        return as_records(chosen(frame, where, select), keep=keep)

    def finish(self, work: Action | Stream, seen: Progress) -> Outcome:
        """Everything was acknowledged."""
        stood = work.look()
        return Outcome(records=self._sink.rows if stood is None else stood.rows)

    def bad_rows(self) -> int:
        """What was counted."""
        return self._bad.rows if self._bad is not None else 0

    def half(self, seen: Progress) -> str:
        """What is in the topic of a batch that did not end well."""
        return f"up to {seen.written:,} records of {self.source} are in {self.destination}"


def run(values: Values) -> int:
    """Copy. Returns the exit code."""
    frame = Frame(values, "copy")
    words = values["words"] or []
    if len(words) != 2:
        raise UsageError("copy what, and where to? kcli pipeline copy SRC DST")
    job = Copying(frame, *words)
    if frame.dry_run:
        from kcli.cli.commands.pipeline.source.plan import show

        return show(frame, job.input, job.destination)
    frame.session(job.name)
    job.look()
    return drive(frame, job)
