"""Which real components a test uses, as markers: `make quick` leaves these tests out, and in CI a test of a component
that is not ours (Kafka, Spark, a terminal, a registry) may fail once (see `suite.py`).

A test is marked by its folder or by a fixture it asks for; a test that starts a process by itself says so with
`@pytest.mark.process`, and an audit hook holds every other test to it.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest

FOLDERS = {"tests/kafka/": "kafka", "tests/tui/": "terminal", "tests/interop/": "process"}
SPARK = tuple(
    f"tests/pipeline/{name}.py"
    for name in """
        jobs/test_checkpoint_reset jobs/test_commands jobs/test_example jobs/test_on_kafka jobs/test_sql
        session/test_cluster session/test_cluster_schemas
        sink/test_delta sink/test_guarantees sink/test_guarantees_exactly_once
        source/test_oracle source/test_stream
    """.split()
)
"""Files whose tests start Spark by themselves."""
FIXTURES = {
    "kafka": "kafka", "kafka3": "kafka", "_three_nodes": "kafka", "spark": "spark", "cluster": "process",
    "terminal": "terminal", "ask": "process", "apicurio": "registry", "srfake": "registry", "registry": "registry",
    "rest_catalog": "registry",
}  # fmt: skip
NAMES = ("kafka", "spark", "terminal", "process", "registry")
STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn")


def mark(item: pytest.Item) -> None:
    """Mark a collected test with the components it uses, and let its reports say which."""
    for folder, name in FOLDERS.items():
        if item.nodeid.startswith(folder):
            item.add_marker(name)
    if item.nodeid.startswith(SPARK):
        item.add_marker("spark")
    for fixture in getattr(item, "fixturenames", ()):
        if fixture in FIXTURES:
            item.add_marker(FIXTURES[fixture])
    item.user_properties += [("nodeid", item.nodeid), *(("component", name) for name in used_by(item))]


def used_by(item: pytest.Item) -> list[str]:
    return [name for name in NAMES if item.get_closest_marker(name) is not None]


class ProcessGuard:
    """Raises where a test starts a process and no marker of it says so."""

    def __init__(self) -> None:
        self._item: pytest.Item | None = None
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        item = self._item
        if event in STARTS and item is not None and not used_by(item):
            started = arguments[0] if arguments else event
            raise RuntimeError(f"mark this test with @pytest.mark.process: it starts {started}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self._item = item
        try:
            return (yield)
        finally:
            self._item = None
