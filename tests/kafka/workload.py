"""A scripted workload: what goes in and what is read, at known rates, and what that was at any moment.

Times are seconds since the epoch.
"""

from __future__ import annotations

import subprocess
import threading
import time
from bisect import bisect_left, bisect_right
from types import TracebackType
from typing import Self

from confluent_kafka import Consumer

from tests.kafka.cluster import Kafka
from tests.programs import KCLI, Background

TICK = 0.05  # seconds


class Count:
    """A number that grows, over time."""

    def __init__(self) -> None:
        self.times, self.values = [time.time()], [0]

    def add(self, value: int) -> None:
        self.times.append(time.time())
        self.values.append(value)

    def at(self, moment: float) -> float:
        """The value then, by interpolation."""
        place = bisect_right(self.times, moment)
        if place in (0, len(self.times)):
            return float(self.values[min(place, len(self.values) - 1)])
        (t, u), (a, b) = self.times[place - 1 : place + 1], self.values[place - 1 : place + 1]
        return a + (b - a) * (moment - t) / (u - t) if u > t else float(b)

    def reached(self, value: float) -> float:
        """When it was so much."""
        place = bisect_left(self.values, value)
        return self.times[min(place, len(self.times) - 1)]

    def rate(self, since: float, until: float) -> float:
        return (self.at(until) - self.at(since)) / (until - since)


class Script:
    """A thread that does `due` things a second, `rate` of them, until the end of `with`. `count` is what was done."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.count = Count()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self._failure: BaseException | None = None

    def __enter__(self) -> Self:
        self.begin()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(30)
        self.end()
        if kind is None and self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        try:
            done, owed, last = 0, 0.0, time.monotonic()
            while not self._stop.wait(TICK):
                now = time.monotonic()
                owed += (now - last) * self.rate
                last = now
                if not self.ready():
                    owed = 0.0
                    continue
                made = self.do(done, int(owed))
                owed -= made
                done += made
                self.count.add(done)
        except BaseException as problem:  # noqa: BLE001 - told at the end of `with`
            self._failure = problem

    def begin(self) -> None: ...
    def end(self) -> None: ...
    def ready(self) -> bool:
        return True

    def do(self, done: int, count: int) -> int:
        """Do so many more; how many that were."""
        raise NotImplementedError


class Writing(Script):
    """`kcli produce` to one partition."""

    def __init__(self, kafka: Kafka, topic: str, partition: int, rate: float) -> None:
        super().__init__(rate)
        self._words = [*KCLI, "produce", topic, "-p", str(partition), "-b", kafka.bootstrap, "-X", "linger.ms=5"]
        self._path = kafka.root / f"{topic}.{partition}.writing"

    def begin(self) -> None:
        self._kcli = Background(self._words, stdout=self._path, stdin=subprocess.PIPE)

    def do(self, done: int, count: int) -> int:
        assert self._kcli.process.stdin is not None
        self._kcli.process.stdin.write(b"".join(b"%d\n" % n for n in range(done, done + count)))
        self._kcli.process.stdin.flush()
        return count

    def end(self) -> None:
        assert self._kcli.process.stdin is not None
        self._kcli.process.stdin.close()
        assert self._kcli.process.wait(30) == 0, self._kcli.err
        self._kcli.__exit__()


class Reading(Script):
    """confluent-kafka, a member with one partition, that commits each time it has read. `rate` may be changed."""

    partition = -1

    def __init__(self, kafka: Kafka, topic: str, group: str, rate: float) -> None:
        super().__init__(rate)
        self._topic = topic
        self._options = {
            "bootstrap.servers": kafka.bootstrap, "group.id": group, "auto.offset.reset": "earliest",
            "enable.auto.commit": False, "heartbeat.interval.ms": 200,
        }  # fmt: skip

    def begin(self) -> None:
        self._consumer = Consumer(self._options)
        self._consumer.subscribe([self._topic])

    def ready(self) -> bool:
        if self.partition < 0:
            assert not self._consumer.consume(1, 0.05), "nothing is written before all have a partition"
            owned = self._consumer.assignment()
            if len(owned) == 1:
                self.partition = owned[0].partition
        return self.partition >= 0

    def do(self, done: int, count: int) -> int:
        got = self._consumer.consume(count, TICK) if count else []
        assert all(message.error() is None for message in got)
        if got:
            self._consumer.commit(got[-1], asynchronous=False)
        return len(got)

    def end(self) -> None:
        self._consumer.close()
