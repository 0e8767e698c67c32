"""Brokers whose Metadata cannot say what kcli asks: one sentence that says they are too old."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kcli.proto.messages.api_versions import ApiVersionsResponse
from kcli.proto.session import Received, ServerSession
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell

METADATA = 3


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with SandboxThread(topics={"orders": 1}) as running:
        yield Shell(running.bootstrap)


@pytest.mark.parametrize("highest", [0, 1, 3])
@pytest.mark.parametrize(
    "line", ["topics list", "consume orders -e", "produce orders", "lag", "doctor", "cat -L -b SERVERS"]
)
def test_a_broker_that_is_too_old(line: str, highest: int, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    respond = ServerSession.respond

    def old(self: ServerSession, to: Received, response: Any, version: int | None = None) -> Any:
        for one in response.api_keys if isinstance(response, ApiVersionsResponse) else ():
            if one.api_key == METADATA:
                one.min_version, one.max_version = 0, highest
        return respond(self, to, response, version)

    monkeypatch.setattr(ServerSession, "respond", old)
    words = [shell.bootstrap if word == "SERVERS" else word for word in line.split()]
    done = shell(*words, stdin=b"x\n")
    said = done.stderr.decode()
    assert done.returncode == 1, said
    assert f"is too old for this: it supports Metadata up to version {highest} only" in said
    assert "This needs a newer Apache Kafka; the minimum for kcli is 2.1" in said
    assert "allow_auto_topic_creation" not in said
