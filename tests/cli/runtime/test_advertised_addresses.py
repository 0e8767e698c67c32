"""Addresses that no broker can have, advertised by a broker: one sentence, exit code 5."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kcli.proto.messages.metadata import MetadataResponse
from kcli.proto.session import Received, ServerSession
from kcli.sandbox.thread import SandboxThread
from tests.cli.leaps import Leaps, leaping
from tests.cli.mutated_commands import INPUT, QUICK, environment, run

COMMANDS = [
    "produce orders",
    "consume orders -e",
    "topics list",
    "lag",
    "cat -P -b BOOTSTRAP -t orders",
]


@pytest.fixture(scope="module")
def leaps() -> Iterator[Leaps]:
    with leaping() as made:
        yield made


@pytest.fixture(scope="module")
def bootstrap(leaps: Leaps) -> Iterator[str]:
    with SandboxThread(topics={"orders": 1}) as running:
        yield running.bootstrap


@pytest.fixture
def advertised(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What all brokers advertise: `host`, `port`."""
    wrong: dict[str, Any] = {}
    respond = ServerSession.respond

    def lying(self: ServerSession, to: Received, response: Any, version: int | None = None) -> Any:
        for broker in response.brokers if isinstance(response, MetadataResponse) else ():
            for name, value in wrong.items():
                setattr(broker, name, value)
        return respond(self, to, response, version)

    monkeypatch.setattr(ServerSession, "respond", lying)
    return wrong


@pytest.mark.parametrize("line", COMMANDS)
@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("port", 70000, "70000 is not a valid port (1 to 65535)"),
        ("port", -1, "-1 is not a valid port (1 to 65535)"),
        ("host", "kafka\0one", "not a valid host name"),
        ("host", "x" * 300, "not a valid host name"),
    ],
)
def test_an_address_that_cannot_be(
    field: str, value: Any, sentence: str, line: str, bootstrap: str, advertised: dict[str, Any], tmp_path: Path,
    leaps: Leaps,
) -> None:  # fmt: skip
    advertised[field] = value
    words = [bootstrap if word == "BOOTSTRAP" else word for word in line.split()]
    with environment(bootstrap, tmp_path, QUICK | {"KCLI_DELIVERY_TIMEOUT_MS": "60000"}):
        done = run(words, INPUT, leaps)
    assert not done.fault, done.fault
    assert done.code == (1 if line.startswith("cat") else 5), done.err
    assert sentence in done.err


def test_doctor_names_the_port(bootstrap: str, advertised: dict[str, Any], tmp_path: Path, leaps: Leaps) -> None:
    advertised["port"] = 70000
    with environment(bootstrap, tmp_path, QUICK):
        done = run(["doctor"], b"", leaps)
    assert (done.fault, done.code) == ("", 5)
    assert "70000 is not a valid port (1 to 65535)" in done.out
