"""Topics into tables: Delta and Iceberg, plain records and Avro, beside Spark's own connector in the same rounds.

kcli reads, and commits by deltalake and pyiceberg. Beside it Spark's connector reads; Delta's own jars write its Delta
table, and kcli with pyiceberg its Iceberg table, as no jars of Iceberg run on this Spark. It decodes Avro by from_avro.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.pipeline_report import AVRO, PARQUET
from benchmarks.pipeline_rounds import FORMS, interleaved
from kcli.pipeline.jobs.lake.catalogs import CatalogPlace
from kcli.pipeline.jobs.lake.delta import DeltaTable
from kcli.pipeline.jobs.lake.iceberg import IcebergTable
from kcli.pipeline.session.session import Session, SessionSettings
from tests.kafka import artifacts
from tests.pipeline import connector
from tests.pipeline.topics import Topics

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from benchmarks.pipeline_report import Row

PARTITIONS = 2
POM = Path(__file__).with_name("peers") / "tables.pom.xml"
SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "user", "type": "string"},
        {"name": "total", "type": "double"},
        {"name": "note", "type": "string"},
    ],
}
FRAME = "X'0000000001'"
"""What Confluent's serializers write in front of a value of schema 1."""
DELTA = (
    ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"),
    ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
)


def lake_rows(bootstrap: str, plain: str, folder: Path, records: int, rounds: int) -> list[Row]:
    """Every row, of records of 100 bytes; `plain` is a topic of `records` records."""
    jars = [*connector.jars(), *map(str, artifacts.libs(POM, "spark-tables").glob("*.jar"))]
    conf = (("spark.jars", ",".join(sorted(jars))), ("spark.sql.shuffle.partitions", "2"), *DELTA)
    avro = Topics(bootstrap, "bench-avro").make(PARTITIONS)
    with Session(SessionSettings(master="local[2,3]", conf=conf, memory="3g")) as spark:
        fill(spark, bootstrap, avro, records)
        registered(folder / "schemas", avro)
        return Tables(spark, bootstrap, plain, avro, folder).rows(records, rounds)


def fill(spark: SparkSession, bootstrap: str, topic: str, count: int) -> None:
    """Avro records of about 100 bytes, with a key of 8."""
    from pyspark.sql import functions as f
    from pyspark.sql.avro.functions import to_avro

    order = f.struct(
        f.col("id"),
        f.expr("concat('user-', id % 1000)").alias("user"),
        f.expr("id / 100.0D").alias("total"),
        f.expr("left(concat(sha2(CAST(id AS STRING), 256), 'broker cluster topic'), 76)").alias("note"),
    )
    frame = spark.range(0, count, 1, PARTITIONS).select(
        f.expr("lpad(CAST(id % 100000 AS STRING), 8, '0')").alias("key"),
        f.concat(f.expr(FRAME), to_avro(order, json.dumps(SCHEMA))).alias("value"),
        f.expr("spark_partition_id()").alias("partition"),
    )
    options = {"kafka.bootstrap.servers": bootstrap, "topic": topic, "kafka.compression.type": "lz4"}
    frame.write.format("kcli").mode("append").options(**options).save()


def registered(folder: Path, topic: str) -> None:
    """The schema, in a folder in place of a registry."""
    for place in (folder / "ids" / "1.avsc", folder / "subjects" / f"{topic}-value" / "1.avsc"):
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps(SCHEMA))
    (folder / "subjects" / f"{topic}-value" / "1.meta.json").write_text('{"id": 1}')


class Tables:
    """The jobs. Each writes a table that was not there before."""

    def __init__(self, spark: SparkSession, bootstrap: str, plain: str, avro: str, folder: Path) -> None:
        self.spark, self.bootstrap, self.plain, self.avro, self.folder = spark, bootstrap, plain, avro, folder
        self._ends = 0

    def rows(self, count: int, rounds: int) -> list[Row]:
        """Each job with both, round by round. Before, a part of it, for Spark's compilers."""
        jobs: dict[str, Callable[[str], None]] = {
            PARQUET: self.to_parquet,
            "topic → Delta": self.to_delta,
            "topic → Iceberg": lambda form: self.to_iceberg(self.read(form, self.plain)),
            AVRO: lambda form: self.to_iceberg(self.orders(form)),
        }
        self._ends = min(count, 500_000) // PARTITIONS
        for job in jobs.values():
            for form in FORMS[::-1]:
                job(form)
        self._ends = 0
        return interleaved(jobs, count, "100 B", rounds)

    def read(self, form: str, topic: str, **options: str) -> DataFrame:
        given = {"kafka.bootstrap.servers": self.bootstrap, "subscribe": topic, **options}
        if self._ends:
            given["endingOffsets"] = json.dumps({topic: {str(one): self._ends for one in range(PARTITIONS)}})
        return self.spark.read.format(form).options(**given).load()

    def orders(self, form: str) -> DataFrame:
        """The Avro records as columns."""
        from pyspark.sql import functions as f
        from pyspark.sql.avro.functions import from_avro

        columns = ("value.*", "partition", "offset", "timestamp")
        if form == "kcli":
            registry = f"file:{self.folder / 'schemas'}"
            return self.read(form, self.avro, valueFormat="avro", schemaRegistry=registry).select(*columns)
        value = from_avro(f.expr("substring(value, 6)"), json.dumps(SCHEMA)).alias("value")
        return self.read(form, self.avro).select(value, "partition", "offset", "timestamp").select(*columns)

    def fresh(self, name: str) -> Path:
        """A place that is empty."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return self.folder / name

    def to_parquet(self, form: str) -> None:
        frame = self.read(form, self.plain)
        frame.write.option("compression", "zstd").parquet(str(self.fresh("parquet")))

    def to_delta(self, form: str) -> None:
        place, frame = str(self.fresh("delta")), self.read(form, self.plain)
        if form == "kcli":
            DeltaTable(place).write(frame, "error", None, evolve=False)
        else:
            frame.write.format("delta").option("compression", "zstd").save(place)

    def to_iceberg(self, frame: DataFrame) -> None:
        table = IcebergTable("bench.orders", CatalogPlace(warehouse=str(self.fresh("iceberg"))))
        table.write(frame, "error", None, evolve=False)
        table.catalog.close()
