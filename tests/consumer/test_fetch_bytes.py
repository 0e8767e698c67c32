"""Memory of a consumer does not grow with the brokers that it reads from."""

from __future__ import annotations

from typing import Any

import pytest

from kcli.consumer.consumer import Consumer
from kcli.model import TopicPartition
from kcli.settings import ConsumerSettings
from tests.consumer import log

FAKES: Any = log


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
