"""tests/needs.py: a run without optional programs passes, says what it skipped, and hides what a test does not name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FILES = {
    "pytest.ini": "[pytest]\nmarkers = needs\n",
    "conftest.py": "from tests import needs\n"
    "def pytest_configure(config): config.pluginmanager.register(needs.Programs())\n",
    "test_programs.py": """
import shutil
import pytest

@pytest.mark.needs("jq")
def test_sees_what_it_names():
    assert shutil.which("jq") and shutil.which("sh")
    assert shutil.which("kcat") is None

def test_sees_no_other():
    assert shutil.which("jq") is None and shutil.which("sh")

@pytest.mark.needs("zsh", "kcat")
def test_is_skipped(): assert False
""",
}
pytestmark = pytest.mark.process


def run(folder: Path, installed: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """The tests of FILES on a machine that has these programs."""
    tools = folder / "tools"
    tools.mkdir()
    for name in installed:
        (tools / name).write_text("#!/bin/sh\n")
        (tools / name).chmod(0o755)
    (tools / "sh").symlink_to("/bin/sh")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    given = {"PATH": str(tools), "PYTHONPATH": str(Path(__file__).parents[1]), "COLUMNS": "120", **environment}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=folder, env=os.environ | given,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_test_sees_the_programs_that_it_names_and_no_others(tmp_path: Path) -> None:
    done = run(tmp_path, ["jq", "kcat"], KCLI_BARE="")
    assert "2 passed, 1 skipped" in done.stdout, done.stdout
    assert done.stdout.splitlines()[-1] == "Not installed: zsh. 1 comparison was skipped. To add: apt-get install zsh"


def test_on_a_bare_machine_every_such_test_is_skipped(tmp_path: Path) -> None:
    done = run(tmp_path, ["jq", "kcat", "zsh"], KCLI_BARE="1")
    assert "1 passed, 2 skipped" in done.stdout, done.stdout
    assert done.stdout.splitlines()[-1] == (
        "Not installed: jq, kcat, zsh. 2 comparisons were skipped. To add: apt-get install jq kcat zsh"
    )
