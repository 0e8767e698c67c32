"""How the tests run: CI's second try, many cases in one test, and the mark of a test that starts a process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import suite
from tests.each import each

KAFKA, PURE = "tests/kafka/test_a.py::test_a", "tests/producer/test_b.py::test_b"


class Runs:
    """Stands for pytest: the first run fails as told, a second try of a test ends with its exit code."""

    def __init__(self, failed: dict[str, list[str]], again: dict[str, int]) -> None:
        self.failed, self.again, self.tried = failed, again, list[str]()

    def __call__(self, *arguments: str) -> int:
        if "--failures" in arguments:
            Path(arguments[-1]).write_text(json.dumps(self.failed))
            return 1 if self.failed else 0
        self.tried.append(arguments[-1])
        return self.again[arguments[-1]]


@pytest.mark.parametrize(
    ("failed", "again", "code", "tried"),
    [
        ({}, {}, 0, 0),
        ({KAFKA: ["kafka"]}, {KAFKA: 0}, 0, 1),
        ({KAFKA: ["kafka"]}, {KAFKA: 1}, 1, 1),
        ({PURE: []}, {PURE: 0}, 1, 0),
        ({PURE: ["process"]}, {PURE: 0}, 1, 0),
        ({KAFKA: ["kafka"], PURE: []}, {KAFKA: 0, PURE: 0}, 1, 0),
        ({f"{KAFKA}{n}": ["spark"] for n in range(3)}, {f"{KAFKA}{n}": 0 for n in range(3)}, 0, 3),
        ({f"{KAFKA}{n}": ["terminal"] for n in range(4)}, {f"{KAFKA}{n}": 0 for n in range(4)}, 1, 0),
    ],
)
def test_only_a_few_failures_of_foreign_components_are_tried_again(
    failed: dict[str, list[str]], again: dict[str, int], code: int, tried: int,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    runs = Runs(failed, again)
    monkeypatch.setattr(suite, "pytest", runs)
    monkeypatch.setenv("CI", "true")
    assert suite.main(["tests"]) == code
    assert len(runs.tried) == tried
    assert ("FLAKY" in capsys.readouterr().out) == bool(tried)


def test_without_CI_a_failure_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs({KAFKA: ["kafka"]}, {KAFKA: 0})
    monkeypatch.setattr(suite, "pytest", runs)
    monkeypatch.delenv("CI", raising=False)
    assert (suite.main(["tests"]), runs.tried) == (1, [])


def test_each_names_every_case_that_failed() -> None:
    seen = []

    @each(("a", "b"), [(1, 2), (3, 4), pytest.param(5, 6)])
    def sums(a: int, b: int) -> None:
        seen.append(a)
        assert a == 3

    with pytest.raises(BaseExceptionGroup) as failed:
        sums()  # type: ignore[call-arg]
    assert seen == [1, 3, 5]
    assert [problem.__notes__ for problem in failed.value.exceptions] == [["case: a=1, b=2"], ["case: a=5, b=6"]]


def test_a_process_of_an_unmarked_test_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"pytest.mark.process"):
        subprocess.run([sys.executable, "-c", ""], check=True)
