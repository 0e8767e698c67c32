"""examples/notebooks/lake.ipynb is true: its cells run in order in a process, and end with the totals of the topic."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.lines import Lines

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples/notebooks/lake.ipynb"
LIMIT = 400
"""Seconds for all cells: two JVMs start."""
ORDERS = """kcli produce orders --repeat 60 --value '{"id": {{seq}}, "user": {"name": "ann"}, "total": {{seq}}.5}'"""


def cells(kind: str) -> list[str]:
    notebook: dict[str, Any] = json.loads(NOTEBOOK.read_text())
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == kind]


def test_the_notebook_is_one_and_keeps_no_outputs() -> None:
    notebook: dict[str, Any] = json.loads(NOTEBOOK.read_text())
    assert (notebook["nbformat"], notebook["metadata"]["kernelspec"]["language"]) == (4, "python")
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    for cell in notebook["cells"]:
        assert cell["cell_type"] == "markdown" or (cell["outputs"], cell["execution_count"]) == ([], None)
    assert ORDERS in cells("markdown")[0], "the topic that the test makes"


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.process
@pytest.mark.timeout(600)
def test_its_cells_run_in_order(tmp_path: Path) -> None:
    shown = "print(totals.toPandas().values.tolist())"
    program = "\n\n".join(cells("code")).replace("totals.toPandas()", shown) + "\nprint(by_user.fetchall())\n"
    assert shown in program
    with SandboxThread(rebalance_delay=0) as sandbox:
        lines = Lines(tmp_path, KCLI_BOOTSTRAP=sandbox.bootstrap)
        assert lines.run("kcli topics create orders -p 3").code == 0
        assert lines.run(ORDERS).code == 0
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, env=lines.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=LIMIT, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    total = sum(n + 0.5 for n in range(1, 61))
    assert done.stdout.splitlines()[-1] == f"[('ann', 60, {total})]"
    assert f"[['ann', {total}]]" in done.stdout.splitlines()
