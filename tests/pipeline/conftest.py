"""One Spark session for all tests of the pipeline, and a sandbox that is a process of its own. A test that orders
faults has a sandbox in a thread (`sandbox`, from kcli's plugin)."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.kafka.conftest import kafka as kafka
from tests.pipeline import connector
from tests.pipeline.topics import Topics

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spark") / "spark.log"


@pytest.fixture(scope="session")
def spark(spark_log: Path) -> Iterator[SparkSession]:
    pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")
    from kcli.cli.commands.pipeline.session.frame import DELTA, SNAPSHOT
    from kcli.pipeline.session.session import Session, SessionSettings

    delta = connector.delta_jars()
    jars = ("spark.jars", ",".join([*connector.jars(), *delta]))
    conf = (("spark.sql.shuffle.partitions", "2"), jars, *((*DELTA, (SNAPSHOT, "2")) if delta else ()))
    session = Session(SessionSettings(master="local[2]", quick=True, conf=conf, log=spark_log))
    with session as running:
        yield running


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """Where a sandbox in a process of its own listens."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kcli.sandbox", "--exit-with-stdin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["bootstrap"]
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(10)


@pytest.fixture
def topics(cluster: str, request: pytest.FixtureRequest) -> Topics:
    """Topics of this test's own in the cluster."""
    return Topics(cluster, request.node.name)
