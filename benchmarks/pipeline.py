"""`make bench-pipeline`: kcli's Spark source and sink beside Spark's own JVM connector, in one interleaved run.

One real Apache Kafka, one Spark session with both connectors in it, the same ranges and the same columns; each round
runs every row with both, so that a machine whose speed drifts treats them alike. CPU is that of the driver, the JVM and
Spark's Python processes; the broker, which shares the machine, is in nobody's figure. The table goes to
docs/contributors/pipeline.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.pipeline_cold import cold_starts
from benchmarks.pipeline_first import first_files
from benchmarks.pipeline_lake import lake_rows
from benchmarks.pipeline_planning import planning
from benchmarks.pipeline_report import Measured, Row, markdown, put
from benchmarks.pipeline_rounds import FORMS, interleaved
from kcli.pipeline.session.session import Session, SessionSettings
from tests.kafka.cluster import Kafka
from tests.pipeline import connector
from tests.pipeline.topics import Topics

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

PARTITIONS = 2
SIZES = {"100 B": 1, "1 KiB": 10}
"""The sizes of values, and by what the number of records is divided."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--records", type=int, default=10_000_000, help="of 100 bytes; a tenth of 1 KiB")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--output", default="docs/contributors/pipeline.md", help="'' writes no file")
    given = parser.parse_args()
    cluster = Kafka(1)
    cluster.options = ["-Xmx1g", "-XX:TieredStopAtLevel=4"]
    cluster.start()
    try:
        with tempfile.TemporaryDirectory(prefix="kcli-bench-") as folder:
            found = everything(cluster.bootstrap, Path(folder), given.records, given.rounds)
    finally:
        cluster.stop()
    text = markdown(found, given.records, given.rounds)
    print(text)
    if given.output:
        put(Path(given.output), text)
    return 0


def everything(bootstrap: str, folder: Path, records: int, rounds: int) -> Measured:
    """All figures of one run."""
    rows, topic = connectors(bootstrap, folder, records, rounds)
    return Measured(
        rows=rows,
        tables=lake_rows(bootstrap, topic, folder / "lake", records, rounds),
        starts=cold_starts(bootstrap, topic, min(1_000_000, records), folder, rounds),
        first=first_files(bootstrap, topic, folder, rounds),
        planning=planning(),
    )


def connectors(bootstrap: str, folder: Path, records: int, rounds: int) -> tuple[list[Row], str]:
    """Every row, and the topic of small values."""
    conf = (("spark.jars", ",".join(connector.jars())), ("spark.sql.shuffle.partitions", "2"))
    topics = Topics(bootstrap, "bench")
    rows: list[Row] = []
    with Session(SessionSettings(master="local[2,3]", conf=conf, memory="3g")) as spark:
        sources = {}
        for size, part in SIZES.items():
            sources[size] = topics.make(PARTITIONS)
            fill(spark, bootstrap, sources[size], records // part, size)
        for size, part in SIZES.items():
            bench = Bench(spark, bootstrap, topics, sources[size], folder / size.replace(" ", ""))
            rows += bench.rows(records // part, size, rounds)
    return rows, sources["100 B"]


def fill(spark: SparkSession, bootstrap: str, topic: str, count: int, size: str) -> None:
    """Records whose values are half random hex, half words, with a key of 8 bytes."""
    words = "'broker cluster topic partition offset leader follower replica epoch batch record header'"
    value = f"concat(sha2(CAST(id AS STRING), 256), left({words}, 36))"
    if size != "100 B":
        parts = ", ".join(f"sha2(concat('{n}', id), 512), left({words}, 76)" for n in range(5))
        value = f"left(concat({parts}, {words}), 1024)"
    frame = spark.range(0, count, 1, PARTITIONS).selectExpr(
        "lpad(CAST(id % 100000 AS STRING), 8, '0') AS key", f"{value} AS value", "spark_partition_id() AS partition"
    )
    options = {"kafka.bootstrap.servers": bootstrap, "topic": topic, "kafka.compression.type": "lz4"}
    frame.write.format("kcli").mode("append").options(**options).save()


class Bench:
    """The rows of one topic."""

    def __init__(self, spark: SparkSession, bootstrap: str, topics: Topics, topic: str, folder: Path) -> None:
        self.spark, self.bootstrap, self.topics, self.topic, self.folder = spark, bootstrap, topics, topic, folder
        self._range: dict[str, str] = {}

    def read(self, form: str, **options: str) -> DataFrame:
        given = {"kafka.bootstrap.servers": self.bootstrap, "subscribe": self.topic, **self._range, **options}
        return self.spark.read.format(form).options(**given).load()

    def rows(self, count: int, size: str, rounds: int) -> list[Row]:
        """Each job with both, round by round. Before, a part of it, for Spark's compilers."""
        jobs: dict[str, Callable[[str], None]] = {
            "topic → count": self.count,
            "topic → count, of every column": self.count_all,
            "topic → parquet": self.to_parquet,
            "parquet → topic": self.from_parquet,
        }
        part = min(count, 500_000 if size == "100 B" else 100_000) // PARTITIONS
        self._range = {"endingOffsets": json.dumps({self.topic: {str(one): part for one in range(PARTITIONS)}})}
        for job in jobs.values():
            for form in FORMS[::-1]:
                job(form)
        self._range = {}
        return interleaved(jobs, count, size, rounds)

    def count(self, form: str) -> None:
        """As `kcli pipeline` does it: no column is read that nobody asked for. The JVM connector has no such option."""
        self.read(form, **({"columns": "partition"} if form == "kcli" else {})).count()

    def count_all(self, form: str) -> None:
        self.read(form).count()

    def to_parquet(self, form: str) -> None:
        self.read(form).write.mode("overwrite").parquet(str(self.folder / form))

    def from_parquet(self, form: str) -> None:
        """What the JVM connector wrote, by both."""
        target = self.topics.make(PARTITIONS)
        rows = self.spark.read.parquet(str(self.folder / "kafka")).select("key", "value")
        options = {"kafka.bootstrap.servers": self.bootstrap, "topic": target}
        rows.write.format(form).mode("append").options(**options).save()
        self.topics.run(lambda client: _delete(client, target))


async def _delete(client: object, topic: str) -> None:
    from kcli.admin.topics.topics import delete_topics

    await delete_topics(client.cluster, [topic])  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main())
