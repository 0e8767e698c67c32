"""docs/library is true: its Python blocks run in order, a page on a sandbox, and print what their comments say.

`print(…)  # text` prints that text, each time. A block whose first line is `# test_NAME.py` is a file for pytest.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kcli.sandbox.thread import SandboxThread

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path.name for path in (ROOT / "docs/library").glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
LIMIT = 30
"""Seconds that one block may take."""


def blocks(page: str) -> list[str]:
    """The blocks of a page with their lines where they are in the page, so that a traceback names them."""
    text = (ROOT / "docs/library" / page).read_text()
    return ["\n" * text[: found.start(1)].count("\n") + found[1] for found in BLOCK.finditer(text)]


def is_test(block: str) -> bool:
    return block.lstrip("\n").startswith("# test_")


class Printed:
    """`print` of a page: holds what is printed against the comment in the line that prints it."""

    def __init__(self, text: str) -> None:
        found = {number: re.search(r"\bprint\(.*\)  # (.+)$", line) for number, line in enumerate(text.split("\n"), 1)}
        self.expected = {number: match[1] for number, match in found.items() if match}
        self.seen: set[int] = set()

    def __call__(self, *values: object) -> None:
        frame = inspect.currentframe()
        assert frame is not None
        assert frame.f_back is not None
        number = frame.f_back.f_lineno
        assert " ".join(map(str, values)) == self.expected[number], f"line {number}"
        self.seen.add(number)


def run(code: str, name: str, namespace: dict[str, Any]) -> None:
    compiled = compile(code, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if not compiled.co_flags & inspect.CO_COROUTINE:
        exec(compiled, namespace)
        return

    async def program() -> None:
        async with asyncio.timeout(LIMIT):
            await eval(compiled, namespace)

    asyncio.run(program())


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_the_page_runs_and_prints_what_it_says(page: str) -> None:
    with SandboxThread() as sandbox:
        namespace: dict[str, Any] = {"__name__": "page"}
        for block in blocks(page):
            if is_test(block):
                continue
            namespace["print"] = printed = Printed(block)
            run(block.replace("localhost:9092", sandbox.bootstrap), f"docs/library/{page}", namespace)
            assert printed.seen == printed.expected.keys(), "a line that printed nothing"
        assert sandbox.violations == []


@pytest.mark.process
def test_tests_of_the_pages_pass(tmp_path: Path) -> None:
    tests = [block for page in PAGES for block in blocks(page) if is_test(block)]
    assert tests
    for number, block in enumerate(tests):
        (tmp_path / f"test_{number}.py").write_text(block)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
