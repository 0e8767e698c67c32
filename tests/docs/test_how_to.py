"""docs/start.md and docs/how-to.md are true: their lines run in order, each page on a sandbox, and end with 0, or with
N where the comment begins with `exit N`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.docs.pages import shell_lines
from tests.lines import Lines
from tests.test_tasks import seed

DOCS = Path(__file__).resolve().parents[2] / "docs"
CODE = re.compile(r"\s# exit (\d)")


def lines_of(page: str) -> list[str]:
    return shell_lines((DOCS / page).read_text())


@pytest.mark.process
@pytest.mark.parametrize(("page", "seeded"), [("start.md", False), ("how-to.md", True)])
def test_every_line_of_the_page_runs(page: str, seeded: bool, tmp_path: Path) -> None:
    written = lines_of(page)
    assert len(written) > 15
    failed = []
    with SandboxThread(control=True, rebalance_delay=0) as sandbox:
        lines = Lines(tmp_path, KCLI_BOOTSTRAP=sandbox.bootstrap)
        if seeded:
            seed(lines)
        for line in written:
            expected = CODE.search(line)
            done = lines.run(re.sub(r"\s+# .*$", "", line))
            if done.code != int(expected[1] if expected else 0):
                failed.append(f"{line}\n   ended with {done.code}\n{done.out[-600:]}{done.err[-600:]}")
    assert not failed, "\n".join(failed)
