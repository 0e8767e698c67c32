"""Which Kafka a broker is, as far as it can be known."""

from __future__ import annotations

import json

import pytest

from kcli.admin.cluster.brokers import level_name, level_of, oldest, release_of
from kcli.cli.main import main
from kcli.sandbox.thread import SandboxThread

NEW = {1: (4, 18), 3: (0, 13)}


@pytest.mark.parametrize(
    ("apis", "metadata_version", "release"),
    [
        (NEW, 30, "4.3"), (NEW, 29, "4.2"), (NEW, 28, "4.2"), (NEW, 27, "4.1"), (NEW, 26, "4.1"), (NEW, 25, "4.0"),
        (NEW, 21, "3.9"), (NEW, 19, "3.7"), (NEW, 7, "3.3"), (NEW, 33, "4.4"), (NEW, 99, "≥ 4.4"),
        (NEW, None, "≥ 4.1"), ({**NEW, 18: (0, 5)}, None, "≥ 4.4"),
        ({1: (0, 11)}, None, "≥ 2.3"), ({}, None, None), ({3: (0, 0)}, None, None),
    ],
)  # fmt: skip
def test_a_release_is_exact_where_the_broker_says_its_metadata_version(
    apis: dict[int, tuple[int, int]], metadata_version: int | None, release: str | None
) -> None:
    assert release_of(apis, metadata_version) == release
    assert oldest(NEW) == "4.1"


def test_a_level_has_kafkas_name_and_a_name_its_level() -> None:
    names = {7: "3.3-IV3", 9: "3.5-IV0", 11: "3.5-IV2", 19: "3.7-IV4", 25: "4.0-IV3", 30: "4.3-IV0", 33: "4.4-IV2"}
    for level, name in names.items():
        assert level_name("metadata.version", level) == name
        assert level_of(name) == level_of(name.lower()) == level
    assert (level_of("3.5"), level_of("4.3"), level_of("4.4")) == (11, 30, 33)  # the highest of a release
    for unknown in ("4.4-IV3", "4.3-IV1", "4.4-IV", "4.4-IVx", "9.9", "33", "", "-IV0"):
        assert level_of(unknown) is None, unknown
    assert level_name("metadata.version", 99) is None
    assert level_name("transaction.version", 2) is None


def test_the_release_of_a_broker_at_the_prompt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with SandboxThread() as sandbox:
        monkeypatch.setenv("KCLI_BOOTSTRAP", sandbox.bootstrap)
        for command, section in (("brokers", "brokers"), ("cluster", "cluster")):
            capsys.readouterr()
            assert main([command, "list", "-J"]) == 0
            assert json.loads(capsys.readouterr().out)[section][0]["release"] == "4.4"
