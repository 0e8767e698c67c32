"""`-p tests.forks`: what forks ran is what the session says, also where a fork dies or hangs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FILES = {
    "pytest.ini": "[pytest]\ntimeout = 60\n",
    "conftest.py": "import tests.forks\ntests.forks.SILENCE = 2.0\n",
    "test_a.py": """
import pytest

def test_passes(tmp_path): print("not shown")
def test_fails(): print("what it printed"); assert 1 == 2
def test_skips(): pytest.skip("not here")
""",
    "test_b.py": """
import os

def test_dies(): os._exit(3)
def test_after_it(): pass
""",
    "test_c.py": """
import time

def test_hangs(): time.sleep(50)
""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "tests.forks", "--forks", "3", "-p", "no:randomly", *arguments]
    repository = {"PYTHONPATH": str(Path(__file__).parents[1]), "COLUMNS": "120"}
    return subprocess.run(
        command, cwd=folder, env=os.environ | repository, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.process
def test_a_test_fails_that_fails_dies_hangs_or_is_lost(folder: Path) -> None:
    done = run(folder)
    failed = dict(re.findall(r"^FAILED test_\w+\.py::(\w+) - (.*)$", done.stdout, re.MULTILINE))
    assert failed == {
        "test_fails": "assert 1 == 2",
        "test_dies": "its process ended with exit code 3",
        "test_after_it": "it did not run: the process that should have run it was lost",
        "test_hangs": "it hangs",
    }, done.stdout  # fmt: skip
    assert done.returncode == 1
    assert "4 failed, 1 passed, 1 skipped" in done.stdout
    assert "what it printed" in done.stdout
    assert "not shown" not in done.stdout
    again = run(folder, "--lf", "--collect-only", "-q")
    assert set(re.findall(r"::(\w+)", again.stdout)) == set(failed), again.stdout


@pytest.mark.process
def test_a_run_stops_after_its_first_failure(folder: Path) -> None:
    done = run(folder, "-x", "-k", "fails or hangs")
    assert done.returncode == 1
    assert "stopping after 1 failures" in done.stdout


@pytest.mark.process
def test_what_a_fixture_started_ends_with_the_tests_of_its_group(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\ntimeout = 60\nmarkers = xdist_group\n")
    (tmp_path / "test_groups.py").write_text(
        """
import pytest

UP = []

@pytest.fixture(scope="session")
def dear():
    UP.append(1)
    yield
    UP.clear()

@pytest.mark.xdist_group("dear")
@pytest.mark.parametrize("n", [1, 2])
def test_with_it(dear, n): assert UP == [1]

def test_without_it(): assert not UP
"""
    )
    done = run(tmp_path, "--forks", "1")
    assert "3 passed" in done.stdout, done.stdout
