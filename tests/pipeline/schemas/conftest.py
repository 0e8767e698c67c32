from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.pipeline.topics import Topics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.pipeline.schemas.registries import Registry


@pytest.fixture(scope="module")
def places() -> Iterator[dict[str, str]]:
    """Where a sandbox in a process of its own, and its registry, listen."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kcli.sandbox", "--registry", "--exit-with-stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(10)


@pytest.fixture(scope="module")
def registry(places: dict[str, str]) -> Iterator[Registry]:
    pytest.importorskip("confluent_kafka.schema_registry", reason="pip install 'confluent-kafka[avro]'")
    from tests.pipeline.schemas.registries import Registry

    made = Registry(places["registry"])
    with made.client:
        yield made


@pytest.fixture
def topics(places: dict[str, str], request: pytest.FixtureRequest) -> Topics:
    """Topics of this test's own in the sandbox."""
    return Topics(places["bootstrap"], request.node.name)
