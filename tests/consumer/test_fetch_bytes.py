"""Memory of a consumer does not grow with the brokers that it reads from."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kcli.consumer.consumer import Consumer
from kcli.model import TopicPartition
from kcli.settings import ConsumerSettings
from tests.consumer import log

FAKES: Any = log
MIB = 1024 * 1024


@pytest.mark.parametrize(("brokers", "most"), [(1, 8000), (2, 4000), (4, 3000)])
async def test_E12_several_brokers_divide_what_one_fetch_may_bring(brokers: int, most: int) -> None:
    """A partition gets its 3000 bytes, whatever the number."""
    logs = {TopicPartition("t", number): FAKES.Log().fill(10) for number in range(4)}
    cluster = FAKES.FakeCluster(logs, brokers=brokers)
    settings = ConsumerSettings(
        buffer_bytes=100_000, partition_max_bytes=3000, fetch_max_bytes=8000, fetch_max_wait=0.01
    )
    async with Consumer(cluster, settings) as consumer:
        consumer.assign(dict.fromkeys(logs, 0))
        consumer.stop_at(dict.fromkeys(logs, 10))
        while not consumer.finished:
            await consumer.poll(5)
        assert {broker.fetches[-1].max_bytes for broker in cluster.brokers.values()} == {most}


@pytest.mark.parametrize(("given", "asked"), [(None, [2 * MIB, 4 * MIB, 2 * MIB]), (MIB, [MIB])])
async def test_a_partition_of_large_records_is_asked_for_twice_as_much_unless_it_was_set(
    given: int | None, asked: list[int]
) -> None:
    """Of small ones as much as before again: a response that is copied is to be small."""
    stored = FAKES.Log()
    for _ in range(3):
        stored.add(FAKES.batch(stored.end, [b"x" * (3 * MIB // 2)]))
    for _ in range(4):
        stored.add(FAKES.batch(stored.end, [b"x" * 400] * 1000))
    cluster = FAKES.FakeCluster({TopicPartition("t", 0): stored})
    settings = ConsumerSettings() if given is None else ConsumerSettings(partition_max_bytes=given)
    async with Consumer(cluster, settings) as consumer:
        consumer.assign({TopicPartition("t", 0): 0})
        consumer.stop_at({TopicPartition("t", 0): stored.end})
        records = 0
        while not consumer.finished:
            records += sum(batch.count for fetched in await consumer.poll(5) for batch in fetched.batches)
    assert records == 4003
    (broker,) = cluster.brokers.values()
    sizes = [row.partition_max_bytes for fetch in broker.fetches for topic in fetch.topics for row in topic.partitions]
    assert [size for number, size in enumerate(sizes) if size != sizes[number - 1] or not number] == asked


async def test_E1_a_batch_that_was_cut_off_behind_a_large_record_is_asked_for_whole() -> None:
    """Of four brokers, so that a request may bring less than a partition of large records is asked for."""
    logs = {TopicPartition("t", number): FAKES.Log() for number in range(4)}
    stored = logs[TopicPartition("t", 0)]
    for size in (3 * MIB // 2, 3 * MIB, 1):
        stored.add(FAKES.batch(stored.end, [b"x" * size]))
    cluster = FAKES.FakeCluster(logs, brokers=4)

    def cutting(broker: Any) -> Any:
        async def hook(request: Any) -> Any:
            answer = await broker.fetch(request)
            for topic in answer.responses:
                for row in topic.partitions:
                    row.records = row.records and row.records[: request.max_bytes]
            return answer

        return hook

    for broker in cluster.brokers.values():
        broker.hook = cutting(broker)
    async with Consumer(cluster, ConsumerSettings(fetch_max_wait=0.01)) as consumer:
        consumer.assign(dict.fromkeys(logs, 0))
        consumer.stop_at({at: log.end for at, log in logs.items()})
        sizes = []
        while not consumer.finished:
            for fetched in await consumer.poll(5):
                sizes += [len(record.value or b"") for batch in fetched.batches for record in batch]
    assert sizes == [3 * MIB // 2, 3 * MIB, 1]


async def test_E26_what_is_handed_out_wakes_no_broker_that_has_nothing_to_send() -> None:
    """A fetcher that wakes looks at every partition, so waking them all is a cost of brokers × partitions a poll."""
    logs = {TopicPartition("t", number): FAKES.Log().fill(10) for number in range(40)}
    cluster = FAKES.FakeCluster(logs, brokers=40)
    looks = 0
    leader_id = cluster.leader_id

    def counted(at: TopicPartition) -> Any:
        nonlocal looks
        looks += 1
        return leader_id(at)

    cluster.leader_id = counted
    async with Consumer(cluster, ConsumerSettings(fetch_max_wait=0.01)) as consumer:
        consumer.assign(dict.fromkeys(logs, 0))
        consumer.stop_at(dict.fromkeys(logs, 10))
        polls = 0
        while not consumer.finished:
            await consumer.poll(5, max_bytes=1)
            polls += 1
            await asyncio.sleep(0)  # tasks that were woken run
        assert polls >= 40
        turns = sum(len(broker.fetches) for broker in cluster.brokers.values())
        assert looks <= 3 * len(logs) * (turns + polls)
