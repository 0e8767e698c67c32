"""Transactions under trouble: a transactor that is killed and restarted, and what readers may see of it at the end."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable

from tests.kafka.cluster import Kafka
from tests.programs import Background, kcat, kcli

RECORD = re.compile(rb"^(\d+)\.(\d+) of (\d+)$")
GAP = 1_000_000  # between the numbers of one life and the next


class Transactor:
    """`with Transactor(...) as one:` writes all the while; `kill` ends it without a word and starts its successor."""

    def __init__(self, kafka: Kafka, topic: str, partitions: int, seed: str) -> None:
        self._kafka, self._topic, self._partitions, self._seed = kafka, topic, partitions, seed
        self._lives: list[Background] = []

    def __enter__(self) -> Transactor:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._lives[-1].process.kill()
        self._lives[-1].__exit__()

    def _start(self) -> None:
        import sys

        life = len(self._lives)
        words = [
            sys.executable, "-m", "tests.kafka.transactor", self._kafka.bootstrap, self._topic, str(self._partitions),
            f"id-{self._topic}", str(life * GAP), f"{self._seed}/{life}",
        ]  # fmt: skip
        self._lives.append(Background(words, stdout=self._kafka.root / f"{self._topic}.transactor.{life}"))

    def kill(self) -> None:
        """SIGKILL; a successor with the same transactional id begins at once."""
        self._lives[-1].process.kill()
        self._lives[-1].__exit__()
        self._start()

    def progress(self, transactions: int = 5, within: float = 60.0) -> None:
        """Until so many more are committed. Raises AssertionError."""
        deadline = time.monotonic() + within
        wanted = len(self.told()["committed"]) + transactions
        while len(self.told()["committed"]) < wanted:
            assert self._lives[-1].process.poll() is None, f"the transactor ended: {self._lives[-1].err}"
            assert time.monotonic() < deadline, f"no progress in {within} s: {self._lives[-1].err[-2000:]}"
            time.sleep(0.05)

    def told(self) -> dict[str, set[int]]:
        """What the transactor said of its transactions; `open` has no end."""
        ends: dict[str, set[int]] = {word: set() for word in ("begin", "committed", "aborted", "unknown")}
        for life in self._lives:
            for line in life.out.splitlines():
                word, _, number = line.partition(b" ")
                if number:
                    ends[word.decode()].add(int(number))
        ends["open"] = ends["begin"] - ends["committed"] - ends["aborted"] - ends["unknown"]
        return ends


def problems(told: dict[str, set[int]], values: Iterable[bytes]) -> list[str]:
    """Every promise that a read_committed reader finds broken, as sentences."""
    found: list[str] = []
    seen: dict[int, Counter[int]] = {}
    sizes: dict[int, int] = {}
    for value in values:
        match = RECORD.match(value)
        if match is None:
            found.append(f"{value!r} was never sent")
            continue
        number, index, size = map(int, match.groups())
        seen.setdefault(number, Counter())[index] += 1
        sizes[number] = size
    for number, indexes in seen.items():
        if any(times > 1 for times in indexes.values()):
            found.append(f"transaction {number} has records twice")
        if len(indexes) != sizes[number]:
            found.append(f"transaction {number} is there in part: {len(indexes)} of {sizes[number]} records")
        if number in told["aborted"]:
            found.append(f"transaction {number} was aborted, and is seen")
        if number not in told["begin"]:
            found.append(f"transaction {number} was never begun")
    found += [f"transaction {number} was committed, and is lost" for number in sorted(told["committed"] - seen.keys())]
    return found


def committed_by(kafka: Kafka, topic: str, reader: str) -> list[bytes]:
    """What a reader of committed records sees of the topic, up to its end."""
    if reader == "kcli":
        done = kcli("consume", topic, "-b", kafka.bootstrap, "-e", "--isolation", "read_committed", timeout=90)
    elif reader == "kcat":
        done = kcat("-b", kafka.bootstrap, "-C", "-t", topic, "-e", "-q", "-X", "isolation.level=read_committed",
                    timeout=90)  # fmt: skip
    else:
        text = kafka.tool(
            "org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", kafka.bootstrap, "--topic", topic,
            "--from-beginning", "--timeout-ms", "8000", "--isolation-level", "read_committed", timeout=90,
        )  # fmt: skip
        return [line.encode() for line in text.splitlines() if RECORD.match(line.encode())]
    assert done.code == 0, done.err
    return done.out.splitlines()


def verify(
    kafka: Kafka, topic: str, told: dict[str, set[int]], readers: Iterable[str] = ("kcli", "kcat", "java")
) -> str:
    """Wait until every transaction is decided, then compare with what each reader sees. Raises AssertionError naming
    the broken promises; returns the figures."""
    decided(kafka, topic)
    for reader in readers:
        found = problems(told, committed_by(kafka, topic, reader))
        assert not found, f"{reader}: {len(found)} broken promises: " + "; ".join(found[:10])
    figures = {word: len(told[word]) for word in ("committed", "aborted", "unknown", "open")}
    return f"transactions {figures}"


def decided(kafka: Kafka, topic: str, within: float = 60.0) -> None:
    """No transaction is open any more: the coordinator ended what the last life left behind."""
    import json

    deadline = time.monotonic() + within
    while True:
        done = kcli("offsets", topic, "-b", kafka.bootstrap, "-J")
        rows = json.loads(done.out)["partitions"]
        if done.code == 0 and all(row["stable"] == row["end"] for row in rows):
            return
        assert time.monotonic() < deadline, f"still undecided: {rows}"
        time.sleep(0.3)
