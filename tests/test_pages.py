"""Pages of docs that are true: each command line in their code blocks runs, in order, on a sandbox with a registry, and
ends with 0; `export` and `unset` hold for the lines below them. A line that says `# not run: …` is left out."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.programs import KCLI

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("records", "sandbox", "schemas")


def lines(page: str) -> list[str]:
    """The command lines of a page, without their comments."""
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / f"docs/{page}.md").read_text(), re.DOTALL | re.MULTILINE)
    written = [line for block in blocks for line in block.splitlines() if "# not run: " not in line]
    return [re.sub(r"\s+#\s.*$", "", line) for line in written]


@pytest.mark.process
@pytest.mark.parametrize("page", PAGES)
def test_every_line_of_a_page_runs(page: str, tmp_path: Path) -> None:
    (tmp_path / "kcli").write_text(f'#!/bin/sh\nexec {" ".join(KCLI)} "$@"\n')
    (tmp_path / "kcli").chmod(0o755)
    with SandboxThread(registry=True) as sandbox:
        environment = {
            **os.environ,
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "KCLI_BOOTSTRAP": sandbox.bootstrap,
        }
        for line in lines(page):
            word, _, rest = line.replace("http://localhost:8081", sandbox.registry_url).partition(" ")
            if word == "export":
                name, _, environment[name] = rest.partition("=")
                continue
            if word == "unset":
                del environment[rest]
                continue
            done = subprocess.run(
                line, shell=True, executable=shutil.which("bash"), cwd=tmp_path, env=environment,
                stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
            )  # fmt: skip
            assert (done.returncode, done.stderr) == (0, b""), (line, done)
