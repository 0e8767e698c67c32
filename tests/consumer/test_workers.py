"""Workers per partition, on the sandbox: who works, when a partition is paused, and what a rebalance waits for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from kcli.client import Client
from kcli.consumer.consumer import Consumer
from kcli.consumer.poll import Fetched
from kcli.consumer.workers import Workers
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.sandbox.sandbox import Sandbox
from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, ProducerSettings, parse_bootstrap
from tests.consumer import outliving

pytestmark = pytest.mark.usefixtures("leaping_clock")

PARTITIONS = 6
GROUP = GroupSettings(
    group="g", auto_commit=False, heartbeat_interval=0.05, session_timeout=6.0, rebalance_timeout=10.0
)


@asynccontextmanager
async def running(records: int = 0) -> AsyncIterator[tuple[Sandbox, Client]]:
    """A topic of six partitions with a batch for each record."""
    async with Sandbox(topics={"t": PARTITIONS}) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap), retry_backoff=0.01)) as client:
            async with client.producer(ProducerSettings(linger=0.0, batch_records=1)) as producer:
                for n in range(records):
                    await producer.send("t", b"%d" % n, partition=n % PARTITIONS)
            yield sandbox, client


def member(client: Client, small: bool = True) -> Consumer:
    return client.consumer(
        settings=ConsumerSettings(partition_max_bytes=80 if small else 1 << 20, fetch_max_wait=0.02), group=GROUP
    )


async def until(holds: Callable[[], bool], within: float = 15.0) -> None:
    async with asyncio.timeout(within):
        while not holds():  # noqa: ASYNC110 - what is waited for sets no event
            await asyncio.sleep(0.01)


def numbers(fetched: Fetched) -> list[int]:
    return [int(record.value or b"") for batch in fetched.batches for record in batch]


async def test_A3_01_A3_13_each_partition_has_a_worker_and_a_revocation_waits_for_it_and_its_commit() -> None:
    seen: dict[str, list[int]] = {"one": [], "two": []}
    busy: dict[TopicPartition, str] = {}

    def work_of(name: str) -> Callable[[Fetched], object]:
        async def work(fetched: Fetched, stop: asyncio.Event) -> None:
            at = TopicPartition(fetched.topic, fetched.partition)
            assert at not in busy, "two work on one partition"
            busy[at] = name
            await asyncio.sleep(0.002)
            seen[name] += numbers(fetched)
            del busy[at]

        return work

    async with running(records=900) as (_, client), member(client) as one, member(client) as two:
        first = Workers(one, work_of("one"), commit_interval=0.05)  # type: ignore[arg-type]
        second = Workers(two, work_of("two"), commit_interval=0.05)  # type: ignore[arg-type]
        running_one = asyncio.create_task(first.run(["t"]))
        await until(lambda: len(first.partitions) == PARTITIONS and len(seen["one"]) > 50)
        running_two = asyncio.create_task(second.run(["t"]))
        await until(lambda: len(first.partitions) == len(second.partitions) == PARTITIONS // 2)
        await until(lambda: len(seen["one"]) + len(seen["two"]) >= 900)
        first.stop()
        await running_one
        await one.close()
        await until(lambda: len(second.partitions) == PARTITIONS)
        second.stop()
        await running_two
        assert sorted(seen["one"] + seen["two"]) == list(range(900))  # each once, though partitions moved
        assert seen["two"]


async def test_A3_02_what_was_worked_off_is_committed_one_past_it_with_its_epoch() -> None:
    async with running(records=60) as (sandbox, client), member(client) as consumer:
        done: list[int] = []

        async def work(fetched: Fetched, stop: asyncio.Event) -> None:
            done.extend(numbers(fetched))

        workers = Workers(consumer, work)
        working = asyncio.create_task(workers.run(["t"]))
        await until(lambda: len(done) == 60)
        workers.stop()
        await working
        told = await consumer.committed([TopicPartition("t", p) for p in range(PARTITIONS)])
        epoch = sandbox.topics.partition("t", 0).leader_epoch
        assert set(told.values()) == {OffsetAndMetadata(10, epoch, "")}


async def test_A3_03_a_slow_worker_pauses_its_partition_and_nobody_else_s() -> None:
    async with running(records=600) as (_, client), member(client) as consumer:
        done: dict[int, int] = dict.fromkeys(range(PARTITIONS), 0)
        gate = asyncio.Event()
        most = 0

        async def work(fetched: Fetched, stop: asyncio.Event) -> None:
            nonlocal most
            worker = workers._workers[TopicPartition(fetched.topic, fetched.partition)]
            most = max(most, len(worker.queue))
            if fetched.partition == 0:
                await gate.wait()
            done[fetched.partition] += len(numbers(fetched))

        workers = Workers(consumer, work, size=8)
        working = asyncio.create_task(workers.run(["t"]))
        await until(lambda: all(count == 100 for partition, count in done.items() if partition))
        assert consumer.paused == {TopicPartition("t", 0)}
        assert len(workers._workers[TopicPartition("t", 0)].queue) <= 5
        gate.set()
        await until(lambda: done[0] == 100)
        assert consumer.paused == set()
        assert most <= 8
        workers.stop()
        await working


async def test_A3_14_a_revocation_with_a_full_queue_does_not_hang() -> None:
    async with running(records=600) as (_, client), member(client) as one, member(client) as two:
        slow = asyncio.Event()
        seen: list[int] = []

        async def work(fetched: Fetched, stop: asyncio.Event) -> None:
            if not slow.is_set():
                await asyncio.sleep(0.05)
            seen.extend(numbers(fetched))

        first, second = Workers(one, work, size=4), Workers(two, work, size=4)
        running_one = asyncio.create_task(first.run(["t"]))
        await until(lambda: bool(one.paused))
        running_two = asyncio.create_task(second.run(["t"]))
        await until(lambda: len(second.partitions) == PARTITIONS // 2)
        slow.set()
        await until(lambda: len(seen) >= 600)
        for workers in (first, second):
            workers.stop()
        await asyncio.gather(running_one, running_two)
        assert sorted(seen) == list(range(600))


async def test_A3_16_what_a_worker_raises_ends_the_run_and_its_record_is_not_committed() -> None:
    async with running(records=12) as (_, client), member(client) as consumer:

        async def work(fetched: Fetched, stop: asyncio.Event) -> None:
            if fetched.partition == 3:
                raise ValueError("cannot do this one")

        workers = Workers(consumer, work, commit_interval=0.01)
        with pytest.raises(ValueError, match="cannot do this one"):
            async with asyncio.timeout(15):
                await workers.run(["t"])
        told = await consumer.committed([TopicPartition("t", 3)])
        assert told == {TopicPartition("t", 3): None}


async def test_A3_17_closing_the_consumer_ends_the_run() -> None:
    async with running() as (_, client):
        consumer = member(client)

        async def work(fetched: Fetched, stop: asyncio.Event) -> None:
            raise AssertionError("there is nothing to do")

        workers = Workers(consumer, work)
        working = asyncio.create_task(workers.run(["t"]))
        await until(lambda: len(workers.partitions) == PARTITIONS)
        await consumer.close()
        (ended,) = await asyncio.gather(working, return_exceptions=True)
        assert type(ended).__name__ == "Closed"


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_E36_E53_A3_13_a_worker_that_takes_three_times_the_rebalance_timeout_loses_its_partition(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kcli.sandbox.answers.consumer_group_heartbeat.HEARTBEAT", 0.05)
    settings = GroupSettings(group="g", auto_commit=False, rebalance_timeout=outliving.TIMEOUT, protocol=protocol)
    if protocol == "classic":
        settings = settings.replace(heartbeat_interval=0.1, session_timeout=6.0)
    async with Sandbox(topics={"t": 2}, rebalance_delay=0) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            async with client.producer(ProducerSettings(linger=0.0)) as producer:
                for n in range(40):
                    await producer.send("t", b"%d" % n, partition=n % 2)
            await outliving.tell(client, "t", settings, 40)
        assert sandbox.violations == []
