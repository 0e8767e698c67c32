"""The batch reader: the driver plans ranges, each task reads one. What a task needs is pickled with the reader."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader

from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.pipeline.connection import Sealed
from kcli.pipeline.log import Log
from kcli.pipeline.options import ABOUT, TOPIC, TYPES, ReadOptions
from kcli.pipeline.source.fetching import LogChanged
from kcli.pipeline.source.limits import sizes_of
from kcli.pipeline.source.ranges import Range, ranges_of
from kcli.pipeline.source.task_sizes import RECORD, parts_by_bytes, too_small

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.datasource import InputPartition
    from pyspark.sql.types import StructType

    from kcli.pipeline.formats.arrow import Frame
    from kcli.pipeline.schemas.sealed import SealedSchemas
    from kcli.pipeline.source.quarantine import Kept, Sent

Offsets = Mapping[TopicPartition, int]

MEASURED = 60.0
"""Seconds for which measured record sizes are used."""


class Reading:
    """Common parts of batch and stream readers: the schema, the settings, and a task's work."""

    _looked_at = False
    _measured = float("-inf")
    _sizes: Mapping[TopicPartition, float] = MappingProxyType({})

    def __init__(
        self,
        options: ReadOptions,
        sealed: Sealed,
        schema: StructType,
        schemas: Mapping[str, SealedSchemas] | None = None,
    ) -> None:
        self.options = options
        self.sealed = sealed
        self.schema = schema
        self.schemas = dict(schemas or {})
        check_schema(schema, options)
        if self.schemas:
            from kcli.pipeline.schemas.fields import check_types

            check_types(schema, self.schemas)

    def ranges(self, log: Log, starts: Offsets, ends: Offsets) -> list[Range]:
        """Return a range per task. A warning is logged if minPartitions makes them small. Raises UsageError if the
        quarantine's topic is also read."""
        options = self.options
        if options.quarantine.startswith(TOPIC) and options.quarantine.removeprefix(TOPIC) in {at.topic for at in ends}:
            raise UsageError(f"option quarantine {options.quarantine}: that topic is the source; use another one")
        parts = self._parts(log, starts, ends) if options.max_partition_bytes else None
        made = ranges_of(starts, ends, least=options.min_partitions, most=options.max_records, parts=parts)
        if options.min_partitions and not options.max_records and not self._looked_at:
            self._looked_at = True  # the batches of a stream are alike
            self._warn(log, starts, ends, Counter(one.at for one in made))
        return made

    def _parts(self, log: Log, starts: Offsets, ends: Offsets) -> dict[TopicPartition, int]:
        """Return into how many tasks partitions are split by maxBytesPerPartition. Few offsets are not measured; a
        stream's measurement is reused for a minute."""
        most = self.options.max_partition_bytes
        many = {at: end - starts[at] for at, end in ends.items() if end - starts[at] > most / RECORD}
        if not many:
            return {}
        if monotonic() - self._measured >= MEASURED or not many.keys() <= self._sizes.keys():
            self._sizes = sizes_of(log, starts, {at: ends[at] for at in many})
            self._measured = monotonic()
        return parts_by_bytes(many, self._sizes, most)

    def _warn(self, log: Log, starts: Offsets, ends: Offsets, parts: Mapping[TopicPartition, int]) -> None:
        cut = {at: ends[at] for at, number in parts.items() if number > 1}
        option = f"option minPartitions {self.options.min_partitions}"
        sentence = too_small(option, {at: cut[at] - starts[at] for at in cut}, parts, sizes_of(log, starts, cut))
        if sentence is not None:
            print(f"kcli: {sentence}", file=sys.stderr)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read a range as record batches of exactly the schema."""
        from pyspark.sql.pandas.types import to_arrow_schema

        from kcli.pipeline.progress import Reporter
        from kcli.pipeline.source.fetching import gathered
        from kcli.pipeline.source.quarantine import NEEDS

        assert isinstance(partition, Range)
        if not len(partition):
            return
        options = self.options
        shape = to_arrow_schema(self.schema, timezone="UTC")
        kept = self._kept(partition)
        frame = self._frame(partition, shape, kept)
        reporter = Reporter(options.progress, partition.topic, partition.partition, partition.start, partition.end)
        try:
            for got in gathered(
                partition,
                self.sealed,
                frozenset(shape.names) | (NEEDS if kept is not None else frozenset()) | self._needed(),
                fail_on_data_loss=options.fail_on_data_loss,
                poll_timeout=options.poll_timeout,
                noted=reporter.noted,
            ):
                yield frame.batch(got)
            if frame.bad:
                at = f"{partition.topic}[{partition.partition}]"
                what = "in quarantine (onBad=quarantine)" if options.drop_bad else "null (onBad=null)"
                print(f"kcli: {at}: {frame.bad} keys or values do not fit and are {what}", file=sys.stderr)
            if kept is not None:
                kept.settle()
            reporter.done()
        finally:
            if kept is not None:
                kept.undo()
            reporter.close()

    def _kept(self, partition: Range) -> Kept | Sent | None:
        """Return the store for the bad records of a range."""
        place = self.options.quarantine
        if not place:
            return None
        if place.startswith(TOPIC):
            from kcli.pipeline.source.quarantine import Sent

            return Sent(place.removeprefix(TOPIC), self.sealed, partition)
        from kcli.pipeline.source.quarantine import Kept

        return Kept(place, partition)

    def _needed(self) -> frozenset[str]:
        """Return columns that other columns need: a header may name a schema."""
        return frozenset({"headers"} if self.schemas else ())

    def _frame(self, partition: Range, shape: pa.Schema, kept: Kept | Sent | None) -> Frame:
        """Return the converter to record batches for the range."""
        from kcli.pipeline.formats.arrow import Convert, Frame, alone
        from kcli.pipeline.formats.formats import Unknown, converter

        options = self.options
        convert: dict[str, Convert] = {}
        unknown = {
            name: Unknown(options.unknown_within)
            for name in ("key", "value")
            if name in shape.names and (options.on_unknown != "ignore" or f"{name}Unknown" in shape.names)
        }
        for field in shape:
            if field.name in self.schemas:
                from kcli.pipeline.schemas.fields import field_of

                convert[field.name] = field_of(self.schemas[field.name], unknown.get(field.name))
                continue
            form = {"key": options.key_format, "value": options.value_format}.get(field.name, "binary")
            found = converter(form, field.type, unknown.get(field.name))
            if found is not None:
                convert[field.name] = alone(found)
        keep = None if kept is None else kept.add
        return Frame(
            shape,
            partition.topic,
            partition.partition,
            convert,
            null_bad=options.null_bad,
            drop_bad=options.drop_bad,
            keep=keep,
            unknown=unknown,
            on_unknown=options.on_unknown,
        )


class BatchReader(Reading, DataSourceReader):
    """spark.read: the range is resolved once, when the query is planned."""

    def partitions(self) -> Sequence[Range]:
        """Return a range per task."""
        with Log(self.sealed) as log:
            return self.ranges(log, *bounds_of(log, self.options))


def bounds_of(log: Log, options: ReadOptions) -> tuple[dict, dict]:  # type: ignore[type-arg]
    """Return where reading starts and ends in each partition. Raises UsageError for a start after its end, LogChanged
    for one after the end of the log."""
    ats = log.partitions(options)
    starts = log.resolve(options.starting, ats, "startingOffsets")
    ends = log.resolve(options.ending, ats, "endingOffsets")
    behind = [at for at in ats if starts[at] > ends[at]]
    in_log(log, options, behind)
    for at in ats:
        if starts[at] > ends[at]:
            if options.starting.kind != "offsets" or options.ending.kind != "offsets":
                starts[at] = ends[at]  # by times, or in a shorter log: there is nothing
            else:
                place = f"{at.topic}[{at.partition}]"
                raise UsageError(f"option startingOffsets {starts[at]} of {place} is behind endingOffsets {ends[at]}")
    return starts, ends


def in_log(log: Log, options: ReadOptions, ats: Iterable[TopicPartition]) -> None:
    """Raise LogChanged for a start offset after the end of its log: either the records are gone, or it is a mistake.
    With failOnDataLoss=false it is only logged."""
    named = {at: offset for at, offset in options.starting.each if options.starting.kind == "offsets" and offset >= 0}
    given = [at for at in ats if at in named]
    for at, end in (log.high_watermarks(given) if given else {}).items():
        if named[at] > end:
            said = f"option startingOffsets: {at.topic}[{at.partition}] ends at {end}, before offset {named[at]}"
            if options.fail_on_data_loss:
                raise LogChanged(f"{said}; failOnDataLoss=false reads nothing there")
            print(f"kcli: {said} (failOnDataLoss=false)", file=sys.stderr)


def check_schema(schema: StructType, options: ReadOptions) -> None:
    """Raise UsageError for a schema that does not match the columns."""
    for field in schema.fields:
        about = next((field.name.removesuffix(end) for end in ABOUT if field.name.endswith(end)), "")
        if about in ("key", "value") and about not in schema.names:
            raise UsageError(f"column {field.name} is about the column {about}, which is missing")
        if field.name not in TYPES:
            raise UsageError(f"a schema for kcli has columns of {', '.join(TYPES)}; there is no {field.name}")
        form = {"key": options.key_format, "value": options.value_format}.get(field.name, "binary")
        wanted = {"binary": TYPES[field.name], "string": "STRING"}.get(form)
        if wanted is not None and ":" not in wanted and field.dataType.simpleString().upper() != wanted:
            raise UsageError(f"column {field.name} is {wanted}, not {field.dataType.simpleString().upper()}")
