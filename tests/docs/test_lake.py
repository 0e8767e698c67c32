"""docs/lake.md is true: its lines run in order, and files and tables hold each record once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import dataset

from kcli.sandbox.thread import SandboxThread
from tests.docs.test_how_to import lines_of
from tests.lines import Lines

LIMIT = 300
"""Seconds that one line may take: a JVM starts."""


@pytest.mark.spark
@pytest.mark.process
@pytest.mark.timeout(1500)
@pytest.mark.long
def test_every_line_of_the_page_runs(tmp_path: Path) -> None:
    printed = {}
    with SandboxThread(control=True, rebalance_delay=0) as sandbox:
        lines = Lines(tmp_path, KCLI_BOOTSTRAP=sandbox.bootstrap)
        environment = dict(lines.environment)
        environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
        for line in lines_of("lake.md"):
            done = subprocess.run(
                re.sub(r"\s+# .*$", "", line), shell=True, executable=shutil.which("bash"), cwd=tmp_path,
                env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT,
            )  # fmt: skip
            assert done.returncode == 0, (line, done.stdout[-600:], done.stderr[-600:])
            printed[line] = done.stdout
        assert lines.run("kcli count orders-again").out == "60\n"
    daily = dataset.dataset(tmp_path / "lake/daily", partitioning="hive").to_table()
    assert sorted(daily["id"].to_pylist()) == list(range(1, 62))
    iceberg, delta = (out for line, out in printed.items() if line.startswith("python -c"))
    assert re.search(r"ann +│ +1860\.0 .*bob +│ +10\.0 ", iceberg, re.DOTALL), iceberg
    assert re.search(r" 62 ", delta), delta
