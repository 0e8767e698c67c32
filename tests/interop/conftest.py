"""The sandbox as a process of its own, as a stranger meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest

_names = count()


@contextmanager
def sandbox_process(brokers: int, partitions: int = 1) -> Iterator[str]:
    """A sandbox process while this lasts; where it listens."""
    numbers = ["--brokers", str(brokers), "--partitions", str(partitions)]
    process = subprocess.Popen(
        [sys.executable, "-m", "kcli.sandbox", *numbers, "--exit-with-stdin"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["bootstrap"]
    finally:
        process.stdin.close()
        process.stdout.close()
        assert process.wait(10) == 0


@pytest.fixture(scope="session")
def bootstrap() -> Iterator[str]:
    """Where the sandbox process listens."""
    with sandbox_process(brokers=2) as where:
        yield where


@pytest.fixture
def topic() -> str:
    return f"stranger-{next(_names)}"
