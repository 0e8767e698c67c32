"""Members of a group written by others, each read by a thread of its own; stopped and joined by `with`."""

from __future__ import annotations

import gc
import threading
import time
from types import TracebackType
from typing import Any, Self

from confluent_kafka import Consumer as ConfluentConsumer
from kafka import KafkaConsumer


class Stranger:
    """Polls in a thread until told to stop, commits what it read, leaves. `values` is what it read."""

    def __init__(self) -> None:
        self.values: list[bytes] = []
        self.partitions: set[int] = set()  # those it read from
        self.assigned: set[int] = set()
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name=type(self).__name__)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(30)
        assert not self._thread.is_alive(), "the stranger did not end"
        gc.collect()  # kafka-python leaves its sockets to the collector
        if kind is None and self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        try:
            self.run()
        except BaseException as problem:  # noqa: BLE001 - told at the end of `with`
            self._failure = problem

    def run(self) -> None:
        raise NotImplementedError


class Confluent(Stranger):
    """confluent-kafka, that is librdkafka."""

    def __init__(self, bootstrap: str, group: str, topic: str, strategy: str = "range") -> None:
        super().__init__()
        self._topic = topic
        self._options: dict[str, Any] = {
            "bootstrap.servers": bootstrap, "group.id": group, "partition.assignment.strategy": strategy,
            "auto.offset.reset": "earliest", "enable.auto.commit": False, "session.timeout.ms": 10_000,
            "heartbeat.interval.ms": 200,
        }  # fmt: skip
        if strategy == "consumer":  # KIP-848: what the coordinator decides may not be said
            for name in ("partition.assignment.strategy", "session.timeout.ms", "heartbeat.interval.ms"):
                del self._options[name]
            self._options["group.protocol"] = "consumer"

    def run(self) -> None:
        consumer = ConfluentConsumer(self._options)
        consumer.subscribe([self._topic])
        try:
            while not self._stop.is_set():
                for message in consumer.consume(1000, 0.1):
                    assert message.error() is None, message.error()
                    self.values.append(message.value())
                    self.partitions.add(message.partition())
                if self.values:
                    consumer.commit(asynchronous=True)
                self.assigned = {at.partition for at in consumer.assignment()}
        finally:
            consumer.close()


class KafkaPython(Stranger):
    """kafka-python, range by default."""

    def __init__(self, bootstrap: str, group: str, topic: str) -> None:
        super().__init__()
        self._topic = topic
        self._options: dict[str, Any] = {
            "bootstrap_servers": bootstrap.split(","), "group_id": group, "auto_offset_reset": "earliest",
            "enable_auto_commit": True, "auto_commit_interval_ms": 100, "heartbeat_interval_ms": 200,
        }  # fmt: skip

    def run(self) -> None:
        consumer = KafkaConsumer(**self._options)
        consumer.partitions_for_topic(self._topic)  # a leader that does not know the topic yet assigns nothing
        consumer.subscribe([self._topic])
        try:
            while not self._stop.is_set():
                # long, because a rebalance that one poll does not see the end of may leave 3.0.12 outside for good:
                # it neither joins nor sends heartbeats any more, and the group waits for it (1 of 9 runs with 100 ms)
                for at, records in consumer.poll(timeout_ms=3000).items():
                    self.values += [record.value for record in records]
                    self.partitions.add(at.partition)
                self.assigned = {at.partition for at in consumer.assignment()}
        finally:
            consumer.close()


def until(condition: Any, within: float = 30.0) -> None:
    """Wait for something another thread or process does."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.05)
