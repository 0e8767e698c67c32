"""Spark's own Kafka connector: the oracle of the tests, the peer of the benchmark."""

from __future__ import annotations

from pathlib import Path

from tests.kafka import artifacts

POM = Path(__file__).with_name("pom.xml")


def jars() -> list[str]:
    """What `spark.jars` takes, fetched on first use; none where there is no Maven to fetch them."""
    if not (artifacts.cache(POM, "spark-kafka") / "complete").exists() and artifacts.missing() is not None:
        return []
    return sorted(str(jar) for jar in artifacts.libs(POM, "spark-kafka").glob("*.jar"))
