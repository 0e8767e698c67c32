"""docs/lake.md is true: its lines run in order, and the files hold each record once."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from pyarrow import dataset

from kcli.sandbox.thread import SandboxThread
from tests.docs.test_how_to import lines_of
from tests.lines import Lines
from tests.test_tasks import seed

LIMIT = 150
"""Seconds that one line may take: a JVM starts."""


@pytest.mark.spark
@pytest.mark.process
@pytest.mark.timeout(600)
def test_every_line_of_the_page_runs(tmp_path: Path) -> None:
    with SandboxThread(control=True, rebalance_delay=0) as sandbox:
        lines = Lines(tmp_path, KCLI_BOOTSTRAP=sandbox.bootstrap)
        seed(lines)
        for line in lines_of("lake.md"):
            done = subprocess.run(
                re.sub(r"\s+# .*$", "", line), shell=True, executable=shutil.which("bash"), cwd=tmp_path,
                env=lines.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT,
            )  # fmt: skip
            assert done.returncode == 0, (line, done.stdout[-600:], done.stderr[-600:])
        assert lines.run("kcli count orders-again").out == "60\n"
    daily = dataset.dataset(tmp_path / "lake/daily", partitioning="hive").to_table()
    assert sorted(daily["id"].to_pylist()) == list(range(61))
