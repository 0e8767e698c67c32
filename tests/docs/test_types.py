"""Programs of the docs and the examples pass strict type checkers, as those of our users have to: mypy and pyright (as
basedpyright packs it) see real signatures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_programs import PAGES, ROOT, blocks, is_test

OPTIONAL = ("airflow",)
"""Folders of examples whose packages are not installed here."""
pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A module of each page, with its blocks in one coroutine, and the examples."""
    folder = tmp_path_factory.mktemp("typed")
    for page in PAGES:
        name, found = page.removesuffix(".md").replace("-", "_"), [block.strip("\n") for block in blocks(page)]
        for number, block in enumerate(filter(is_test, found)):
            (folder / f"page_{name}_{number}.py").write_text(block + "\n")
        lines = "\n".join(block for block in found if not is_test(block)).splitlines()
        body = [f"    {line}" if line else "" for line in lines]
        (folder / f"page_{name}.py").write_text("\n".join(["async def main() -> None:", *body, "    pass", ""]))
    for path in sorted((ROOT / "examples").rglob("*.py")):
        if path.parent.name not in OPTIONAL:
            (folder / f"example_{path.stem}.py").write_text(path.read_text())
    return folder


def checked(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", *words]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=280, check=False)


@pytest.mark.timeout(300)
def test_mypy_has_nothing_to_say(programs: Path) -> None:
    strict = ["--strict", "--allow-redefinition-new", "--local-partial-types", "--cache-dir", str(programs / "cache")]
    done = checked(programs, "mypy", *strict, ".")
    assert done.returncode == 0, done.stdout


@pytest.mark.timeout(300)
def test_pyright_has_nothing_to_say(programs: Path) -> None:
    pytest.importorskip("basedpyright", reason="pip install --group dev")
    found = [str(ROOT), *(path for path in sys.path if path.endswith("site-packages"))]
    settings = {"typeCheckingMode": "strict", "extraPaths": found, "pythonVersion": "3.11"}
    (programs / "pyrightconfig.json").write_text(json.dumps(settings))
    done = checked(programs, "basedpyright")
    assert done.returncode == 0, done.stdout
