"""MetricsListener in a program of one's own: lines of a file, and a page that is there while queries run."""

from __future__ import annotations

import json
import time
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from kcli.errors import UsageError

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

from kcli.pipeline.metrics.listener import MetricsListener

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.pipeline.topics import Topics


@pytest.mark.spark
def test_a_program_has_the_metrics_of_its_queries(spark: SparkSession, topics: Topics, tmp_path: Path) -> None:
    topic = topics.make(2)
    topics.values(topic, 300)
    listener = MetricsListener(str(tmp_path / "lines"), prometheus="127.0.0.1:0")
    spark.streams.addListener(listener)
    try:
        given = {"kafka.bootstrap.servers": topics.bootstrap, "subscribe": topic, "startingOffsets": "earliest"}
        frame = spark.readStream.format("kcli").options(**given).load()
        writer = frame.writeStream.format("noop").queryName("orders").trigger(availableNow=True)
        writer.option("checkpointLocation", str(tmp_path / "c")).start().awaitTermination(60)
        deadline = time.monotonic() + 30
        while not (tmp_path / "lines").stat().st_size and time.monotonic() < deadline:
            time.sleep(0.05)  # Spark tells its listeners later
        page = urllib.request.urlopen(listener.url, timeout=5).read().decode()
    finally:
        spark.streams.removeListener(listener)
        listener.close()
    (line,) = map(json.loads, (tmp_path / "lines").read_text().splitlines())
    assert {name: line[name] for name in ("pipeline", "batch", "rows", "bad", "lag", "files")} == {
        "pipeline": "orders", "batch": 0, "rows": 300, "bad": 0, "lag": 0, "files": None,
    }  # fmt: skip
    assert 0 < line["commit_seconds"] < line["seconds"]
    assert 'kcli_pipeline_rows_total{pipeline="orders"} 300\n' in page
    assert 'kcli_pipeline_lag{pipeline="orders"} 0\n' in page
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(listener.url, timeout=5)


def test_queries_are_rows_of_one_page_and_a_batch_without_records_is_none() -> None:
    from types import SimpleNamespace

    listener = MetricsListener()
    progress: dict[str, Any] = {
        "batchId": 3, "numInputRows": 50, "durationMs": {"triggerExecution": 400}, "observedMetrics": {},
        "sources": [{"endOffset": '{"t":{"0":50}}', "latestOffset": '{"t":{"0":57}}'}],
    }  # fmt: skip

    class Seen(dict[str, Any]):
        name, id = None, "7f"

    listener.onQueryStarted(SimpleNamespace(name="early", id="1"))  # type: ignore[arg-type]
    listener.onQueryProgress(SimpleNamespace(progress=Seen(progress)))  # type: ignore[arg-type]
    listener.onQueryProgress(SimpleNamespace(progress=Seen(progress | {"numInputRows": 0})))  # type: ignore[arg-type]
    page = listener.page()
    assert page.count("# TYPE kcli_pipeline_batches_total counter") == 1
    for line in ('rows_total{pipeline="early"} 0', 'rows_total{pipeline="7f"} 50', 'lag{pipeline="7f"} 7'):
        assert f"kcli_pipeline_{line}\n" in page
    assert 'batches_total{pipeline="7f"} 1\n' in page
    assert 'lag{pipeline="early"}' not in page


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="expected"):
        MetricsListener(prometheus="nine")
