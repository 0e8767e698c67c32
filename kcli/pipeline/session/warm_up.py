"""Creates the class-data archive: Spark runs typical work once, and its JVM records the loaded classes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kcli.pipeline.session import archive, gateway
from kcli.pipeline.session.gateway import SparkFailed
from kcli.pipeline.session.java import find_java
from kcli.pipeline.session.session import Session, SessionSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def archived(settings: SessionSettings) -> bool:
    """Whether there is an archive for this Spark and Java. Raises UsageError if one of them is missing."""
    return archive.path_of(find_java(settings.java_home), gateway.spark_home()).exists()


def warm_up(settings: SessionSettings, work: Callable[[SparkSession], Any] = lambda spark: None) -> Any:
    """Create the class-data archive: run Spark once, for about half a minute, with `work` in it, whose result is
    returned. Raises SparkFailed, and the errors of `work`; then no archive is created."""
    home, java = gateway.spark_home(), find_java(settings.java_home)
    options, part = archive.making(java, home)
    path = archive.path_of(java, home)
    path.unlink(missing_ok=True)
    two = settings.replace(conf=(*settings.conf, ("spark.sql.shuffle.partitions", "2")))
    session = Session(two, options=tuple(options), patience=180.0)  # the JVM writes the archive when it ends
    try:
        with session as spark, tempfile.TemporaryDirectory(prefix="kcli-warm-") as folder:
            _usual_work(spark, folder)
            result = work(spark)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if not part.exists():
        raise SparkFailed(f"the archive was not written; the log is {session.log}")
    part.chmod(0o444)
    part.replace(path)
    archive.prune(path)
    return result


def _usual_work(spark: SparkSession, folder: str) -> None:
    """Run files of each format, SQL with a shuffle, and a stream. Reading a topic as well did not speed up starting."""
    table = spark.range(1000).selectExpr("id", "CAST(id AS STRING) AS value", "id % 7 AS part")
    table.groupBy("part").count().collect()
    for form in ("parquet", "json", "csv", "orc"):
        table.write.mode("overwrite").format(form).save(f"{folder}/{form}")
    spark.read.parquet(f"{folder}/parquet").createOrReplaceTempView("warm")
    spark.sql("SELECT part, count(*), max(value) FROM warm GROUP BY part ORDER BY 1").collect()
    _drain(spark.readStream.format("rate").load().writeStream.format("noop"), f"{folder}/rate")


def _drain(writer: Any, checkpoint: str) -> None:
    """Run a stream to the end of the available data."""
    query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    query.awaitTermination(30)
    query.stop()
