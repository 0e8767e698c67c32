"""What a group's positions look like from outside, all the while: librdkafka asks, again and again."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import NamedTuple, Self

from confluent_kafka import Consumer, KafkaException, TopicPartition

from tests.kafka.cluster import Kafka


class Look(NamedTuple):
    """The positions by partition; `asked` is when the question was put, in seconds since the epoch."""

    asked: float
    positions: dict[int, int]


class Positions:
    """`with Positions(...) as one:` looks at a group; `looks` is what it saw. A look nobody answers is left out."""

    def __init__(self, kafka: Kafka, group: str, topic: str, partitions: int) -> None:
        # no member, it only asks; librdkafka's admin client aborts the process when a coordinator dies under it
        self._consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": group, "log_level": 0})
        self._places = [TopicPartition(topic, n) for n in range(partitions)]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.looks: list[Look] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(30)
        self._consumer.close()

    def _watch(self) -> None:
        while not self._stop.wait(0.1):
            asked = time.time()
            try:
                found = self._consumer.committed(self._places, timeout=2.0)
            except KafkaException:
                continue  # nobody coordinates just now
            if all(at.error is None for at in found):
                self.looks.append(Look(asked, {at.partition: at.offset for at in found}))


def problems(looks: list[Look], done: list[tuple[float, int, int]]) -> list[str]:
    """Where a position was less than it had been, or less than what was acknowledged before somebody asked. `done` are
    commits that were acknowledged: time, partition, offset."""
    found: list[str] = []
    least: dict[int, int] = {}
    left = sorted(done, reverse=True)
    for look in sorted(looks):
        while left and left[-1][0] < look.asked:
            _, partition, offset = left.pop()
            least[partition] = max(least.get(partition, 0), offset)
        for partition, offset in least.items():
            if look.positions.get(partition, -1) < offset:
                found.append(
                    f"partition {partition} stood at {look.positions.get(partition)} at {look.asked:.3f}, and {offset} "
                    "had been there before"
                )
        for partition, offset in look.positions.items():
            least[partition] = max(least.get(partition, 0), offset)
    return found
