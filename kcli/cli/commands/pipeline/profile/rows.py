"""The rows of a profile, made of what Spark counted."""

from __future__ import annotations

from typing import overload

from kcli.cli.output.tables.rows import Row, column, duration, shape
from kcli.pipeline.jobs.fields import Field, Fields
from kcli.pipeline.jobs.profile import Key, Partition, Profile, Sizes, Step


class PartitionRow(Row, section="partitions"):
    partition: int = column("Number of the partition.")
    start: int = column("First offset looked at.")
    end: int = column("The offset after the last.")
    records: int = column("Records.")
    share: float = column("Of all records, 0 to 1.")
    gaps: int = column("Offsets without a record: compacted, aborted, markers.")
    bytes: int = column("Bytes of keys and values.")
    null_keys: int = column("Records without a key.")
    null_values: int = column("Records without a value: tombstones.")
    first: str | None = column("The least timestamp, UTC.", table=False)
    last: str | None = column("The greatest timestamp, UTC.")


class SizeRow(Row, section="sizes"):
    part: str = column("key or value.")
    count: int = column("Records that have one.")
    bytes: int = column("Bytes of all of them.")
    min: int = column("Bytes of the smallest.")
    mean: float = column("Bytes on average.")
    p50: int = column("Half are no larger; within 0.01 %.")
    p90: int = column("90 % are no larger.")
    p99: int = column("99 % are no larger.")
    p999: int = column("99.9 % are no larger.")
    max: int = column("Bytes of the largest.")
    histogram: dict[str, str] = column("How many are of which size.", table=False)


class KeyRow(Row, section="keys"):
    key: str = column("A key, of the most frequent.")
    records: int = column("Records with it.")
    share: float = column("Of all records, 0 to 1.")
    partition: int | None = column("Where they are; null: in several.")


class StepRow(Row, section="rate"):
    time: str = column("When a step begins, UTC.")
    records: int = column("Records with a timestamp in it.")
    rate: float = column("Those per second.")
    bytes: int = column("Bytes of their keys and values.")


class FieldRow(Row, section="fields"):
    field: str = column("A field of the JSON in the values; [] is in a list.")
    types: str = column("Its types, and how often each where there are several.")
    null_share: float | None = column("In how many it is null or missing; null: nobody can say.")
    distinct: int = column("About how many different values.")
    min: float | None = column("The least number.")
    max: float | None = column("The greatest number.")
    shortest: int | None = column("Of texts and lists.", table=False)
    longest: int | None = column("Of texts and lists.", table=False)
    examples: list[str] = column("Some values.")


class TopicRow(Row, section="topic"):
    topic: str = column("Name of the topic.")
    partitions: int = column("How many.")
    records: int = column("Records.")
    bytes: int = column("Bytes of keys and values.")
    gaps: int = column("Offsets without a record.")
    null_keys: int = column("Records without a key.")
    null_values: int = column("Tombstones.")
    distinct_keys: int = column("About how many different keys.")
    skew: float | None = column("The fullest partition, in times the mean.")
    first: str | None = column("The least timestamp, UTC.", table=False)
    last: str | None = column("The greatest timestamp, UTC.", table=False)
    seconds: float = duration("Between them.")
    rate: float | None = column("Records per second.")
    sampled: int = column("Values that were looked into.", table=False)
    json_share: float | None = column("How many of them are objects of JSON, 0 to 1.")


SHAPE = shape("pipeline.profile", "What is in a topic.", PartitionRow, SizeRow, KeyRow, StepRow, FieldRow, TopicRow)


def partition_row(counted: Partition) -> PartitionRow:
    """What one partition has."""
    return PartitionRow(
        partition=counted.partition,
        start=counted.start,
        end=counted.end,
        records=counted.records,
        share=counted.share,
        gaps=counted.gaps,
        bytes=counted.bytes,
        null_keys=counted.null_keys,
        null_values=counted.null_values,
        first=_time(counted.first),
        last=_time(counted.last),
    )


def size_row(sizes: Sizes) -> SizeRow:
    """How large keys or values are."""
    return SizeRow(
        part=sizes.part,
        count=sizes.count,
        bytes=sizes.bytes,
        min=sizes.min,
        mean=sizes.mean,
        p50=sizes.p50,
        p90=sizes.p90,
        p99=sizes.p99,
        p999=sizes.p999,
        max=sizes.max,
        histogram={bytes: str(count) for bytes, count in sizes.histogram.items()},
    )


def key_row(key: Key) -> KeyRow:
    """A frequent key."""
    return KeyRow(key=key.key, records=key.records, share=key.share, partition=key.partition)


def step_row(step: Step) -> StepRow:
    """A step of the rate."""
    return StepRow(time=_time(step.begin), records=step.records, rate=step.rate, bytes=step.bytes)


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
    """Of the values that are objects, how many have no such field, or null in it. None below an array, where nobody can
    say how often it could have been there."""
    if "[]" in path or path == "…" or not objects:
        return None
    return round(max(1 - field.seen / objects, 0.0), 6)


def topic_row(profile: Profile) -> TopicRow:
    """The topic as a whole."""
    partitions, fields = profile.partitions, profile.fields
    records, seconds = profile.records, profile.seconds
    mean = records / len(partitions) if partitions else 0
    return TopicRow(
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
