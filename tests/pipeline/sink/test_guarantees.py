"""What is promised, shown by SIGKILL in mid-stream while a real Apache Kafka is written to: files exactly once, topics
at least once, and an exactly-once copy exactly once, also as strangers read them."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow.dataset as ds
import pytest
from confluent_kafka import Consumer, TopicPartition

from kcli.pipeline.jobs.files.finalize import finalize
from tests.pipeline.topics import Topics
from tests.pipeline.tree import alive, descendants

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.kafka.cluster import Kafka

RECORDS, PARTITIONS = 200_000, 2
PATIENCE = 200.0


class Job:
    """tests.pipeline.killed in a process group of its own."""

    def __init__(self, words: list[str], mode: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.pipeline.killed", *words, mode],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"running\n"

    def kill(self, *, everything: bool) -> None:
        """The process group; with `everything` Spark's processes too, else they have to end by themselves."""
        rest = descendants(self.process.pid)
        os.killpg(self.process.pid, signal.SIGKILL)
        if everything:
            for pid in rest:
                killed(pid)
        self.end()
        wait_for(lambda: not any(map(alive, rest)))

    def runs(self) -> bool:
        """True; its end before it was killed is told now, not when patience ends."""
        assert self.process.poll() is None, "it ended by itself: its stderr and spark.log say why"
        return True

    def end(self) -> int:
        with self.process:
            return self.process.wait(PATIENCE)


def killed(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


class Feeding(threading.Thread):
    """Writes the second half of the records bit by bit, while things are killed."""

    def __init__(self, topics: Topics, topic: str, first: int) -> None:
        super().__init__(daemon=True)
        self._topics, self._topic, self._next = topics, topic, first
        self._hurry = threading.Event()

    def run(self) -> None:
        while self._next < RECORDS:
            fill(self._topics, self._topic, self._next, 5000)
            self._next += 5000
            self._hurry.wait(1.0)

    def finish(self) -> None:
        self._hurry.set()
        self.join(PATIENCE)
        assert not self.is_alive()


def fill(topics: Topics, topic: str, first: int, count: int) -> None:
    """Record n goes to partition n % PARTITIONS; its value says n, a few have a key, a few headers."""
    rows = [
        (n % PARTITIONS, None, b"k%d" % n if n % 7 == 0 else None, b"%d" % n, ()) for n in range(first, first + count)
    ]
    topics.fill(topic, rows, compression="zstd" if first % 10_000 else "none")


def ends(topics: Topics, topic: str) -> int:
    from kcli.asking.offsets import list_offsets
    from kcli.model import TopicPartition as At

    ats = {At(topic, one): -1 for one in range(PARTITIONS)}
    return sum(answer.offset for answer in topics.run(lambda client: list_offsets(client.cluster, ats)).values())


def as_a_stranger_reads(bootstrap: str, topic: str) -> list[list[int]]:
    """The values of each partition in order, by librdkafka, committed ones only."""
    found: list[list[int]] = [[] for _ in range(PARTITIONS)]
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "x", "enable.partition.eof": True, "enable.auto.commit": False,
         "isolation.level": "read_committed"}
    )  # fmt: skip
    consumer.assign([TopicPartition(topic, one, 0) for one in range(PARTITIONS)])
    over = 0
    deadline = time.monotonic() + PATIENCE
    while over < PARTITIONS:
        assert time.monotonic() < deadline
        for message in consumer.consume(5000, 1.0):
            if message.error() is not None:
                over += 1
            else:
                found[message.partition()].append(int(message.value()))
    consumer.close()
    return found


@pytest.mark.kafka
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kills", [2, pytest.param(4, marks=pytest.mark.long)])
def test_nothing_is_lost_and_nothing_is_twice_after_kills_in_mid_stream(
    spark, kafka: Kafka, tmp_path: Path, kills: int
):
    """Every other kill ends all of Spark's processes, the others leave Spark to find out by itself."""
    topics = Topics(kafka.bootstrap, "killed")
    source, plain, once = (topics.make(PARTITIONS) for _ in range(3))
    fill(topics, source, 0, RECORDS // 2)
    files = tmp_path / "files"
    words = [kafka.bootstrap, source, str(tmp_path), plain, once]
    feeding = Feeding(topics, source, RECORDS // 2)
    feeding.start()
    die = random.Random(5)

    def seen() -> tuple[int, int, int]:
        return len(list(files.glob("*.parquet"))), ends(topics, plain), ends(topics, once)

    for round_ in range(kills):
        before = seen()
        job = Job(words, "endless")
        wait_for(
            lambda was=before, job=job: job.runs() and all(now > old for now, old in zip(seen(), was, strict=True))
        )
        time.sleep(die.random() * 0.7)  # somewhere in a batch of each query
        job.kill(everything=round_ % 2 == 0)
        assert ends(topics, once) < RECORDS, "it was over before it was killed"
    feeding.finish()
    assert Job(words, "finish").end() == 0

    wanted = [list(range(one, RECORDS, PARTITIONS)) for one in range(PARTITIONS)]
    # files: as Spark reads them, then, finalized, as anybody does
    table = spark.read.parquet(str(files))
    assert table.count() == RECORDS
    assert table.select("partition", "offset").distinct().count() == RECORDS
    leftovers = finalize(files)
    assert leftovers.missing == []
    raw = ds.dataset([str(path) for path in files.glob("*.parquet")], format="parquet").to_table(["value"])
    assert sorted(int(value) for value in raw["value"].to_pylist()) == list(range(RECORDS))
    # a topic: at least once
    copied = Counter(n for part in as_a_stranger_reads(kafka.bootstrap, plain) for n in part)
    assert set(copied) == set(range(RECORDS))
    # exactly once: every record, once, in its partition, in order
    assert as_a_stranger_reads(kafka.bootstrap, once) == wanted
    print(f"orphan files: {len(leftovers.orphans)}, written again at least once: {copied.total() - RECORDS}")
