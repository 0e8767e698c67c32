"""A broker, and the registries that the strategies are tried on."""

from __future__ import annotations

import json
import uuid
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell
from tests.registry.commands import Commands
from tests.registry.oracles import Oracle


@pytest.fixture(scope="session")
def broker() -> Iterator[Shell]:
    with SandboxThread() as sandbox:
        yield Shell(sandbox.bootstrap)


@pytest.fixture(params=["apicurio", "sandboxed"])
def place(request: pytest.FixtureRequest, registry: None, tmp_path: Path) -> Commands:
    """`kcli registry` on a real registry, and on the sandbox's."""
    oracle: Oracle = request.getfixturevalue(request.param)
    return Commands(oracle.url, tmp_path, request.param)


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[Commands]:
    """The sandbox's registry, which has associations, and no subjects."""
    with SandboxThread(registry=True) as sandbox:
        yield Commands(sandbox.registry_url, tmp_path, "sandbox")


@pytest.fixture
def name() -> Callable[[], str]:
    """A new name of a record at each call."""
    return lambda: f"Order{uuid.uuid4().hex[:12]}"


def stored(shell: Shell, topic: str, field: str = "value") -> list[bytes]:
    """Keys or values as they are stored."""
    rows = [json.loads(line)[field] for line in shell.ok("consume", topic, "-e", "--envelope").splitlines()]
    return [b64decode(row["base64"]) if isinstance(row, dict) else row.encode() for row in rows]
