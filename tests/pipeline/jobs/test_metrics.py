"""--metrics and --prometheus: what a run says of itself, as lines of a file and over HTTP while it runs."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from kcli.pipeline.jobs.lake.table import Written
from kcli.pipeline.jobs.work import StreamState
from kcli.pipeline.metrics.stream_metrics import Totals, batch_of
from kcli.pipeline.progress import Progress
from tests.pipeline.jobs.test_commands import kcli as kcli

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.pipeline.topics import Topics

    Kcli = Callable[..., int]

PROGRESS: dict[str, Any] = {
    "batchId": 3,
    "numInputRows": 50,
    "durationMs": {"triggerExecution": 400, "walCommit": 30, "commitOffsets": 20, "addBatch": 200},
    "observedMetrics": {"kcli_bad_1": {"bad": 2, "unknown": 0}},
    "sources": [{"endOffset": '{"t":{"0":50}}', "latestOffset": '{"t":{"0":57}}'}],
}


def test_a_batch_is_measured_by_sparks_progress_and_by_what_it_wrote() -> None:
    batch = batch_of(PROGRESS, None, 1000.0)
    assert (batch.batch, batch.rows, batch.bad, batch.lag) == (3, 50, 2, 7)
    assert (batch.seconds, batch.rate, batch.commit_seconds) == (0.4, 125.0, 0.05)
    assert (batch.files, batch.bytes) == (None, None)
    written = batch_of(PROGRESS, Written(files=2, bytes=900, commit=0.25), 1000.0)
    assert (written.files, written.bytes, written.commit_seconds) == (2, 900, 0.25)
    assert json.loads(json.dumps(written.line("p")))["pipeline"] == "p"


def test_the_page_adds_up_batches_and_leaves_out_what_is_unknown() -> None:
    totals = Totals('a"b', 900.0)
    early = totals.page(Progress(), StreamState())
    assert 'kcli_pipeline_rows_total{pipeline="a\\"b"} 0' in early
    assert "kcli_pipeline_lag" not in early
    assert "kcli_pipeline_files_total" not in early
    totals.add(batch_of(PROGRESS, Written(files=2, bytes=900), 1000.0))
    totals.add(batch_of(PROGRESS, Written(files=1, bytes=100), 1001.0))
    page = totals.page(Progress(), StreamState(lag=7)).replace('{pipeline="a\\"b"}', "").splitlines()
    assert "# TYPE kcli_pipeline_rows_total counter" in page
    assert "# TYPE kcli_pipeline_lag gauge" in page
    for line in ("rows_total 100", "bad_rows_total 4", "batches_total 2", "files_total 3", "written_bytes_total 1000"):
        assert f"kcli_pipeline_{line}" in page
    assert "kcli_pipeline_lag 7" in page
    assert "kcli_pipeline_batch_timestamp_seconds 1001" in page


@pytest.mark.spark
def test_a_stream_into_a_table_is_measured_while_it_runs(
    kcli: Kcli, topics: Topics, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    topic = topics.make(1)
    topics.values(topic, 300)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    pages = [""]

    def fetch() -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and "kcli_pipeline_rows_total" not in pages[-1].replace("} 0\n", ""):
            time.sleep(0.1)
            try:
                pages.append(urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode())
            except urllib.error.URLError:
                continue
            if 'kcli_pipeline_rows_total{pipeline="lake"} 300\n' in pages[-1]:
                break
            pages[-1] = ""
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=fetch)
    thread.start()
    words = ("--file-format", "iceberg", "--warehouse", "lake", "--name", "lake", "--continuous", "--trigger", "200ms")
    code = kcli("export", topic, "raw.orders", *words, "--metrics", "lines", "--prometheus", f":{port}")
    thread.join()
    assert code == 0
    page = pages[-1].replace('{pipeline="lake"}', "").splitlines()
    assert {"kcli_pipeline_rows_total 300", "kcli_pipeline_lag 0", "kcli_pipeline_files_total 1"} <= set(page)
    assert float(next(line for line in page if line.startswith("kcli_pipeline_commit_seconds ")).split()[1]) > 0
    assert f"metrics at http://127.0.0.1:{port}/metrics" in capfd.readouterr().err
    (line,) = [json.loads(one) for one in (tmp_path / "lines").read_text().splitlines()]
    assert (line["pipeline"], line["batch"], line["rows"], line["bad"], line["lag"]) == ("lake", 0, 300, 0, 0)
    assert line["files"] == 1
    assert line["bytes"] == sum(file.stat().st_size for file in (tmp_path / "lake").rglob("*.parquet"))
    assert 0 < line["commit_seconds"] < line["seconds"]
    assert kcli("export", topic, "out", "--metrics", "lines") == 0  # appends; a batch is a line too
    last = json.loads((tmp_path / "lines").read_text().splitlines()[1])
    assert (last["batch"], last["rows"], last["lag"], last["files"]) == (None, 300, None, None)


@pytest.mark.spark
def test_what_cannot_be_written_or_served_is_an_error_before_anything_is_done(
    kcli: Kcli, topics: Topics, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    topic = topics.make(1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for option, value, why in (
            ("--metrics", "no/such/lines", "--metrics no/such/lines: cannot be written (No such file or directory)"),
            ("--prometheus", f":{port}", f"--prometheus 127.0.0.1:{port}: cannot listen there"),
            ("--prometheus", "nine", "--prometheus nine: expected [HOST]:PORT, such as :9308"),
        ):
            assert kcli("export", topic, "out", option, value) == 2
            assert why in capfd.readouterr().err
    assert not (tmp_path / "out").exists()
