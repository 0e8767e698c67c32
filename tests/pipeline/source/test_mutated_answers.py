"""What the pipeline asks of a broker before and beside Spark, against wrong answers: planning reads, reading a range,
positions of exactly-once copies, commits. No Spark runs; each fails, if it must, with an error of kcli's."""

from __future__ import annotations

import asyncio
import os
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.pipeline.connection import Sealed, sealed_of
from kcli.pipeline.log import Log
from kcli.pipeline.options import read_options
from kcli.pipeline.sink.positions import begin
from kcli.pipeline.source import stream as stream_reader
from kcli.pipeline.source.stream import commit
from kcli.sandbox.thread import SandboxThread
from tests.cli.leaps import Leaps, leaping
from tests.cli.mutated_commands import OURS, Heard, deadline, environment
from tests.cli.mutation import Mutation, listening, mutated
from tests.cli.mutation import Path as Field
from tests.effort import tries
from tests.tui.conftest import seed

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark]'")
from pyspark.sql.streaming.datasource import ReadMaxBytes, ReadMaxRows
from pyspark.sql.types import BinaryType, IntegerType, LongType, StringType, StructField, StructType

SEEDS = int(os.environ.get("MUTATED_SEEDS", "200"))
SECONDS = float(os.environ.get("MUTATED_PLANS_SECONDS", tries(8)))
SCHEMA = StructType(
    [
        StructField("key", BinaryType()), StructField("value", BinaryType()), StructField("topic", StringType()),
        StructField("partition", IntegerType()), StructField("offset", LongType()),
    ]
)  # fmt: skip
AT = TopicPartition("orders", 0)
OPTIONS = {"subscribe": "orders,payments", "kafkaConsumer.pollTimeoutMs": "1000"}
PATTERN = {"subscribePattern": "or.*", "startingTimestamp": "1000", "kafkaConsumer.pollTimeoutMs": "1000"}


def batch(sealed: Sealed, options: dict[str, str]) -> None:
    from kcli.pipeline.source.read import BatchReader

    reader = BatchReader(read_options(options, streaming=False), sealed, SCHEMA)
    for one in reader.partitions():
        list(reader.read(one))


def stream(sealed: Sealed, limit: Any) -> None:
    from kcli.pipeline.source.stream import StreamReader

    reader = StreamReader(read_options(OPTIONS | {"startingOffsets": "earliest"}, streaming=True), sealed, SCHEMA)
    try:
        start = reader.initialOffset()
        end = reader.latestOffset(start, limit)
        reader.reportLatestOffset()
        reader.partitions(start, end)
        reader.prepareForTriggerAvailableNow()
        reader.latestOffset(end, limit)
    finally:
        reader.log.close()


def exactly_once(sealed: Sealed) -> None:
    with Log(sealed) as log:
        begin(log, "copy", {AT: 0}, {AT: 3}, targets={"orders": "payments"})
        begin(log, "copy", {AT: 0}, {AT: 3}, targets={"orders": "payments"}, resumed=True)


def shown(sealed: Sealed) -> None:
    with Log(sealed) as log:
        commit(log, "shown", {AT: 2})


WORK: dict[str, Callable[[Sealed], None]] = {
    "a batch": lambda sealed: batch(sealed, OPTIONS),
    "a batch from a time": lambda sealed: batch(sealed, PATTERN),
    "a stream by rows": lambda sealed: stream(sealed, ReadMaxRows(10)),
    "a stream by bytes": lambda sealed: stream(sealed, ReadMaxBytes(1000)),
    "an exactly-once copy": exactly_once,
    "a group that shows a stream": shown,
}


class Plans:
    def __init__(self, sandbox: SandboxThread, leaps: Leaps, folder: Path) -> None:
        self.failed = ""
        self._sandbox, self._leaps, self._folder = sandbox, leaps, folder
        times = {"request.timeout.ms": "1500", "default.api.timeout.ms": "2000", "max.block.ms": "2000"}
        given = {"kafka.bootstrap.servers": sandbox.bootstrap, **{f"kafka.{name}": ms for name, ms in times.items()}}
        self._sealed = sealed_of(given)

    def run(self, name: str) -> str:
        """What must not come of it. `failed` is set to what may."""
        fault, self.failed = "", ""
        with environment(self._sandbox.bootstrap, self._folder, {}), Heard() as heard, deadline(self._leaps) as stuck:
            try:
                WORK[name](self._sealed)
            except KcliError as problem:
                self.failed = str(problem)
                found = OURS.search(self.failed)
                fault = f"it says {found[0]}: {problem}" if found is not None else ""
            except Exception:  # noqa: BLE001  # whatever it is, it is found
                fault = traceback.format_exc()[-3000:]
        return "\n".join(stuck) or fault or "\n".join(heard.log)[-3000:]

    def clean(self, name: str) -> list[Field]:
        """The fields of what it is told."""
        found: set[Field] = set()
        with listening(found):
            fault = self.run(name)
        assert not fault, fault
        assert not self.failed, self.failed
        return sorted(found)


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plans]:
    with (
        leaping() as leaps,
        SandboxThread(brokers=2, rebalance_delay=0.0) as sandbox,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(stream_reader, "PATIENCE", 0.2)  # it sleeps between Spark's calls, over which no clock leaps
        patch.setattr(stream_reader, "EVERY", 0.05)
        asyncio.run(seed(sandbox.bootstrap))
        yield Plans(sandbox, leaps, tmp_path_factory.mktemp("kept"))


@pytest.mark.kcli_violates
@pytest.mark.parametrize("name", WORK)
def test_no_answer_breaks_the_pipeline(name: str, plans: Plans) -> None:
    end = time.perf_counter() + SECONDS / len(WORK)
    fields = plans.clean(name)
    for number in range(SEEDS):
        if number > 1 and time.perf_counter() > end:
            break
        mutation = Mutation(number, fields)
        with mutated(mutation):
            fault = plans.run(name)
        assert not fault, f"{name} (seed {number}; {', '.join('.'.join(path) for path in mutation.done)}): {fault}"
