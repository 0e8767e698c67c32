"""What holds for every test of rules."""

from __future__ import annotations

import functools
import ssl
import sys
from collections.abc import Iterator

import pytest

_context = functools.cache(ssl.create_default_context)


@pytest.fixture(autouse=True)
def one_set_of_authorities(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each client of Confluent's reads all authorities that the system trusts, 20 ms long; none here connects."""
    monkeypatch.setattr(ssl, "create_default_context", _context)


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    """Confluent's executor raises the interpreter's limit of recursion, which other tests know."""
    before = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(before)
