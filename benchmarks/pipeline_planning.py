"""What the driver does before a task runs, of 10,000 partitions: a plan, a micro-batch's plan, the sizes of records.

python -m benchmarks.pipeline_planning
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from pyspark.sql.types import BinaryType, StructField, StructType

from benchmarks.pipeline_rounds import middle
from kcli.model import TopicPartition
from kcli.pipeline.connection import sealed_of
from kcli.pipeline.log import Log
from kcli.pipeline.options import read_options
from kcli.pipeline.source.limits import sizes_of
from kcli.pipeline.source.read import BatchReader
from kcli.pipeline.source.stream import StreamReader
from tests.pipeline.topics import Topics

MANY, EACH = 10_000, 20
VALUE = StructType([StructField("value", BinaryType())])


def planning(rounds: int = 3) -> dict[str, tuple[float, float]]:
    """Wall and CPU seconds of this process, by what is done; the broker is a sandbox in a process of its own."""
    words = [sys.executable, "-m", "kcli.sandbox", "--exit-with-stdin"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as broker:
        assert broker.stdout is not None
        topics = Topics(json.loads(broker.stdout.readline())["bootstrap"], "planning")
        topic = topics.make(MANY)
        topics.fill(topic, [(one, None, None, b"v" * 100, ()) for one in range(MANY) for _ in range(EACH)])
        jobs = jobs_of(topics.bootstrap, topic)
        found: dict[str, list[tuple[float, float]]] = {label: [] for label in jobs}
        for _ in range(rounds):
            for label, job in jobs.items():
                found[label].append(timed(job))
        broker.communicate()
    return {label: middle(runs) for label, runs in found.items()}


def jobs_of(bootstrap: str, topic: str) -> dict[str, Callable[[], Any]]:
    """What is measured."""
    sealed = sealed_of({"kafka.bootstrap.servers": bootstrap})
    starts = json.dumps({topic: dict.fromkeys(map(str, range(MANY)), 0)})

    def batch(**more: str) -> None:
        given = {"subscribe": topic, "startingOffsets": starts, **more}
        made = BatchReader(read_options(given, streaming=False), sealed, VALUE).partitions()
        assert sum(map(len, made)) == MANY * EACH

    def micro_batch() -> None:
        given = {"subscribe": topic, "startingOffsets": starts, "maxBytesPerTrigger": "10m"}
        reader = StreamReader(read_options(given, streaming=True), sealed, VALUE)
        start = reader.initialOffset()
        assert reader.partitions(start, reader.latestOffset(start, reader.getDefaultReadLimit()))
        reader.log.close()

    def sizes() -> None:
        ats = {TopicPartition(topic, one): 0 for one in range(MANY)}
        with Log(sealed) as log:
            assert len(sizes_of(log, ats, dict.fromkeys(ats, EACH))) == MANY

    return {
        "a batch, offsets as JSON": batch,
        "a batch, tasks cut by bytes": lambda: batch(maxBytesPerPartition="1m"),
        "the first micro-batch, `maxBytesPerTrigger`": micro_batch,
        "the sizes of records alone": sizes,
    }


def timed(job: Callable[[], Any]) -> tuple[float, float]:
    """Wall and CPU seconds of this process."""
    began, spent = time.monotonic(), time.process_time()
    job()
    return time.monotonic() - began, time.process_time() - spent


if __name__ == "__main__":
    for name, (wall, spent) in planning().items():
        print(f"{name}: {wall:.2f} s, {spent:.2f} CPU s")
