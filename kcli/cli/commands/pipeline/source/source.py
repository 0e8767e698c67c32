"""The topics that a pipeline reads: which partitions, from where to where, fixed on the driver before Spark is up, and
as options of the source. So a plan can be shown without Spark, and tasks that are run again read the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from kcli.asking.offsets import list_offsets
from kcli.cli.commands.consume.selection import Selection
from kcli.cli.commands.pipeline.options import PayloadOptions, RangeOptions
from kcli.cli.commands.pipeline.session.frame import Frame, cluster_options, jvm_options
from kcli.cli.commands.pipeline.source.pinned import Pinned
from kcli.cli.commands.pipeline.source.plan import NEWEST, Span, newest, sizes, values_of
from kcli.cli.commands.pipeline.source.registered import Registered
from kcli.cli.output.messages import complain
from kcli.client import Client
from kcli.errors import KcliError, UsageError
from kcli.model import TopicPartition
from kcli.pipeline.offset_options import LATEST as END
from kcli.pipeline.offset_options import to_json
from kcli.pipeline.schemas.wanted import REGISTERED, absolute, bare_of
from kcli.pipeline.source.task_sizes import shares, too_small

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMED = ("json", "msgpack")
UNKNOWN = {"fail": "fail", "evolve": "fail", "quarantine": "bad"}
"""The option unknownFields of the source, by --schema-mode; with pinned they are counted."""
ROWS = "before.,after.,payload.before.,payload.after."
"""What is read of change events: other fields of them are no columns on purpose."""
WIDENED = 20
"""Times that a run takes the schema anew, as records have fields that it lacks."""


class Source:
    """`look` asks the cluster; then `span` and `samples` are known and `options` can be made. `usual` is the mode of a
    schema that kcli takes itself where the line has none. With `text` keys and values are strings where no format is
    given. Raises UsageError."""

    def __init__(
        self,
        frame: Frame,
        topics: Sequence[str],
        ranges: RangeOptions,
        payload: PayloadOptions | None = None,
        *,
        schema_mode: str | None = None,
        usual: str = "pinned",
        text: bool = False,
        quarantine: str = "",
        events: bool = False,
    ) -> None:
        self.frame = frame
        self._events = events
        self.ranges = ranges
        self.selection = Selection(self.ranges, f"pipeline {frame.command}", list(topics), times=self.ranges)
        self.topics: list[str] = self.selection.topics
        self.span: Span = {}
        self.sizes: dict[TopicPartition, float] = {}
        self.samples: list[bytes] = []
        payload = payload or PayloadOptions()
        self._formats = {
            "key": self._format("key", payload.key_format, payload.key_schema),
            "value": self._format("value", payload.value_format, payload.value_schema),
        }
        self._given = self._formats["value"]
        self._registered = Registered(payload)
        self._text = text
        if payload.on_bad is not None and not self.checked:
            raise UsageError("--on-bad requires --value-format or --key-format, other than binary")
        self.null_bad = payload.on_bad in ("null", "quarantine")
        self.quarantine = quarantine
        self._widened = 0
        self.schema_mode = self._checked_mode(schema_mode, usual, payload)
        if self.schema_mode == "quarantine" and payload.on_bad != "quarantine":
            raise UsageError(
                "--schema-mode quarantine requires --on-bad quarantine, which keeps such records unchanged"
            )
        given = self.selection.range
        if frame.streaming and given.stop is not None:
            raise UsageError(f"--{frame.mode} cannot be combined with a range that has an end; use --batch")
        if given.start is not None and given.start.kind == "stored":
            raise UsageError("-o stored: a pipeline does not use a group; --once resumes from its checkpoint")

    def _checked_mode(self, mode: str | None, usual: str, payload: PayloadOptions) -> str:
        """What becomes of fields that the schema of values lacks, and of another schema than the first run's. Where the
        line names the schema, it has chosen its fields: others are left out, and counted. Raises UsageError."""
        form, schema = self._formats["value"]
        if mode is not None and form not in SCHEMED and not self.by_registry:
            raise UsageError("--schema-mode requires --value-format json, avro, protobuf or json-schema")
        if mode == "evolve" and form == "msgpack":
            raise UsageError("--schema-mode evolve requires --value-format json, avro, protobuf or json-schema")
        if mode is not None:
            return mode
        if schema or (payload.reader_schema if form in REGISTERED else form not in SCHEMED):
            return "pinned"
        return "fail" if usual == "evolve" and form in REGISTERED else usual

    def _format(self, part: str, given: str | None, ddl: str | None) -> tuple[str, str]:
        """(format, schema) of keys or values."""
        form, schema = given or "", ddl or ""
        if schema and form not in (*SCHEMED, *REGISTERED):
            raise UsageError(f"--{part}-schema requires --{part}-format json, msgpack, {', '.join(REGISTERED)}")
        if form in REGISTERED:
            bare_of(schema, part, form)
            schema = absolute(schema)
        if form in ("msgpack", *REGISTERED) and self.frame.connector == "jvm":
            raise UsageError(
                f"--{part}-format {form} requires kcli's connector: Spark's own connector does not support {form}"
            )
        if form in SCHEMED and not schema and (part, form) != ("value", "json"):
            raise UsageError(f"--{part}-format {form} needs --{part}-schema, such as 'id BIGINT, name STRING'")
        return form, schema

    @property
    def schemed(self) -> list[str]:
        """Which of key and value have typed columns."""
        return [part for part, (form, _) in self._formats.items() if form in (*SCHEMED, *REGISTERED)]

    @property
    def checked(self) -> list[str]:
        """Which of key and value may not fit their format: bytes may be no text, either."""
        usual = "string" if self._text else "binary"
        return [part for part, (form, _) in self._formats.items() if (form or usual) != "binary"]

    @property
    def counts(self) -> bool:
        """Whether columns say what does not fit, or which fields no column has."""
        return self.null_bad or bool(self._unknown)

    @property
    def _unknown(self) -> list[str]:
        """The parts whose unknown fields are counted. A key's schema is always one that the line names."""
        if self.frame.connector == "jvm":
            return []
        return [part for part in self.schemed if part == "key" or self.schema_mode == "pinned"]

    @property
    def by_registry(self) -> bool:
        """Whether a registry has the schemas of keys or values."""
        return bool(self._registered.formats)

    @property
    def times(self) -> str:
        """The range of timestamps that is read, as a condition of SQL; "" where offsets alone select records."""
        numbers = sorted({at.partition for at in self.span})
        by_range: dict[str, list[str]] = {}
        for number in numbers:
            by_range.setdefault(_within(self.selection.range.times_of(number)), []).append(str(number))
        if len(by_range) < 2:
            return next(iter(by_range), "")
        each = [
            f"(partition IN ({', '.join(some)}) AND {within})" if within else f"partition IN ({', '.join(some)})"
            for within, some in by_range.items()
        ]
        return " OR ".join([*each, f"partition NOT IN ({', '.join(map(str, numbers))})"])

    @property
    def named(self) -> list[str]:
        """The topics and patterns of the line."""
        patterns = self.selection.pattern.patterns if self.selection.pattern is not None else ()
        return [*self.selection.topics, *patterns]

    @property
    def label(self) -> str:
        """The same in a sentence."""
        return ", ".join(self.named)

    def prepare(self, *, measure: bool = False) -> None:
        """Fix the range; take samples where a schema has to be made of them; with `measure` bytes per record too.
        Raises KcliError."""

        async def ask() -> None:
            async with Client(self.frame.connection.client()) as client:
                await self._check(client)
                if measure:
                    self.sizes = await sizes(client, self.selection, self.span)
                if self._formats["value"] == ("json", ""):
                    self.samples = await newest(client, self.selection, self.span)

        least = 0 if self.frame.streaming else self.ranges.min_partitions or 0
        measure = measure or least > 0
        asyncio.run(ask())
        if least and not self.frame.quiet:
            self._warn(least)

    def _warn(self, least: int) -> None:
        """Say it where --min-partitions makes tasks that cost more than they save."""
        offsets = {at: end - start for at, (start, end) in self.span.items() if end > start}
        parts = dict(zip(offsets, shares(list(offsets.values()), least), strict=True))
        sentence = too_small(f"--min-partitions {least}", offsets, parts, self.sizes)
        if sentence is not None:
            complain(sentence)

    async def _check(self, client: Client) -> None:
        selection = self.selection
        partitions = await selection.some_places(client.cluster)
        given = selection.range
        if given.start is not None and given.start.kind == "offset":
            await self._check_offset(client, given.start.value, partitions)
        self.span = await selection.span(client.cluster, partitions, ends=not self.frame.streaming, whole=True)
        self.topics = list(dict.fromkeys(at.topic for at in partitions))

    async def _check_offset(self, client: Client, offset: int, partitions: Sequence[TopicPartition]) -> None:
        """Raise KcliError for an offset to start at that is behind the end of every log: nothing would be read."""
        answers = await list_offsets(client.cluster, dict.fromkeys(partitions, END))
        logs = {at: answer.offset for at, answer in answers.items() if not isinstance(answer, KcliError)}
        if logs and all(end < offset for end in logs.values()) and not self.ranges.skip_lost:
            at, end = max(logs.items(), key=lambda item: item[1])
            where = f"{at.topic}[{at.partition}]" + (", the longest of its partitions," if len(logs) > 1 else "")
            raise KcliError(f"-o {offset}: {where} ends at {end}: there is nothing to read from offset {offset}")

    def columns(self, names: Sequence[str]) -> list[str]:
        """These columns, and those that say what did not fit its format."""
        errors = [f"{part}Error" for part in self.checked if part in names] if self.null_bad else []
        return [*names, *errors, *(f"{part}Unknown" for part in self._unknown if part in names)]

    def options(self, columns: Sequence[str], *, progress: str) -> dict[str, str]:
        """The options of kcli's source."""
        spark_options = cluster_options(self.frame.connection) | self._reading()
        spark_options["columns"] = ",".join(self.columns(columns))
        spark_options |= self._registered.options()
        spark_options["onBad"] = "null" if self.null_bad else "fail"
        if "value" in self.schemed:
            spark_options["unknownFields"] = UNKNOWN.get(self.schema_mode, "ignore")
            if self._events:
                spark_options["unknownWithin"] = ROWS
        if self.quarantine:
            spark_options["quarantine"] = self.quarantine
        spark_options["includeHeaders"] = str("headers" in columns).lower()
        spark_options["progressAddr"] = progress
        if not self.frame.streaming:
            spark_options["pushdown"] = "true"
        for part, (form, schema) in self._formats.items():
            spark_options[f"{part}Format"] = form or ("string" if self._text else "binary")
            if schema:
                spark_options[f"{part}Schema"] = schema
        if self.frame.options.commit_group:
            spark_options["commitGroup"] = self.frame.options.commit_group
        return spark_options

    def jvm_options(self) -> dict[str, str]:
        """The options of Spark's own connector for the same."""
        return jvm_options(self.frame.connection) | self._reading() | {"includeHeaders": "true"}

    def _reading(self) -> dict[str, str]:
        """What both connectors are given: the range, and in how many parts it is read."""
        spark_options = self._range(self.frame.streaming)
        spark_options["kafka.isolation.level"] = self.selection.settings.isolation
        if self.ranges.skip_lost:
            spark_options["failOnDataLoss"] = "false"
        if self.ranges.min_partitions:
            spark_options["minPartitions"] = str(self.ranges.min_partitions)
        if self.frame.max_rows:
            spark_options["maxOffsetsPerTrigger"] = str(self.frame.max_rows)
        if self.frame.max_bytes:
            spark_options["maxBytesPerTrigger"] = str(self.frame.max_bytes)
        return spark_options

    def _range(self, streaming: bool) -> dict[str, str]:
        """Which partitions, and their offsets. A stream finds new partitions by itself, unless -p names them."""
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
        numbers: dict[str, list[int]] = {}
        for at in sorted(self.span):
            numbers.setdefault(at.topic, []).append(at.partition)
        return json.dumps(numbers)

    def schema_of(self, spark: SparkSession, pinned: Callable[[], Pinned] | None = None) -> Pinned | None:
        """Take the schema of JSON values from the samples, where none was given; of a stream the first run's counts.
        Raises UsageError for none, SchemaChanged where it is not that of the first run."""
        form, given = self._given
        kept = self._pin(pinned()) if pinned is not None and (form == "json" or self.by_registry) else None
        if form != "json" or (given and pinned is None):
            return kept
        if kept is None:
            self._formats["value"] = ("json", self._taken(spark))
            return None
        taken, problem = None, None
        if not given:
            try:
                taken = self._taken(spark, nulls=not kept.knows(self.label))
            except UsageError as none:
                problem = none
        schema = kept.settled(spark, self.label, taken, given, mode=self.schema_mode, samples=self.samples)
        if not schema and problem is not None:
            raise problem
        self._formats["value"] = ("json", schema)
        self._say(kept)
        return kept

    def widen(self, at: TopicPartition, offset: int) -> bool:
        """Take the next schema with the record that a batch ended at, and those behind it, among the samples. False
        where --schema-mode has no other schema for them. Raises KcliError."""
        if self.schema_mode != "evolve":
            return False
        self._widened += 1
        if self._widened > WIDENED:
            raise KcliError(
                f"{self.label}: its records keep getting new fields, now at {at.topic}[{at.partition}] offset "
                f"{offset}: if they are the keys of a map, use --value-schema '… MAP<STRING, STRING>' for that"
            )
        if self._given[0] != "json":
            return self.by_registry

        async def ask() -> list[bytes]:
            async with Client(self.frame.connection.client()) as client:
                answer = (await list_offsets(client.cluster, {at: END}))[at]
                if isinstance(answer, KcliError):
                    raise answer
                return await values_of(client, self.selection, {at: (offset, min(offset + NEWEST, answer.offset))})

        self.samples += asyncio.run(ask())
        return True

    def _taken(self, spark: SparkSession, *, nulls: bool = True) -> str:
        """The schema that the samples show; of change events what is read of them."""
        from kcli.pipeline.jobs.schemas import ddl_of, json_schema, struct_of

        schema = json_schema(spark, self.samples, nulls=nulls)
        if not self._events:
            return schema
        from kcli.pipeline.jobs.lake.merging.debezium import event_schema

        return ddl_of(event_schema(struct_of(spark, schema), self.label))

    def _pin(self, kept: Pinned) -> Pinned:
        """Keep a stream that writes files to the registry's schemas of its first run."""
        given = cluster_options(self.frame.connection) | self._range(streaming=True)
        self._registered.pin(given, self.label, self.schema_mode, kept)
        self._say(kept)
        return kept

    def _say(self, kept: Pinned) -> None:
        for sentence in kept.notes if not self.frame.quiet else ():
            complain(sentence)
        kept.notes.clear()

    def as_text(self) -> None:
        """Values are strings, whatever their format was."""
        self._formats["value"] = self._given = "", ""

    @property
    def schema(self) -> tuple[object, ...]:
        """What values are read by, to be compared."""
        return self._formats["value"], self._registered.options()

    @property
    def formats(self) -> Mapping[str, tuple[str, str]]:
        """(format, schema) of key and value; "" where none is given."""
        return self._formats


def _within(times: tuple[int, int] | None) -> str:
    """A condition of SQL that a timestamp is in [start, stop), in ms; "" for no range."""
    start, stop = times or (-(2**63), 2**63 - 1)
    from_start = [f"timestamp >= timestamp_millis({start})"] if start > -(2**63) else []
    return " AND ".join([*from_start, *([f"timestamp < timestamp_millis({stop})"] if stop < 2**63 - 1 else [])])
