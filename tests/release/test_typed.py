"""README.md typed into a terminal, line by line, in an empty folder of a user who has only Python: each line ends
with 0, asks nothing and does not hang. `pip install kcli-kafka` installs the wheel that `make dist` built."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

import pytest

from tests.docs.pages import blocks
from tests.ports import free_port
from tests.release.test_installed import CLEAN, wheels

pytestmark = [pytest.mark.dist, pytest.mark.process]
README = (Path(__file__).resolve().parents[2] / "README.md").read_text()
PROMPT = re.compile(r"\[exit (\d+)\] $")
LIMIT, INSTALL_LIMIT = 60, 300
"""Seconds that a line may take, and one that installs."""


class Terminal:
    """An interactive bash in a terminal, whose prompt is the exit code of the line before it."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.ours, theirs = pty.openpty()
        self.shell = subprocess.Popen(
            [shutil.which("bash") or "bash", "--norc", "--noprofile", "-i"],
            cwd=folder, env={**environment, "PS1": "[exit $?] ", "PS2": "", "TERM": "xterm-256color", "COLUMNS": "120"},
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.answer("the shell", LIMIT)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.write(self.ours, b"\x03\nkill $(jobs -p); wait; exit\n")
        try:
            self.shell.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.shell.kill()
            self.shell.wait()
        os.close(self.ours)

    def answer(self, line: str, limit: float) -> tuple[int, str]:
        """The exit code of a line and what the terminal shows, once the next prompt is there."""
        shown, until = "", time.monotonic() + limit
        while not (found := PROMPT.search(shown)):
            if not select.select([self.ours], [], [], max(0, until - time.monotonic()))[0]:
                raise AssertionError(f"{line}: no prompt after {limit} s; the terminal shows\n{shown}")
            shown += os.read(self.ours, 65536).decode(errors="replace")
        return int(found[1]), shown

    def type(self, line: str) -> str:
        """Type a line; what the terminal shows. Raises AssertionError if it hangs or does not end with 0."""
        os.write(self.ours, f"{line}\n".encode())
        code, shown = self.answer(line, INSTALL_LIMIT if line.startswith("pip install") else LIMIT)
        assert code == 0, f"{line}: exit {code}\n{shown}"
        return shown


@pytest.mark.timeout(600)
@pytest.mark.parametrize("core", ["compiled", "python"])
def test_each_line_of_the_readme_works_when_typed_in_an_empty_folder(core: str, tmp_path: Path) -> None:
    assert core in wheels(), f"no {core} wheel in dist: run make dist"
    tools, home, empty = tmp_path / "tools", tmp_path / "environment", tmp_path / "empty"
    tools.mkdir()
    empty.mkdir()
    for name in ("bash", "sh", "env", "cat", "seq", "sleep", "sed"):
        (tools / name).symlink_to(shutil.which(name) or name)
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    environment = {**CLEAN, "PATH": f"{home / 'bin'}:{tools}", "HOME": str(tmp_path)}
    ports = {port: str(free_port()) for port in ("9092", "8081")}
    registry = f"--registry --registry-port {ports['8081']} "
    shown = {}
    with Terminal(empty, environment) as terminal:
        for block in blocks(README):
            lines = [re.sub(r"\s+#\s.*$", "", line.text) for line in block.lines if not line.why_not]
            if block.language == "python":
                program = "\n".join(line.text for line in block.lines)
                lines = [f"cat > program.py <<'END'\n{program}\nEND", "python program.py"]
            for line in lines:
                typed = line.replace("pip install kcli-kafka", f"pip install --quiet {wheels()[core]}")
                for port, free in ports.items():
                    typed = typed.replace(port, free)
                typed = typed.replace("--registry ", registry)
                if "kcli pipeline" not in line:  # Spark is 450 MB: tests/test_readme.py
                    shown[line] = terminal.type(typed)
    assert f"record core: {core}" in shown["kcli --version"]
    assert "1000\r\n" in shown["kcli consume orders -o beginning -e"]
    assert "exit code 3" in next(text for line, text in shown.items() if line.startswith("kcli registry check"))
    assert "2001 records" in shown["python program.py"]
