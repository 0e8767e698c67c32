"""What is in a topic, counted by Spark: partitions, sizes, keys, rate over time, fields of JSON.

The topic is read once into a narrow table of what has to be counted, which Spark keeps for the questions; a sample of
the values is read a second time for their fields.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kcli.model import TopicPartition
from kcli.pipeline.jobs.fields import Fields, look
from kcli.pipeline.jobs.work import remote
from kcli.values import Value, field

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Row = dict[str, Any]

PERCENTILES = (0.5, 0.9, 0.99, 0.999)
BUCKETS = 60
"""Steps of the rate over time, at most."""
STEPS = (1, 5, 10, 30, 60, 300, 900, 1800, 3600, 7200, 21600, 43200, 86400, 604800, 2592000)
"""Seconds of such a step."""


class Profile(Value):
    """Rows by section, as the command prints them."""

    topic: str = ""
    records: int = 0
    summary: Row = field(factory=dict)
    partitions: list[Row] = field(factory=list)
    sizes: list[Row] = field(factory=list)
    keys: list[Row] = field(factory=list)
    rate: list[Row] = field(factory=list)
    fields: list[Row] = field(factory=list)
    step: int = 0
    sampled: int = 0


def profile(
    load: Callable[[list[str]], DataFrame],
    topic: str,
    span: Mapping[TopicPartition, tuple[int, int]],
    *,
    top: int,
    sample: int,
) -> Profile:
    """Count. `load` gives a fresh frame of the topic with these columns; `top` is how many keys are named, `sample`
    about how many values are looked into (0: all)."""
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
        profile.records = sum(row["records"] for row in profile.partitions)
        if profile.records:
            _sizes(narrow, profile)
            _keys(narrow, profile, top)
            _rate(narrow, profile)
    finally:
        narrow.unpersist()
    if profile.records and sample >= 0:
        _fields(load, profile, sample)
    _summary(profile)
    return profile


def _partitions(narrow: DataFrame, span: Mapping[TopicPartition, tuple[int, int]]) -> list[Row]:
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
    found = {row["partition"]: row for row in counted.collect()}
    rows = []
    total = sum(row["records"] for row in found.values())
    for at, (start, end) in sorted(span.items()):
        row = found.get(at.partition)
        records = row["records"] if row else 0
        rows.append(
            {
                "partition": at.partition,
                "start": start,
                "end": end,
                "records": records,
                "share": round(records / total, 6) if total else 0.0,
                "gaps": end - start - records,
                "bytes": ((row["keys"] or 0) + (row["values"] or 0)) if row else 0,
                "null_keys": row["null_keys"] if row else 0,
                "null_values": row["null_values"] if row else 0,
                "first": _time(row["first"]) if row else None,
                "last": _time(row["last"]) if row else None,
                "first_ms": row["first"] if row else None,
                "last_ms": row["last"] if row else None,
            }
        )
    return rows


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
            {
                "part": part,
                "count": row["count"],
                "bytes": row["sum"],
                "min": row["least"],
                "mean": round(row["mean"], 1),
                "p50": p50,
                "p90": p90,
                "p99": p99,
                "p999": p999,
                "max": row["most"],
                "histogram": {_size(step["power"]): str(step["count"]) for step in steps},
            }
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
    profile.summary["distinct_keys"] = about["distinct"]
    for row in keyed.orderBy(f.desc("n"), "key").limit(top).collect():
        profile.keys.append(
            {
                "key": bytes(row["key"]).decode("utf-8", "backslashreplace"),
                "records": row["n"],
                "share": round(row["n"] / profile.records, 6),
                "partition": row[2] if row[2] == row[3] else None,
            }
        )


def _rate(narrow: DataFrame, profile: Profile) -> None:
    from pyspark.sql import functions as f

    firsts = [row["first_ms"] for row in profile.partitions if row["first_ms"] is not None]
    lasts = [row["last_ms"] for row in profile.partitions if row["last_ms"] is not None]
    seconds = (max(lasts) - min(firsts)) / 1000
    profile.step = next((one for one in STEPS if seconds / one <= BUCKETS), math.ceil(seconds / BUCKETS))
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
            {
                "time": _time(at * step),
                "records": records,
                "rate": round(records / profile.step, 3),
                "bytes": row["size"] if row else 0,
            }
        )


def _fields(load: Callable[[list[str]], DataFrame], profile: Profile, sample: int) -> None:
    frame = load(["value"])
    if sample and profile.records > sample:
        frame = frame.sample(fraction=min(sample / profile.records, 1.0), seed=1)
    fields = Fields()
    if remote(frame.sparkSession):
        fields = look(row[0] for row in frame.limit(sample or 100_000).toLocalIterator())
    else:
        for part in frame.rdd.mapPartitions(_look).collect():
            fields.add(part)
    profile.sampled = fields.values
    profile.summary["json_share"] = round(fields.objects / fields.values, 6) if fields.values else None
    profile.fields = fields.rows()


def _look(rows: Iterable[Any]) -> Iterator[Fields]:
    yield look(row[0] for row in rows)


def _summary(profile: Profile) -> None:
    rows = profile.partitions
    counts = [row["records"] for row in rows]
    mean = profile.records / len(counts) if counts else 0
    firsts = [row["first_ms"] for row in rows if row["first_ms"] is not None]
    lasts = [row["last_ms"] for row in rows if row["last_ms"] is not None]
    seconds = (max(lasts) - min(firsts)) / 1000 if firsts else 0.0
    profile.summary = {
        "topic": profile.topic,
        "partitions": len(rows),
        "records": profile.records,
        "bytes": sum(row["bytes"] for row in rows),
        "gaps": sum(row["gaps"] for row in rows),
        "null_keys": sum(row["null_keys"] for row in rows),
        "null_values": sum(row["null_values"] for row in rows),
        "distinct_keys": profile.summary.get("distinct_keys", 0),
        "skew": round(max(counts) / mean, 3) if mean else None,
        "first": _time(min(firsts)) if firsts else None,
        "last": _time(max(lasts)) if lasts else None,
        "seconds": round(seconds, 3),
        "rate": round(profile.records / seconds, 3) if seconds else None,
        "sampled": profile.sampled,
        "json_share": profile.summary.get("json_share"),
    }


def _time(milliseconds: int | None) -> str | None:
    from datetime import UTC, datetime, timedelta

    if milliseconds is None:
        return None
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return f"@{milliseconds}"
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
