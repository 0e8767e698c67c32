"""One real Apache Kafka per session, one node and three nodes, and a fresh topic per test."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator

import pytest

from tests.kafka.artifacts import missing
from tests.kafka.cluster import Kafka


def require() -> None:
    """Skip with the reason where Java or Maven is missing; in CI that is a failure."""
    reason = missing()
    if reason is not None:
        if os.environ.get("CI"):
            pytest.fail(f"in CI a real Apache Kafka is a must: {reason}")
        pytest.skip(f"no real Apache Kafka: {reason}")


@pytest.fixture(scope="session")
def kafka() -> Iterator[Kafka]:
    """One node."""
    require()
    cluster = Kafka(1)
    cluster.start()
    yield cluster
    cluster.stop()


@pytest.fixture(scope="session")
def _three_nodes() -> Iterator[Kafka]:
    require()
    cluster = Kafka(3)
    cluster.start()
    yield cluster
    cluster.stop()


@pytest.fixture
def kafka3(_three_nodes: Kafka) -> Iterator[Kafka]:
    """Three nodes, replication factor 3, min.insync.replicas 2, all well. What a test breaks is mended after it."""
    yield _three_nodes
    _three_nodes.heal()


@pytest.fixture
def topic_name() -> Callable[[], str]:
    """Names nobody has used."""
    return lambda: f"t-{uuid.uuid4().hex[:12]}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/kafka" in item.nodeid:
            item.add_marker("kafka")
