"""The topics that a pipeline reads: which partitions, from where to where, fixed on the driver before Spark is up, and
as options of the source. So a plan can be shown without Spark, and tasks that are run again read the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kcli.cli.commands.consume.selection import EARLIEST, LATEST, Selection, held_back
from kcli.cli.commands.pipeline.session.frame import Frame, cluster_options, jvm_options
from kcli.cli.commands.pipeline.source.pinned import Pinned
from kcli.cli.parsing.command import Legacy
from kcli.client import Client
from kcli.errors import KcliError, UsageError
from kcli.model import TopicPartition

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Values

Span = dict[TopicPartition, tuple[int, int]]

SAMPLE = 1000
"""Newest records that a schema is taken from."""
SCHEMED = ("json", "msgpack")


class Source:
    """`look` asks the cluster; then `span` and `samples` are known and `options` can be made. Raises UsageError."""

    def __init__(self, frame: Frame, topics: Sequence[str]) -> None:
        values: Values = Legacy({**frame.values, "isolation": frame.values["isolation"] or "read_committed"})
        self.frame = frame
        self.selection = Selection(values, f"pipeline {frame.command}", list(topics), times=values)
        self.topics: list[str] = self.selection.topics
        self.span: Span = {}
        self.sizes: dict[TopicPartition, float] = {}
        self.samples: list[bytes] = []
        self._formats = {part: self._format(part) for part in ("key", "value")}
        on_bad = frame.values.get("on_bad")
        if on_bad is not None and not self.schemed:
            raise UsageError("--on-bad goes with --value-format or --key-format json or msgpack")
        self.null_bad = on_bad == "null"
        given = self.selection.range
        if frame.streaming and given.stop is not None:
            raise UsageError(f"--{frame.mode} goes on without end; a range that stops is for --batch")
        if given.start is not None and given.start.kind == "stored":
            raise UsageError("-o stored: a pipeline is in no group; --once goes on where its checkpoint says")

    def _format(self, part: str) -> tuple[str, str]:
        """(format, schema) of keys or values."""
        values = self.frame.values
        form, schema = values[f"{part}_format"] or "", values[f"{part}_schema"] or ""
        if schema and form not in SCHEMED:
            raise UsageError(f"--{part}-schema goes with --{part}-format json or msgpack")
        if form == "msgpack" and self.frame.connector == "jvm":
            raise UsageError(f"--{part}-format msgpack is kcli's: Spark's own connector knows no msgpack")
        if form in SCHEMED and not schema and (part, form) != ("value", "json"):
            raise UsageError(f"--{part}-format {form} takes --{part}-schema, such as 'id BIGINT, name STRING'")
        return form, schema

    @property
    def schemed(self) -> list[str]:
        """Which of key and value have typed columns."""
        return [part for part, (form, _) in self._formats.items() if form in SCHEMED]

    @property
    def label(self) -> str:
        """The topics, in a sentence."""
        patterns = self.selection.pattern.patterns if self.selection.pattern is not None else ()
        return ", ".join([*self.selection.topics, *patterns])

    def look(self, *, measure: bool = False) -> None:
        """Fix the range; take samples where a schema has to be made of them; with `measure` bytes per record too.
        Raises KcliError."""
        from kcli.client import Client

        async def ask() -> None:
            async with Client(self.frame.connection.client()) as client:
                await self._look(client)
                if measure:
                    from kcli.cli.commands.pipeline.source.plan import sizes

                    self.sizes = await sizes(client, self.selection, self.span)
                if self._formats["value"] == ("json", ""):
                    self.samples = await newest(client, self.selection, self.span)

        asyncio.run(ask())

    async def _look(self, client: Client) -> None:
        selection, quiet = self.selection, self.frame.quiet
        places = await selection.some_places(client.cluster)
        given = selection.range
        whole = given.stop in (None, LATEST) and not self.frame.streaming  # who names an end is told of no other
        if given.start is not None and given.start.kind == "offset":
            await self._in_log(client, given.start.value, places)
        logs = await selection.log_ends(client.cluster, places) if whole else {}
        self.span = await selection.span(client.cluster, places, given.start or EARLIEST, given.stop or LATEST)
        self.topics = list(dict.fromkeys(at.topic for at in places))
        said = held_back(logs, {at: stop for at, (_, stop) in self.span.items()})
        if said is not None and not quiet:
            from kcli.cli.commands.pipeline.session.drive import say

            say(said)

    async def _in_log(self, client: Client, offset: int, places: Sequence[TopicPartition]) -> None:
        """Raise KcliError for an offset to start at that is behind the end of every log: nothing would be read."""
        from kcli.asking.offsets import list_offsets
        from kcli.pipeline.offset_options import LATEST as END

        found = await list_offsets(client.cluster, dict.fromkeys(places, END))
        logs = {at: answer.offset for at, answer in found.items() if not isinstance(answer, KcliError)}
        if logs and all(end < offset for end in logs.values()) and not self.frame.values["skip_lost"]:
            at, end = max(logs.items(), key=lambda one: one[1])
            where = f"{at.topic}[{at.partition}]" + (", the longest of its partitions," if len(logs) > 1 else "")
            raise KcliError(f"-o {offset}: {where} ends at {end}: there is nothing to read from offset {offset} on")

    def options(self, columns: Sequence[str], *, progress: str, text: bool = False) -> dict[str, str]:
        """The options of kcli's source. With `text` keys and values are strings where nothing else was said."""
        values, streaming = self.frame.values, self.frame.streaming
        found = cluster_options(self.frame.connection) | self._range(streaming)
        errors = [f"{part}Error" for part in self.schemed if part in columns] if self.null_bad else []
        found["columns"] = ",".join([*columns, *errors])
        found["onBad"] = "null" if self.null_bad else "fail"
        found["includeHeaders"] = str("headers" in columns).lower()
        found["progressAddr"] = progress
        found["kafka.isolation.level"] = self.selection.settings.isolation
        if not streaming:
            found["pushdown"] = "true"
        for part, (form, schema) in self._formats.items():
            found[f"{part}Format"] = form or ("string" if text else "binary")
            if schema:
                found[f"{part}Schema"] = schema
        if values["skip_lost"]:
            found["failOnDataLoss"] = "false"
        if values["min_partitions"]:
            found["minPartitions"] = str(values["min_partitions"])
        if values["max_per_batch"]:
            found["maxOffsetsPerTrigger"] = str(values["max_per_batch"])
        if values["commit_group"]:
            found["commitGroup"] = values["commit_group"]
        return found

    def jvm_options(self) -> dict[str, str]:
        """The options of Spark's own connector for the same."""
        values, streaming = self.frame.values, self.frame.streaming
        found = jvm_options(self.frame.connection) | self._range(streaming)
        found["includeHeaders"] = "true"
        found["kafka.isolation.level"] = self.selection.settings.isolation
        if values["skip_lost"]:
            found["failOnDataLoss"] = "false"
        if values["min_partitions"]:
            found["minPartitions"] = str(values["min_partitions"])
        if values["max_per_batch"]:
            found["maxOffsetsPerTrigger"] = str(values["max_per_batch"])
        return found

    def _range(self, streaming: bool) -> dict[str, str]:
        """Which partitions, and their offsets. A stream finds new partitions by itself, unless -p names them."""
        from kcli.pipeline.offset_options import to_json

        starts = json.dumps(to_json({at: start for at, (start, _) in self.span.items()}))
        if not streaming:
            ends = json.dumps(to_json({at: end for at, (_, end) in self.span.items()}))
            return {"assign": self._assigned(), "startingOffsets": starts, "endingOffsets": ends}
        if self.selection.partitions is not None:
            return {"assign": self._assigned(), "startingOffsets": starts}
        if self.selection.pattern is not None:
            return {"subscribePattern": self.selection.pattern.text, "startingOffsets": starts}
        return {"subscribe": ",".join(self.topics), "startingOffsets": starts}

    def _assigned(self) -> str:
        found: dict[str, list[int]] = {}
        for at in sorted(self.span):
            found.setdefault(at.topic, []).append(at.partition)
        return json.dumps(found)

    def schema_of(self, spark: Any, pinned: Callable[[], Pinned] | None = None) -> Pinned | None:
        """Take the schema of JSON values from the samples, where none was given; of a stream the first run's counts.
        Raises UsageError for none, SchemaChanged where it is not that of the first run."""
        from kcli.pipeline.jobs.frames import json_schema

        form, given = self._formats["value"]
        if form != "json" or (given and pinned is None):
            return None
        if pinned is None:
            self._formats["value"] = ("json", json_schema(spark, self.samples))
            return None
        kept, taken, problem = pinned(), None, None
        if not given:
            try:
                taken = json_schema(spark, self.samples)
            except UsageError as none:
                problem = none
        schema = kept.settled(spark, self.label, taken, given)
        if not schema and problem is not None:
            raise problem
        self._formats["value"] = ("json", schema)
        return kept

    def as_text(self) -> None:
        """Values are strings, whatever was said of them."""
        self._formats["value"] = "", ""

    @property
    def formats(self) -> Mapping[str, tuple[str, str]]:
        """(format, schema) of key and value; "" where nothing was said."""
        return self._formats


async def newest(client: Client, selection: Selection, span: Span) -> list[bytes]:
    """Values of the newest records, some of each partition."""
    share = max(SAMPLE // max(len(span), 1), 10)
    wanted = {at: max(start, end - share) for at, (start, end) in span.items() if end > start}
    found: list[bytes] = []
    if not wanted:
        return found
    async with selection.consumer(client) as consumer:
        consumer.assign(wanted)
        consumer.stop_at({at: span[at][1] for at in wanted})
        while not consumer.finished:
            for fetched in await consumer.poll(None):
                if fetched.error is not None:
                    raise fetched.error
                found += [record.value for batch in fetched.batches for record in batch if record.value is not None]
    return found
