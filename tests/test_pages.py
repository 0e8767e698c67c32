"""Pages of docs that are true: each command line in their code blocks runs, in order, on a sandbox with a registry, and
ends with 0, or with what its comment says (`# exit 3`); `export` and `unset` hold for the lines below them. What the
page marks as not run is left out (docs/pages.py)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.docs.pages import shell_lines
from tests.programs import KCLI

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("records", "sandbox", "schemas")


def lines(page: str) -> list[tuple[str, int]]:
    """The command lines of a page, without their comments, and the exit code of each."""
    written = shell_lines((ROOT / f"docs/{page}.md").read_text())
    codes = (re.search(r"# exit (\d+)$", line) for line in written)
    plain = (re.sub(r"\s+#\s.*$", "", line) for line in written)
    return [(line, int(code[1]) if code else 0) for line, code in zip(plain, codes, strict=True)]


def run_lines(lines: list[tuple[str, int]], folder: Path, bootstrap: str, registry: str) -> None:
    """Run lines in order in a folder; the registry takes the place of the sandbox's own."""
    (folder / "kcli").write_text(f'#!/bin/sh\nexec {" ".join(KCLI)} "$@"\n')
    (folder / "kcli").chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "KCLI_BOOTSTRAP": bootstrap,
        "XDG_STATE_HOME": str(folder / "state"),
    }
    for line, code in lines:
        word, _, rest = line.replace("http://localhost:8081", registry).partition(" ")
        if word == "export":
            name, _, environment[name] = rest.partition("=")
            continue
        if word == "unset":
            del environment[rest]
            continue
        done = subprocess.run(
            line, shell=True, executable=shutil.which("bash"), cwd=folder, env=environment,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (code, b""), (line, done)


@pytest.mark.process
@pytest.mark.parametrize("page", PAGES)
def test_every_line_of_a_page_runs(page: str, tmp_path: Path) -> None:
    with SandboxThread(registry=True) as sandbox:
        run_lines(lines(page), tmp_path, sandbox.bootstrap, sandbox.registry_url)
