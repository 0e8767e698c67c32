"""One real Apache Kafka per session, one node and three nodes, and a fresh topic per test."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator

import pytest

from tests.kafka.cluster import Kafka


@pytest.fixture(scope="session")
def kafka() -> Iterator[Kafka]:
    """One node."""
    cluster = Kafka(1)
    cluster.start()
    yield cluster
    cluster.stop()


@pytest.fixture(scope="session")
def _three_nodes() -> Iterator[Kafka]:
    cluster = Kafka(3)
    cluster.start()
    yield cluster
    cluster.stop()


_next_item: pytest.Item | None = None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Keep in mind what comes next, for kafka3."""
    global _next_item
    _next_item = nextitem


def wants_three_nodes(item: pytest.Item | None) -> bool:
    return "kafka3" in getattr(item, "fixturenames", ())


@pytest.fixture
def kafka3(_three_nodes: Kafka) -> Iterator[Kafka]:
    """Three nodes, replication factor 3, min.insync.replicas 2, all well. What a test breaks is mended after it. They
    rest while other tests run: three idle brokers take a sixth of a core."""
    if not all(node.alive for node in _three_nodes.nodes):  # tests without it came in between
        _three_nodes.heal()
    yield _three_nodes
    _three_nodes.heal()
    if "PYTEST_XDIST_WORKER" in os.environ and not wants_three_nodes(_next_item):
        _three_nodes.rest()


@pytest.fixture
def topic_name() -> Callable[[], str]:
    """Names nobody has used."""
    return lambda: f"t-{uuid.uuid4().hex[:12]}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/kafka" in item.nodeid:
            item.add_marker("kafka")
