"""Which Kafka a broker is, as far as it can be known."""

from __future__ import annotations

import json

import pytest

from kcli.admin.cluster.brokers import oldest, release_of
from kcli.cli.main import main
from kcli.sandbox.thread import SandboxThread

NEW = {1: (4, 18), 3: (0, 13)}


@pytest.mark.parametrize(
    ("apis", "metadata_version", "release"),
    [
        (NEW, 30, "4.3"), (NEW, 29, "4.2"), (NEW, 28, "4.2"), (NEW, 27, "4.1"), (NEW, 26, "4.1"), (NEW, 25, "4.0"),
        (NEW, 21, "3.9"), (NEW, 19, "3.7"), (NEW, 7, "3.3"), (NEW, 33, "4.4"), (NEW, 99, "≥ 4.4"),
        (NEW, None, "≥ 4.1"), ({1: (0, 11)}, None, "≥ 2.3"), ({}, None, None), ({3: (0, 0)}, None, None),
    ],
)  # fmt: skip
def test_a_release_is_exact_where_the_broker_says_its_metadata_version(
    apis: dict[int, tuple[int, int]], metadata_version: int | None, release: str | None
) -> None:
    assert release_of(apis, metadata_version) == release
    assert oldest(NEW) == "4.1"


def test_the_release_of_a_broker_at_the_prompt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with SandboxThread() as sandbox:
        monkeypatch.setenv("KCLI_BOOTSTRAP", sandbox.bootstrap)
        for command, section in (("brokers", "brokers"), ("cluster", "cluster")):
            capsys.readouterr()
            assert main([command, "list", "-J"]) == 0
            assert json.loads(capsys.readouterr().out)[section][0]["release"] == "4.3"
