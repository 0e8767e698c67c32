"""Programs in every way of reading, against the consumer's promise (tests/consumer/promises.py)."""

from __future__ import annotations

from typing import Any

import pytest

from kcli.consumer.consumer import Consumer
from kcli.model import TopicPartition
from kcli.settings import ConsumerSettings
from tests.consumer import promises
from tests.consumer.log import FakeCluster, Log, until


@pytest.mark.parametrize("way", promises.WAYS)
def test_nothing_is_lost_and_only_what_is_done_is_committed(way: str) -> None:
    for seed in range(8):
        promises.run(seed, way)


def test_every_way_of_reading_has_its_share_of_schedules() -> None:
    ways = [promises.way_of(seed) for seed in range(1000)]
    assert {ways.count(way) for way in promises.WAYS} <= {83, 84}


@pytest.mark.parametrize("way", ["async mixed", "sync mixed", "workers"])
def test_a_program_is_the_same_every_time(way: str) -> None:
    one, two = (promises.run(5, way) for _ in range(2))
    assert len(one.trace) > 20
    assert one.trace == two.trace


async def test_what_was_not_taken_goes_with_its_partition() -> None:
    first, second = (TopicPartition("t", number) for number in range(2))
    cluster: Any = FakeCluster({at: Log().fill(20) for at in (first, second)})
    async with Consumer(cluster, ConsumerSettings(fetch_max_wait=0.001)) as consumer:
        consumer.assign({first: 0, second: 0})
        await until(lambda: all(cursor.chunks for cursor in consumer._reader.cursors.values()))
        async for _ in consumer:
            break
        assert consumer._delivery._returned
        consumer.assign({first: 10})
        (fetched,) = await consumer.poll(5)
        assert (fetched.partition, fetched.batches[0].first) == (0, 10)
        assert not consumer._delivery._returned
