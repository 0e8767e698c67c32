"""`make mutants` tells a change that a test notices from one that none does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import mutants

PLANTED = """
LIMIT = 10

def is_over(n):
    return n > LIMIT

def sent(to, texts):
    to.extend(texts)
    to.sort()
"""
TESTS = """
import planted

def test_over():
    assert planted.is_over(12) and not planted.is_over(10)

def test_sent():
    planted.sent(to := [], ["a"])
    assert to == ["a"]
"""


@pytest.mark.long
@pytest.mark.process
def test_changes_that_no_test_notices_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    monkeypatch.chdir(tmp_path)
    mutants.importers.cache_clear()
    Path("tests").mkdir()
    Path("planted.py").write_text(PLANTED)
    Path("tests/test_planted.py").write_text(TESTS)
    Path("conftest.py").touch()  # pytest puts its folder on the path
    mutants.main(["planted.py"])
    assert capsys.readouterr().out.splitlines() == [
        "planted.py:2: 10  ->  11",
        "planted.py:9: to.sort()  ->  pass",
        "2 of 4 mutants survived, of 4; MUTANTS_SEED=0 repeats",
    ]
    assert Path("planted.py").read_text() == PLANTED
    mutants.importers.cache_clear()


@pytest.mark.slow
def test_the_nearest_tests_come_first() -> None:
    assert mutants.tests_of("kcli/lag/status.py")[0] == "tests/lag/test_status.py"


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("a < b", ["a < b  ->  a <= b"]),
        ("if a: b = 1", ["if a:  ->  if not a:", "1  ->  2"]),
        ("f(a, b)", ["f(a, b)  ->  f(b, a)", "f(a, b)  ->  pass"]),
        ("x = f(a, k=b)", ["f(a, k=b)  ->  f(a)"]),
        ("self.x = y", ["self.x = y  ->  pass"]),
        ("if TYPE_CHECKING:\n    x = 1", []),
    ],
)
def test_one_rule_is_changed_at_a_time(code: str, changed: list[str], tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text(code)
    assert [text.partition(": ")[2] for text in mutants.mutants(str(path))] == changed
