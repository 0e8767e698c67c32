"""Jars of others for Spark: its own Kafka connector, the oracle of the tests and the peer of the benchmark, and Delta's
own writer."""

from __future__ import annotations

from pathlib import Path

from tests.kafka import artifacts

POM = Path(__file__).with_name("pom.xml")
DELTA = Path(__file__).with_name("delta.pom.xml")


def jars() -> list[str]:
    """What `spark.jars` takes, fetched on first use; none where there is no Maven to fetch them."""
    return _fetched(POM, "spark-kafka")


def delta_jars() -> list[str]:
    """Delta's own writer, which runs on one Spark only; none on another, and none without Maven."""
    from pyspark import __version__ as version

    return _fetched(DELTA, "spark-delta") if version.startswith("4.2.") else []


def _fetched(pom: Path, name: str) -> list[str]:
    if not (artifacts.cache(pom, name) / "complete").exists() and artifacts.missing() is not None:
        return []
    return sorted(str(jar) for jar in artifacts.libs(pom, name).glob("*.jar"))
