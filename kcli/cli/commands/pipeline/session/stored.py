"""Places in an object store that Spark itself reads and writes, checkpoints and files: by Hadoop's client for S3, which
PySpark does not bring."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from kcli.errors import UsageError
from kcli.pipeline.session import gateway
from kcli.pipeline.sink.storage import in_s3, storage_here

S3A = "spark.hadoop.fs.s3a."
PLACES = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath", "spark.yarn.dist.jars")


def store_conf(place: str, conf: Mapping[str, str], option: str = "") -> dict[str, str]:
    """The settings of Spark for a place in s3://, beside those of --conf and of spark-submit: where the store is, as
    the environment says. `option` names the place in a sentence. Raises UsageError where nothing brings Hadoop's
    client."""
    if not in_s3(place):
        return {}
    conf = {**gateway.submitted_conf(), **conf}
    version, there = _hadoop()
    if not there and not any("hadoop-aws" in conf.get(name, "") for name in PLACES):
        how = "spark-submit --packages " if gateway.submitted() else "--packages "
        raise UsageError(
            f"{option}{place}: Spark needs hadoop-aws for this, which PySpark does not include: "
            f"{how}org.apache.hadoop:hadoop-aws:{version}"
        )
    here = storage_here()
    found = {"endpoint.region": here.region}
    if here.endpoint:
        plain = str(here.endpoint.startswith("https://")).lower()
        found |= {"endpoint": here.endpoint, "path.style.access": "true", "connection.ssl.enabled": plain}
    return {f"{S3A}{name}": text for name, text in found.items() if text and f"{S3A}{name}" not in conf}


def _hadoop() -> tuple[str, bool]:
    """The version of Spark's Hadoop, and whether its client for S3 is beside it."""
    folders = spark_jars()
    known = next((jar for folder in folders for jar in sorted(folder.glob("hadoop-client-api-*.jar"))), None)
    version = "VERSION" if known is None else known.stem.removeprefix("hadoop-client-api-")
    return version, any(jar for folder in folders for jar in folder.glob("hadoop-aws-*.jar"))


def spark_jars() -> list[Path]:
    """Where the jars of Spark are: PySpark's, and before them those of the Spark whose spark-submit runs this."""
    import pyspark

    own = Path(pyspark.__file__).parent / "jars"
    home = os.environ.get("SPARK_HOME") if gateway.submitted() else None
    return [own] if not home else [Path(home) / "jars", own]
