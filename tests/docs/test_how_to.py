"""docs/start.md and docs/how-to.md are true: their lines run in order, each page on a sandbox, and end with 0, or with
N where the comment begins with `exit N`. A block of text after a block of shell is what its lines print: `…` stands for
any text, and runs of spaces are equal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.docs.pages import blocks, shell_lines
from tests.lines import Lines
from tests.test_tasks import seed

DOCS = Path(__file__).resolve().parents[2] / "docs"
CODE = re.compile(r"\s# exit (\d)")


def is_like(printed: str, expected: str) -> bool:
    """Whether an output is the one of the page."""
    plain, pattern = (re.sub(r"[ ]+|\n+", lambda match: match[0][0], text).strip() for text in (printed, expected))
    return re.fullmatch(re.escape(pattern).replace("…", ".*"), plain, re.DOTALL) is not None


def lines_of(page: str) -> list[str]:
    return shell_lines((DOCS / page).read_text())


@pytest.mark.process
@pytest.mark.parametrize(("page", "seeded"), [("start.md", False), ("how-to.md", True)])
def test_every_line_of_the_page_runs(page: str, seeded: bool, tmp_path: Path) -> None:
    assert len(lines_of(page)) > 15
    failed = []
    with SandboxThread(control=True, rebalance_delay=0) as sandbox:
        lines = Lines(tmp_path, KCLI_BOOTSTRAP=sandbox.bootstrap)
        if seeded:
            seed(lines)
        printed = ""
        for block in blocks((DOCS / page).read_text()):
            if block.language == "text":
                expected = "\n".join(line.text for line in block.lines)
                if not is_like(printed, expected):
                    failed.append(f"the page has\n{expected}\nprinted was\n{printed}")
            if block.language != "sh":
                continue
            printed = ""
            for line in (line.text for line in block.lines if not line.why_not):
                code = CODE.search(line)
                done = lines.run(re.sub(r"\s+# .*$", "", line))
                printed += done.out
                if done.code != int(code[1] if code else 0):
                    failed.append(f"{line}\n   ended with {done.code}\n{done.out[-600:]}{done.err[-600:]}")
    assert not failed, "\n".join(failed)
