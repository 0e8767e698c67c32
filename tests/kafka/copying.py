"""Consume, transform, produce under trouble: `kcli copy --exactly-once` that is killed and started again."""

from __future__ import annotations

import json
import subprocess
import time

from tests.kafka.cluster import Kafka
from tests.kafka.transactions import decided
from tests.programs import KCLI, Background, kcat, kcli


class Copying:
    """`with Copying(...) as one:` copies all the while; `tend` starts it again if trouble ended it, `kill` kills it."""

    def __init__(self, kafka: Kafka, source: str, target: str) -> None:
        self._kafka, self._source, self._target = kafka, source, target
        self._words = ["copy", source, target, "-b", kafka.bootstrap, "--exactly-once"]
        self.lives = 0

    def __enter__(self) -> Copying:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._kcli.__exit__()

    def _start(self) -> None:
        words = [*KCLI, *self._words, "--follow", "--commit-interval-ms", "300", "-q"]
        self._kcli = Background(words, stdout=self._kafka.root / f"{self._target}.copy-{self.lives}")
        self.lives += 1

    def tend(self) -> None:
        """A copy that gave up says why, and goes on where it was when it is started again."""
        if self._kcli.process.poll() is not None:
            assert self._kcli.err.startswith("kcli: "), self._kcli.err
            assert "Traceback" not in self._kcli.err, self._kcli.err
            self._kcli.__exit__()
            self._start()

    def kill(self) -> None:
        self._kcli.process.kill()
        self._kcli.__exit__()
        self._start()

    def verify(self, partitions: int, within: float = 90.0) -> int:
        """The rest is copied; then both topics hold the same, each once, in the same order, and the positions that were
        committed are those of what is there. Raises AssertionError; how many records that were."""
        self._kcli.process.kill()
        self._kcli.__exit__()
        self._copy_rest(within)
        (again,) = json.loads(kcli(*self._words, "-J").out)["copies"]
        assert again["copied"] == 0, f"the positions say that something is left: {again}"
        decided(self._kafka, self._target)
        total = 0
        for partition in range(partitions):
            mine, theirs = (self._read(topic, partition) for topic in (self._source, self._target))
            assert theirs == mine, f"partition {partition}: {len(mine)} records became {len(theirs)}, or moved"
            total += len(mine)
        return total

    def _copy_rest(self, within: float) -> None:
        """Copy what is left. A copy that is killed after so many seconds has published some of it, however slow the
        machine is; one that fails may fail for so long. Raises AssertionError."""
        deadline = time.monotonic() + within
        while True:
            before = self._published()
            try:
                done = kcli(*self._words, "-q", timeout=within)
            except subprocess.TimeoutExpired:
                assert self._published() > before, f"nothing was copied in {within:g} s"
                deadline = time.monotonic() + within
                continue
            if done.code == 0:
                return
            assert time.monotonic() < deadline, done.err

    def _published(self) -> int:
        """How far the target is, over all partitions."""
        told = kcli("offsets", self._target, "-b", self._kafka.bootstrap, "-J")
        assert told.code == 0, told.err
        return sum(row["end"] for row in json.loads(told.out)["partitions"])

    def _read(self, topic: str, partition: int) -> list[bytes]:
        read = kcat("-b", self._kafka.bootstrap, "-C", "-t", topic, "-p", str(partition), "-e", "-q",
                    "-X", "isolation.level=read_committed", "-f", "%T %k %s\\n")  # fmt: skip
        assert read.code == 0, read.err
        return read.out.splitlines()
