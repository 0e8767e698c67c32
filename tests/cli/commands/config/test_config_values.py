"""`KEY=VALUE` at the prompt: values with units as in a declared cluster, and the name that was probably meant."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kcli.cli.main import main
from kcli.sandbox.thread import SandboxThread

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread(topics={"orders": 1}) as made:
        yield made


@pytest.fixture(autouse=True)
def bootstrap(sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("KCLI_BOOTSTRAP", sandbox.bootstrap)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


SET = ("configs", "set", "topic", "orders")
ALTER = ("topics", "alter", "orders", "--config")
CREATE = ("topics", "create", "fresh", "--dry-run", "--config")


@pytest.mark.parametrize(
    ("pair", "value"),
    [("retention.ms=7d", "604800000"), ("retention.ms= 1.5h", "5400000"), ("segment.bytes=1MiB", "1048576"),
     ("retention.ms=-1", "-1"), ("compression.type=gzip", "gzip")],
)  # fmt: skip
def test_a_value_may_have_a_unit(pair: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = pair.partition("=")[0]
    assert main([*SET, pair, "--dry-run", "-J"]) == 0
    assert json.loads(capsys.readouterr().out)["configs"][0]["new"] == value
    assert main([*ALTER, pair, "--dry-run", "-J"]) == 0
    assert json.loads(capsys.readouterr().out)["changes"][0]["new"] == value
    assert main([*CREATE, pair, "-J"]) == 0
    assert json.loads(capsys.readouterr().out)["topics"][0]["configs"] == {name: value}


@pytest.mark.parametrize("words", [SET, ALTER, CREATE])
def test_a_unit_that_there_is_not_is_one_sentence(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "retention.ms=7x"]) == 2
    assert capsys.readouterr().err.strip() == (
        "kcli: retention.ms: '7x' is not a duration; write 604800000, 7d, 12h, 30m, 45s or 500ms"
    )


@pytest.mark.parametrize(
    "words",
    [
        (*SET, "retention.m=5", "--execute"),
        ("configs", "delete", "topic", "orders", "retention.m", "--execute"),
        (*ALTER, "retention.m=5", "--execute"),
        ("topics", "alter", "orders", "--delete-config", "retention.m", "--execute"),
        (*CREATE, "retention.m=5"),
        ("configs", "get", "topic", "orders", "retention.m"),
        ("configs", "set", "broker", "1", "num.partition=5", "--execute"),
        ("configs", "set", "broker", "default", "num.partition=5", "--execute"),
    ],
)
def test_a_mistyped_name_is_refused_with_the_nearest_one(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "-J"]) == 1
    (problem,) = json.loads(capsys.readouterr().out)["errors"]
    near = "num.partitions" if "broker" in words else "retention.ms"
    assert problem["message"].endswith(f"; did you mean {near}?"), problem
    assert "retention.m" in problem["message"] or "num.partition" in problem["message"]
