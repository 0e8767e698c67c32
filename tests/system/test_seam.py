"""What only some systems have is used in kcli/system alone (and in the watchdog, which is a part of it)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.hidden import MODULES, OS, SIGNALS

KCLI = Path(__file__).parents[2] / "kcli"
SEAM = ("system/", "watchdog.py")
ONLY_UNIX = {"os": {*OS, "kill"}, "signal": set(SIGNALS), "select": {"poll", "epoll"}, "socket": {"MSG_DONTWAIT"}}
NAMES = re.compile(r"\b(?:{})\b|/proc/".format("|".join({*MODULES, *set().union(*ONLY_UNIX.values())})))
"""Only a source that has one of them is worth parsing."""
BEHIND_A_QUESTION = {
    "cli/runtime/question.py": {"os.set_blocking"},  # returns before on Windows
    "sandbox/log/recovery.py": {"os.pwrite", "os.pwritev"},  # of a class that is taken where they are
    "cli/commands/consume/sink.py": {"socket.MSG_DONTWAIT"},  # stdout is a socket: not on Windows
}


def uses(text: str) -> Iterator[str]:
    """Each module, function and flag of one system's own that a source names."""
    for node in ast.walk(ast.parse(text)) if NAMES.search(text) else ():
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module in MODULES:
                yield node.module
            known = ONLY_UNIX.get(node.module, set())
            yield from (f"{node.module}.{alias.name}" for alias in node.names if alias.name in known)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in ONLY_UNIX.get(node.value.id, ()):
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("/proc/"):
            yield node.value


@pytest.mark.parametrize(
    "text",
    ["import fcntl", "from termios import tcgetattr", "import os\nos.fork()", "from os import pwrite",
     "import signal\nsignal.SIGHUP", "f = '/proc/self/fd/1'"],
)  # fmt: skip
def test_a_use_is_found(text: str) -> None:
    assert list(uses(text))


@pytest.mark.slow
def test_no_other_module_uses_what_one_system_has() -> None:
    found = {}
    for path in sorted(KCLI.rglob("*.py")):
        name = path.relative_to(KCLI).as_posix()
        if not name.startswith(SEAM) and (names := set(uses(path.read_text())) - BEHIND_A_QUESTION.get(name, set())):
            found[name] = names
    assert found == {}
