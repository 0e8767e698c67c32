"""Statistics of a topic, computed by Spark: partitions, sizes, keys, rate over time, fields of JSON.

The topic is read once into a narrow table, which Spark caches for all queries; a sample of the values is read a second
time for their fields.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from kcli.model import TopicPartition
from kcli.pipeline.jobs.fields import Fields, fields_of
from kcli.pipeline.jobs.work import remote
from kcli.values import Value, field

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

PERCENTILES = (0.5, 0.9, 0.99, 0.999)
BUCKETS = 60
"""Maximum number of time steps in the rate."""
STEPS = (1, 5, 10, 30, 60, 300, 900, 1800, 3600, 7200, 21600, 43200, 86400, 604800, 2592000)
"""Possible lengths of such a step in seconds."""


class Partition(Value):
    """Statistics of a partition between two offsets. `first` and `last` are its smallest and largest timestamp,
    in ms."""

    partition: int = 0
    start: int = 0
    end: int = 0
    records: int = 0
    share: float = 0.0
    bytes: int = 0
    null_keys: int = 0
    null_values: int = 0
    first: int | None = None
    last: int | None = None

    @property
    def gaps(self) -> int:
        """Number of offsets without a record."""
        return self.end - self.start - self.records


class Sizes(Value):
    """Sizes of keys or values, in bytes; the histogram counts them by powers of two."""

    part: str = ""
    count: int = 0
    bytes: int = 0
    min: int = 0
    mean: float = 0.0
    p50: int = 0
    p90: int = 0
    p99: int = 0
    p999: int = 0
    max: int = 0
    histogram: dict[str, int] = field(factory=dict)


class Key(Value):
    """A frequent key; `partition` is None if it is in several."""

    key: str = ""
    records: int = 0
    share: float = 0.0
    partition: int | None = None


class RateStep(Value):
    """The records of a time step that begins at `begin`, in ms."""

    begin: int = 0
    records: int = 0
    rate: float = 0.0
    bytes: int = 0


class Profile(Value):
    """The statistics of a topic; `step` is the length of a time step in seconds."""

    topic: str = ""
    distinct_keys: int = 0
    partitions: list[Partition] = field(factory=list)
    sizes: list[Sizes] = field(factory=list)
    keys: list[Key] = field(factory=list)
    rate: list[RateStep] = field(factory=list)
    step: int = 0
    fields: Fields = field(factory=Fields)

    @property
    def records(self) -> int:
        return sum(partition.records for partition in self.partitions)

    @property
    def first(self) -> int | None:
        """The smallest timestamp, in ms."""
        return min((part.first for part in self.partitions if part.first is not None), default=None)

    @property
    def last(self) -> int | None:
        """The largest timestamp, in ms."""
        return max((part.last for part in self.partitions if part.last is not None), default=None)

    @property
    def seconds(self) -> float:
        """The time between the smallest and the largest timestamp."""
        return 0.0 if self.first is None or self.last is None else (self.last - self.first) / 1000


def profile(
    load: Callable[[list[str]], DataFrame],
    topic: str,
    span: Mapping[TopicPartition, tuple[int, int]],
    *,
    top: int,
    sample: int,
) -> Profile:
    """Compute the statistics. `load` returns a new frame of the topic with these columns; `top` is the number of keys
    to list, `sample` the approximate number of values to examine (0: all)."""
    from pyspark.sql import functions as f

    profile = Profile(topic=topic)
    raw = load(["key", "value", "partition", "offset", "timestamp"])
    narrow = raw.select(
        "partition",
        "offset",
        f.expr("unix_millis(timestamp)").alias("time"),
        "key",
        f.octet_length("key").alias("key_size"),
        f.octet_length("value").alias("value_size"),
    ).persist()
    try:
        profile.partitions = _partitions(narrow, span)
        if profile.records:
            _sizes(narrow, profile)
            _keys(narrow, profile, top)
            _rate(narrow, profile)
    finally:
        narrow.unpersist()
    if profile.records and sample >= 0:
        profile.fields = _fields(load, profile.records, sample)
    return profile


def _partitions(narrow: DataFrame, span: Mapping[TopicPartition, tuple[int, int]]) -> list[Partition]:
    from pyspark.sql import functions as f

    counted = narrow.groupBy("partition").agg(
        f.count("*").alias("records"),
        f.sum("key_size").alias("keys"),
        f.sum("value_size").alias("values"),
        f.count_if(f.col("key_size").isNull()).alias("null_keys"),
        f.count_if(f.col("value_size").isNull()).alias("null_values"),
        f.min("time").alias("first"),
        f.max("time").alias("last"),
    )
    counts = {row["partition"]: row for row in counted.collect()}
    total = sum(row["records"] for row in counts.values())
    partitions = []
    for at, (start, end) in sorted(span.items()):
        partition = Partition(partition=at.partition, start=start, end=end)
        row = counts.get(at.partition)
        if row:
            partition.records = row["records"]
            partition.share = round(partition.records / total, 6)
            partition.bytes = (row["keys"] or 0) + (row["values"] or 0)
            partition.null_keys = row["null_keys"]
            partition.null_values = row["null_values"]
            partition.first = row["first"]
            partition.last = row["last"]
        partitions.append(partition)
    return partitions


def _sizes(narrow: DataFrame, profile: Profile) -> None:
    from pyspark.sql import functions as f

    for part in ("key", "value"):
        size = f.col(f"{part}_size")
        (row,) = narrow.agg(
            f.count(size).alias("count"),
            f.min(size).alias("least"),
            f.avg(size).alias("mean"),
            f.max(size).alias("most"),
            f.sum(size).alias("sum"),
            f.percentile_approx(size, list(PERCENTILES), 10000).alias("percentiles"),
        ).collect()
        if not row["count"]:
            continue
        steps = (
            narrow.where(size.isNotNull())
            .groupBy(f.when(size == 0, -1).otherwise(f.floor(f.log2(size))).alias("power"))
            .count()
            .orderBy("power")
            .collect()
        )
        p50, p90, p99, p999 = row["percentiles"]
        profile.sizes.append(
            Sizes(
                part=part,
                count=row["count"],
                bytes=row["sum"],
                min=row["least"],
                mean=round(row["mean"], 1),
                p50=p50,
                p90=p90,
                p99=p99,
                p999=p999,
                max=row["most"],
                histogram={_size(step["power"]): step["count"] for step in steps},
            )
        )


def _size(power: int | None) -> str:
    return "0" if power is None or power < 0 else f"{1 << int(power)}-{(2 << int(power)) - 1}"


def _keys(narrow: DataFrame, profile: Profile, top: int) -> None:
    from pyspark.sql import functions as f

    keyed = (
        narrow.where("key IS NOT NULL")
        .groupBy("key")
        .agg(f.count("*").alias("n"), f.min("partition"), f.max("partition"))
    )
    (about,) = narrow.agg(f.approx_count_distinct("key", 0.02).alias("distinct")).collect()
    profile.distinct_keys = about["distinct"]
    records = profile.records
    for row in keyed.orderBy(f.desc("n"), "key").limit(top).collect():
        profile.keys.append(
            Key(
                key=bytes(row["key"]).decode("utf-8", "backslashreplace"),
                records=row["n"],
                share=round(row["n"] / records, 6),
                partition=row[2] if row[2] == row[3] else None,
            )
        )


def _rate(narrow: DataFrame, profile: Profile) -> None:
    from pyspark.sql import functions as f

    seconds = profile.seconds
    profile.step = next((length for length in STEPS if seconds / length <= BUCKETS), math.ceil(seconds / BUCKETS))
    step = profile.step * 1000
    size = f.coalesce("value_size", f.lit(0)) + f.coalesce("key_size", f.lit(0))
    counted = narrow.groupBy(f.floor(f.col("time") / step).alias("at")).agg(
        f.count("*").alias("n"), f.sum(size).alias("size")
    )
    rows = {int(row["at"]): row for row in counted.collect()}
    if not rows:
        return
    for at in range(min(rows), max(rows) + 1):
        row = rows.get(at)
        records = row["n"] if row else 0
        profile.rate.append(
            RateStep(
                begin=at * step,
                records=records,
                rate=round(records / profile.step, 3),
                bytes=row["size"] if row else 0,
            )
        )


def _fields(load: Callable[[list[str]], DataFrame], records: int, sample: int) -> Fields:
    frame = load(["value"])
    if sample and records > sample:
        frame = frame.sample(fraction=min(sample / records, 1.0), seed=1)
    if remote(frame.sparkSession):
        return fields_of(row[0] for row in frame.limit(sample or 100_000).toLocalIterator())
    fields = Fields()
    for part in frame.rdd.mapPartitions(_fields_of).collect():
        fields.add(part)
    return fields


def _fields_of(rows: Iterable[Row]) -> Iterator[Fields]:
    yield fields_of(row[0] for row in rows)
