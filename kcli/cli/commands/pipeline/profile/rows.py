"""The rows of a profile, made of what Spark counted."""

from __future__ import annotations

from typing import overload

from kcli.cli.output.tables.rows import Row, column, duration, shape
from kcli.pipeline.jobs.fields import Field, Fields
from kcli.pipeline.jobs.profile import Key, Partition, Profile, RateStep, Sizes


class PartitionRow(Row, section="partitions"):
    partition: int = column("Number of the partition.", rank=1)
    start: int = column("First offset read.")
    end: int = column("The offset after the last one.")
    records: int = column("Records.", unit="count")
    share: float = column("Share of all records, 0 to 1.")
    gaps: int = column("Offsets without a record: compacted, aborted, markers.", unit="count")
    bytes: int = column("Bytes of keys and values.", unit="bytes")
    null_keys: int = column("Records without a key.", unit="count")
    null_values: int = column("Records without a value: tombstones.", unit="count")
    first: str | None = column("Earliest timestamp, UTC.", table=False, unit="time")
    last: str | None = column("Latest timestamp, UTC.", unit="time")


class SizeRow(Row, section="sizes"):
    part: str = column("key or value.", unit="word", rank=1)
    count: int = column("Records that have one.", unit="count")
    bytes: int = column("Bytes of all of them.", unit="bytes")
    min: int = column("Bytes of the smallest.", unit="bytes")
    mean: float = column("Bytes on average.", unit="bytes")
    p50: int = column("Half are no larger; within 0.01 %.", unit="bytes")
    p90: int = column("90 % are no larger.", unit="bytes")
    p99: int = column("99 % are no larger.", unit="bytes")
    p999: int = column("99.9 % are no larger.", unit="bytes")
    max: int = column("Bytes of the largest.", unit="bytes")
    histogram: dict[str, str] = column("Number of records by size.", table=False)


class KeyRow(Row, section="keys"):
    key: str = column("One of the most frequent keys.", rank=1)
    records: int = column("Records with it.", unit="count")
    share: float = column("Share of all records, 0 to 1.")
    partition: int | None = column("Their partition; null if there are several.", rank=1)


class StepRow(Row, section="rate"):
    time: str = column("Start of the interval, UTC.", unit="time")
    records: int = column("Records with a timestamp in the interval.", unit="count")
    rate: float = column("Records per second.", unit="rate")
    bytes: int = column("Bytes of their keys and values.", unit="bytes")


class FieldRow(Row, section="fields"):
    field: str = column("A field of the JSON in the values; [] stands for the items of a list.", rank=1)
    types: str = column("Its types, with counts if there are several.", unit="sentence")
    null_share: float | None = column("Share of records in which it is null or missing, 0 to 1; null if unknown.")
    distinct: int = column("Approximate number of distinct values.", unit="count")
    min: float | None = column("Smallest number.")
    max: float | None = column("Largest number.")
    shortest: int | None = column("Of texts and lists.", table=False)
    longest: int | None = column("Of texts and lists.", table=False)
    examples: list[str] = column("Some values.")


class ProfiledTopicRow(Row, section="topic"):
    topic: str = column("Name of the topic.", rank=1)
    partitions: int = column("How many.", unit="count")
    records: int = column("Records.", unit="count")
    bytes: int = column("Bytes of keys and values.", unit="bytes")
    gaps: int = column("Offsets without a record.", unit="count")
    null_keys: int = column("Records without a key.", unit="count")
    null_values: int = column("Tombstones.", unit="count")
    distinct_keys: int = column("Approximate number of distinct keys.", unit="count")
    skew: float | None = column("Records of the fullest partition divided by the mean.")
    first: str | None = column("Earliest timestamp, UTC.", table=False, unit="time")
    last: str | None = column("Latest timestamp, UTC.", table=False, unit="time")
    seconds: float = duration("Between them.")
    rate: float | None = column("Records per second.", unit="rate")
    sampled: int = column("Values that were parsed.", table=False, unit="count")
    json_share: float | None = column("Share of them that are JSON objects, 0 to 1.")


SHAPE = shape(
    "pipeline.profile", "Profile of a topic.", PartitionRow, SizeRow, KeyRow, StepRow, FieldRow, ProfiledTopicRow
)


def partition_row(counted: Partition) -> PartitionRow:
    """What one partition has."""
    return PartitionRow.of(counted, first=_time(counted.first), last=_time(counted.last))


def size_row(sizes: Sizes) -> SizeRow:
    """How large keys or values are."""
    return SizeRow.of(sizes, histogram={bytes: str(count) for bytes, count in sizes.histogram.items()})


def key_row(key: Key) -> KeyRow:
    """A frequent key."""
    return KeyRow.of(key)


def step_row(step: RateStep) -> StepRow:
    """A step of the rate."""
    return StepRow.of(step, time=_time(step.begin))


def field_rows(fields: Fields) -> list[FieldRow]:
    """A row for each field, by name."""
    return [_field_row(path, field, fields.objects) for path, field in sorted(fields.paths.items())]


def _field_row(path: str, field: Field, objects: int) -> FieldRow:
    kinds = field.types.most_common()
    return FieldRow(
        field=path,
        types=", ".join(f"{kind} {count}" if len(kinds) > 1 else kind for kind, count in kinds) or "null",
        null_share=_null_share(path, field, objects),
        distinct=field.distinct,
        min=field.least,
        max=field.most,
        shortest=field.shortest if field.shortest >= 0 else None,
        longest=field.longest if field.longest >= 0 else None,
        examples=field.examples,
    )


def _null_share(path: str, field: Field, objects: int) -> float | None:
    """Of the values that are objects, how many have no such field, or null in it. None below an array, where the
    number of possible places is unknown."""
    if "[]" in path or path == "…" or not objects:
        return None
    return round(max(1 - field.seen / objects, 0.0), 6)


def topic_row(profile: Profile) -> ProfiledTopicRow:
    """The topic as a whole."""
    partitions, fields = profile.partitions, profile.fields
    records, seconds = profile.records, profile.seconds
    mean = records / len(partitions) if partitions else 0
    return ProfiledTopicRow(
        topic=profile.topic,
        partitions=len(partitions),
        records=records,
        bytes=sum(partition.bytes for partition in partitions),
        gaps=sum(partition.gaps for partition in partitions),
        null_keys=sum(partition.null_keys for partition in partitions),
        null_values=sum(partition.null_values for partition in partitions),
        distinct_keys=profile.distinct_keys,
        skew=round(max(partition.records for partition in partitions) / mean, 3) if mean else None,
        first=_time(profile.first),
        last=_time(profile.last),
        seconds=round(seconds, 3),
        rate=round(records / seconds, 3) if seconds else None,
        sampled=fields.values,
        json_share=round(fields.objects / fields.values, 6) if fields.values else None,
    )


@overload
def _time(milliseconds: int) -> str: ...
@overload
def _time(milliseconds: int | None) -> str | None: ...
def _time(milliseconds: int | None) -> str | None:
    from datetime import UTC, datetime, timedelta

    if milliseconds is None:
        return None
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return f"@{milliseconds}"
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
