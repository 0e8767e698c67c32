"""What holds for every test of rules."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    """Confluent's executor raises the interpreter's limit of recursion, which other tests know."""
    before = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(before)
