"""A program that spark-submit runs has Spark's JVM already, here or on the cluster (--deploy-mode cluster): no other is
started, and what spark-submit was given stays."""

from __future__ import annotations

import os


def here() -> bool:
    """Whether spark-submit runs this process."""
    return bool(os.environ.get("PYSPARK_GATEWAY_PORT"))


def conf() -> dict[str, str]:
    """The settings that spark-submit was given; none where it does not run this process."""
    if not here():
        return {}
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())
