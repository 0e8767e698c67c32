"""`consumer.transaction(producer)` and workers of plain functions: each record is done once, whatever goes wrong."""

from __future__ import annotations

import random
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

import kcli

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.consumer.poll import Fetched
    from kcli.sandbox.thread import SandboxThread

ROWS = 200
READ = kcli.ConsumerSettings(isolation="read_committed")


class Broken(Exception):
    """Something in the program's own work."""


@pytest.fixture
def kafka(sandbox: SandboxThread) -> Iterator[kcli.SyncClient]:
    with kcli.SyncClient(sandbox.bootstrap) as client:
        client.admin.create_topics(
            [kcli.NewTopic(topic="rows", partitions=4), kcli.NewTopic(topic="made", partitions=2)]
        ).check()
        with client.producer() as producer:
            producer.send_all("rows", [(n % 4, None, None, b"%d" % n, ()) for n in range(ROWS)])
        yield client


def made(kafka: kcli.SyncClient) -> list[int]:
    with kafka.consumer("made", stop_at_end=True, settings=READ) as consumer:
        return sorted(int(message.value or b"") for message in consumer)


class Copier:
    """Copies messages in transactions, some of which fail. `count` messages are copied."""

    def __init__(self, chance: random.Random) -> None:
        self.chance, self.count = chance, 0

    def copy(self, consumer: kcli.SyncConsumer, producer: kcli.SyncProducer) -> None:
        """Until a failure that the program does not survive."""
        while self.count < ROWS:
            most, fails = self.chance.randrange(1, 30), self.chance.random() < 0.3
            seen = self._block(consumer, producer, most, fails=fails)
            if fails and self.chance.random() < 0.5:
                raise Broken
            if fails:
                assert self._block(consumer, producer, len(seen)) == seen, "the next call returns the same messages"

    def _block(
        self, consumer: kcli.SyncConsumer, producer: kcli.SyncProducer, most: int, *, fails: bool = False
    ) -> list[bytes | None]:
        seen: list[bytes | None] = []
        with suppress(Broken), consumer.transaction(producer, timeout=5, max_records=most) as messages:
            for message in messages:
                producer.send("made", message.value, partition=self.chance.randrange(2))
                seen.append(message.value)
            if fails:
                raise Broken
        self.count += 0 if fails else len(seen)
        return seen


@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", range(6))
def test_every_record_is_made_once_though_blocks_fail_and_members_come_and_go(
    kafka: kcli.SyncClient, seed: int
) -> None:
    copier, settings = Copier(random.Random(seed)), kcli.ProducerSettings(transactional_id="t")
    while copier.count < ROWS:
        with suppress(Broken), kafka.producer(settings) as producer:
            with kafka.consumer("rows", group="g", settings=READ) as consumer:
                copier.copy(consumer, producer)
    assert made(kafka) == list(range(ROWS))
    assert kafka.lag("g", isolation="read_committed").lag == 0


def test_without_messages_there_is_no_transaction(kafka: kcli.SyncClient) -> None:
    with kafka.producer(kcli.ProducerSettings(transactional_id="t")) as producer:
        with kafka.consumer("made", group="empty") as consumer:
            with consumer.transaction(producer, timeout=0.3) as messages:
                assert messages == []
            with kafka.producer() as other:
                other.send_and_wait("made", b"1")
            with consumer.transaction(producer, timeout=5) as messages:
                assert [message.value for message in messages] == [b"1"]
        with pytest.raises(kcli.UsageError, match="auto_commit=True"):
            with kafka.consumer("made", group=kcli.GroupSettings(group="g", auto_commit=True)) as consumer:
                consumer.transaction(producer).__enter__()


@pytest.mark.timeout(60)
def test_plain_functions_work_in_threads_in_order_within_a_partition(kafka: kcli.SyncClient) -> None:
    seen: dict[int, list[int]] = {}
    threads: set[str] = set()
    together = threading.Barrier(2, timeout=20)

    def work(fetched: Fetched, stop: Any) -> None:
        if len(seen) < 2 and fetched.partition not in seen and fetched.partition < 2:
            together.wait()  # two partitions at the same time
        threads.add(threading.current_thread().name)
        offsets = seen.setdefault(fetched.partition, [])
        offsets += [record.offset for batch in fetched.batches for record in batch]
        if sum(map(len, seen.values())) >= ROWS:
            workers.stop()

    with kafka.consumer(group="w") as consumer:
        workers = kcli.SyncWorkers(consumer, work)
        workers.run(["rows"])
    assert seen == {number: list(range(ROWS // 4)) for number in range(4)}
    assert all(name.startswith("kcli-worker") for name in threads)
    assert kafka.lag("w").lag == 0


@pytest.mark.timeout(60)
def test_a_plain_function_that_raises_ends_the_run_and_its_records_are_read_again(kafka: kcli.SyncClient) -> None:
    def work(fetched: Fetched, stop: Any) -> None:
        if fetched.partition == 2:
            raise Broken("no")
        while not stop.is_set():
            time.sleep(0.01)

    with kafka.consumer(group="w") as consumer, pytest.raises(Broken):
        kcli.SyncWorkers(consumer, work).run(["rows"])
    assert not kafka.admin.committed(["w"])["w"]
