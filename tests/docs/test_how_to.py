"""docs/how-to.md is true: its lines run in order, and end with 0, or with N where the comment begins with `exit N`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.lines import Lines
from tests.test_tasks import seed

PAGE = (Path(__file__).resolve().parents[2] / "docs/how-to.md").read_text()
CODE = re.compile(r"\s# exit (\d)")
LINES = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
    if line
]


@pytest.fixture
def lines(tmp_path: Path) -> Iterator[Lines]:
    with SandboxThread(control=True, rebalance_delay=0) as sandbox:
        made = Lines(tmp_path, KCLI_BOOTSTRAP=sandbox.bootstrap)
        seed(made)
        yield made


@pytest.mark.process
def test_every_line_of_the_page_runs(lines: Lines) -> None:
    assert len(LINES) > 25
    failed = []
    for line in LINES:
        expected = CODE.search(line)
        done = lines.run(re.sub(r"\s+# .*$", "", line))
        if done.code != int(expected[1] if expected else 0):
            failed.append(f"{line}\n   ended with {done.code}\n{done.out[-600:]}{done.err[-600:]}")
    assert not failed, "\n".join(failed)
