"""Delta's own jars, where --conf brings them: then Spark reads and writes Delta tables by them."""

from __future__ import annotations

from kcli.cli.commands.pipeline.session.frame import PACKAGES, Frame

DELTA = (
    ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"),
    ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
)


def delta_jars(frame: Frame) -> bool:
    return any("delta" in frame.conf.get(key, "") for key in (PACKAGES, "spark.jars"))
