"""From the prompt to the file of an export of 10,000 records, and how much of that is Spark's own start.

python -m benchmarks.pipeline_first                                           # on a Kafka of its own
python -m benchmarks.pipeline_first range|source|kafka BOOTSTRAP TOPIC ENDS FOLDER
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from benchmarks.pipeline_rounds import middle
from tests.kafka.cluster import Kafka
from tests.pipeline import connector
from tests.pipeline.topics import Topics
from tests.pipeline.tree import cpu, descendants

ROWS = 10_000
EVERY = 0.25
"""Seconds between two looks at the CPU."""
EXPORT = "`kcli pipeline export` after `kcli pipeline doctor`"
KINDS = {
    EXPORT: "kcli",
    "Spark alone, started as kcli does: `range` into parquet": "range",
    "the same, of a Python data source that makes numbers": "source",
    "the JVM connector, in a script of pyspark": "kafka",
}


class Numbers(DataSource, DataSourceReader):
    """What Spark spends on any source in Python: two tasks of numbers."""

    @classmethod
    def name(cls) -> str:
        return "numbers"

    def schema(self) -> str:
        return "id BIGINT"

    def reader(self, schema: Any) -> DataSourceReader:
        return self

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(0), InputPartition(1)]

    def read(self, partition: InputPartition) -> Any:
        import pyarrow as pa

        yield pa.record_batch({"id": list(range(ROWS // 2))})


def first_files(bootstrap: str, topic: str, folder: Path, rounds: int) -> dict[str, tuple[float, float]]:
    """Median wall seconds from the start of the process to the file in its place, and CPU seconds of all processes to
    their end."""
    half = json.dumps({topic: {"0": ROWS // 2, "1": ROWS // 2}})
    warm = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache-warm"), "XDG_STATE_HOME": str(folder / "state")}
    subprocess.run([sys.executable, "-m", "kcli", "pipeline", "doctor", "-q"], env=warm, check=True, timeout=900)
    out = folder / "first"
    spans = [sys.executable, "-m", "benchmarks.pipeline_first"]
    line = [sys.executable, "-m", "kcli", "pipeline", "export", topic, str(out), "--file-format", "parquet", "-q"]
    line += ["-b", bootstrap, "--where", f"offset < {ROWS // 2}"]
    found: dict[str, list[tuple[float, float]]] = {label: [] for label in KINDS}
    for _ in range(rounds):
        for label, kind in KINDS.items():
            words = line if kind == "kcli" else [*spans, kind, bootstrap, topic, half, str(out)]
            found[label].append(_timed(words, warm, out))
            wall, spent = found[label][-1]
            print(f"first file, {label}: {wall:.1f} s, {spent:.1f} CPU s", file=sys.stderr)
            shutil.rmtree(out)
    return {label: middle(runs) for label, runs in found.items()}


def _timed(words: list[str], environment: dict[str, str], out: Path) -> tuple[float, float]:
    """Until the folder is complete, and what the process and those below it spent."""
    began, seen, spent, sampled = time.monotonic(), 0.0, 0.0, 0.0
    with subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            now = time.monotonic() - began
            if not seen and (out / "_SUCCESS").exists():
                seen = now
            if now - sampled >= EVERY:
                spent, sampled = max(spent, cpu([process.pid, *descendants(process.pid)])), now
            time.sleep(0.02)
    if process.returncode or not seen:
        raise RuntimeError(f"{words}: exit code {process.returncode}, {'a' if seen else 'no'} complete folder")
    return seen, spent


def main(kind: str, bootstrap: str, topic: str, ends: str, folder: str) -> None:
    """One run of another kind than kcli's command."""
    if kind in ("range", "source"):
        from kcli.pipeline.session.session import Session, SessionSettings

        with Session(SessionSettings(quick=True)) as spark:
            if kind == "range":
                spark.range(0, ROWS, 1, 2).write.parquet(folder)
            else:
                spark.dataSource.register(Numbers)
                spark.read.format("numbers").load().write.parquet(folder)
        return
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.jars", ",".join(connector.jars()))
    spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    options = {"kafka.bootstrap.servers": bootstrap, "subscribe": topic, "endingOffsets": ends}
    spark.read.format("kafka").options(**options).load().write.parquet(folder)
    spark.stop()


def alone(rounds: int = 3) -> None:
    """All kinds, on a Kafka of their own."""
    cluster = Kafka(1)
    cluster.start()
    try:
        with tempfile.TemporaryDirectory(prefix="kcli-first-") as folder:
            topics = Topics(cluster.bootstrap, "first")
            topic = topics.make(2)
            for partition in range(2):
                topics.values(topic, ROWS, partition)
            for label, (wall, spent) in first_files(cluster.bootstrap, topic, Path(folder), rounds).items():
                print(f"{label}: {wall:.1f} s, {spent:.1f} CPU s")
    finally:
        cluster.stop()


if __name__ == "__main__":
    main(*sys.argv[1:6]) if sys.argv[1:] else alone()
