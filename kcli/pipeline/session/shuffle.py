"""In how many partitions Spark shuffles: one for each core that runs tasks, wherever these cores are. Spark's usual 200
make 200 tiny tasks of a small job; a number of the driver's cores leaves a cluster idle."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTITIONS = "spark.sql.shuffle.partitions"
CHANGING = "spark.dynamicAllocation.enabled"
"""With it the number of cores follows the work, so Spark's usual number stays, and Spark joins what is small."""

PATIENCE, SETTLED, EVERY = 10.0, 0.5, 0.1
"""Seconds: the wait for a first executor (the first job would wait for it too), the time without another one after
which they are all there, and the pause between two requests."""


def fit(spark: SparkSession, conf: Mapping[str, str]) -> None:
    """Set it for this session, unless `conf` does. A cluster without an executor yet keeps Spark's number."""
    if PARTITIONS in conf or conf.get(CHANGING, "").lower() == "true":
        return
    if conf["spark.master"].startswith("local") or _executors_came(spark):
        spark.conf.set(PARTITIONS, max(spark.sparkContext.defaultParallelism, 1))


def _executors_came(spark: SparkSession) -> bool:
    """Wait until executors have registered with the driver."""
    scala: Any = spark._jsc.sc()
    begin = changed = time.monotonic()
    seen = 1  # the driver is one of them
    while True:
        found, now = int(scala.getExecutorMemoryStatus().size()), time.monotonic()
        if found != seen:
            seen, changed = found, now
        if seen > 1 and now - changed >= SETTLED:
            return True
        if seen == 1 and now - begin >= PATIENCE:
            return False
        time.sleep(EVERY)
