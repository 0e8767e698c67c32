"""Spark gives a Python process ten seconds to start: on a machine that is too busy for that the work is begun again."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from kcli.pipeline.errors import busy, told
from kcli.pipeline.jobs.frames import _planned

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

if TYPE_CHECKING:
    from pathlib import Path

    from tests.pipeline.topics import Topics

SLOW = """#!/bin/sh
# the first {times} streaming sources of Spark start after its patience
case "$*" in *python_streaming_source_runner*)
  n=$(ls "{folder}" | wc -l); : > "{folder}/$n"
  [ "$n" -lt {times} ] && sleep 12;;
esac
exec "{python}" "$@"
"""


def slow(tmp_path: Path, times: int) -> Path:
    folder = tmp_path / "starts"
    folder.mkdir()
    path = tmp_path / "python"
    path.write_text(SLOW.format(folder=folder, python=sys.executable, times=times))
    path.chmod(0o755)
    return path


def export(topics: Topics, tmp_path: Path, python: Path, topic: str) -> subprocess.CompletedProcess[str]:
    line = ["pipeline", "export", topic, "out", "--once", "--name", "busy", "--conf", f"spark.pyspark.python={python}"]
    return subprocess.run(
        [sys.executable, "-m", "kcli", *line],
        env={**os.environ, "KCLI_BOOTSTRAP": topics.bootstrap, "XDG_DATA_HOME": str(tmp_path / "share")},
        cwd=tmp_path, timeout=200, text=True, capture_output=True, check=False,
    )  # fmt: skip


@pytest.mark.process
@pytest.mark.long
@pytest.mark.timeout(240)
def test_a_stream_whose_python_does_not_start_in_time_is_begun_again(topics: Topics, tmp_path: Path) -> None:
    topic = topics.make(1)
    topics.values(topic, 20)
    done = export(topics, tmp_path, slow(tmp_path, 1), topic)
    assert done.returncode == 0, done.stderr
    assert "Spark gave up on a Python process that did not start within ten seconds: starting again" in done.stderr
    assert pq.read_table(tmp_path / "out").num_rows == 20


@pytest.mark.process
@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_machine_that_stays_busy_ends_in_one_sentence(topics: Topics, tmp_path: Path) -> None:
    topic = topics.make(1)
    topics.values(topic, 20)
    done = export(topics, tmp_path, slow(tmp_path, 99), topic)
    assert done.returncode == 1
    assert done.stderr.count("starting again") == 3
    assert "kcli: this machine is too busy" in done.stderr


def test_what_a_busy_machine_did_not_plan_is_planned_again() -> None:
    tries = []

    def load() -> str:
        tries.append(1)
        if len(tries) < 3:
            raise RuntimeError("Oh.\n: org.apache.spark.SparkException: Python worker failed to connect back.")
        return "frame"

    assert _planned(load) == "frame"  # type: ignore[arg-type, comparison-overlap]
    wrong = RuntimeError("SocketTimeoutException: Timed out while waiting for the Python worker to connect back")
    assert busy(wrong)
    assert not busy(RuntimeError("Python worker exited unexpectedly"))
    assert str(told(wrong)).startswith("this machine is too busy")
