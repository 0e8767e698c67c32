"""The topics that a pipeline reads: which partitions, from where to where, fixed on the driver before Spark is up, and
as options of the source. So a plan can be shown without Spark, and tasks that are run again read the same."""

from __future__ import annotations

import asyncio
import json

from kcli.cli.consume.selection import EARLIEST, FILTERING, LATEST, Selection, held_back
from kcli.cli.pipeline.command import cluster_options, jvm_options
from kcli.errors import UsageError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from kcli.cli.option import Values
    from kcli.cli.pipeline.command import Frame
    from kcli.client import Client

    Span = dict[TopicPartition, tuple[int, int]]

SAMPLE = 1000
"""Newest records that a schema is taken from."""
SCHEMED = ("json", "msgpack")


class Source:
    """`look` asks the cluster; then `span` and `samples` are known and `options` can be made. Raises UsageError."""

    def __init__(self, frame: Frame, topics: Sequence[str]) -> None:
        values: Values = {
            **dict.fromkeys(FILTERING), "skip_corrupt": False, "time_field": None, "jitter": None, **frame.values,
            "words": list(topics),
            "isolation": frame.values["isolation"] or "read_committed",
        }  # fmt: skip
        values["where"] = values["value_format"] = None  # here they are Spark's
        self.frame = frame
        self.selection = Selection(values, f"pipeline {frame.command}")
        self.topics: list[str] = self.selection.topics
        self.span: Span = {}
        self.sizes: dict[TopicPartition, float] = {}
        self.samples: list[bytes] = []
        self._formats = {part: self._format(part) for part in ("key", "value")}
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
                    from kcli.cli.pipeline.plan import sizes

                    self.sizes = await sizes(client, self.selection, self.span)
                if self._formats["value"] == ("json", ""):
                    self.samples = await newest(client, self.selection, self.span)

        asyncio.run(ask())

    async def _look(self, client: Client) -> None:
        selection, quiet = self.selection, self.frame.quiet
        places = await selection.some_places(client.cluster)
        given = selection.range
        whole = given.stop in (None, LATEST) and not self.frame.streaming  # who names an end is told of no other
        logs = await selection.log_ends(client.cluster, places) if whole else {}
        self.span = await selection.span(client.cluster, places, given.start or EARLIEST, given.stop or LATEST)
        self.topics = list(dict.fromkeys(at.topic for at in places))
        said = held_back(logs, {at: stop for at, (_, stop) in self.span.items()})
        if said is not None and not quiet:
            from kcli.cli.pipeline.run import say

            say(said)

    def options(self, columns: Sequence[str], *, progress: str, text: bool = False) -> dict[str, str]:
        """The options of kcli's source. With `text` keys and values are strings where nothing else was said."""
        values, streaming = self.frame.values, self.frame.streaming
        found = cluster_options(self.frame.connection) | self._range(streaming)
        found["columns"] = ",".join(columns)
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
        from kcli.pipeline.places import to_json

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

    def schema_of(self, spark: Any) -> None:
        """Take the schema of JSON values from the samples, where none was given. Raises UsageError for none."""
        from kcli.pipeline.jobs.frames import json_schema

        if self._formats["value"] == ("json", ""):
            self._formats["value"] = ("json", json_schema(spark, self.samples))

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
