"""Requests of a look grow with coordinators and leaders, never with groups x partitions; memory does, by little."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from typing import Any

import pytest

from kcli.admin.groups.rows import Described
from kcli.broker.connection.connection import Connection
from kcli.client import Client
from kcli.copying.positions import Positions
from kcli.lag.figures import Sample
from kcli.lag.history import History
from kcli.lag.snapshot import GroupSnapshot, Snapshot
from kcli.lag.watch import Watch
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.sandbox.sandbox import Sandbox
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap

BROKERS, PARTITIONS = 3, 20
MOST = 1600
"""Bytes of a partition of a group in a history: its sample and figures, its progress, and what its timeline knows."""


async def requests(groups: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What one look at so many groups asks, by API."""
    asked: Counter[str] = Counter()
    async with Sandbox(brokers=BROKERS, topics={"t": PARTITIONS}) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            async with client.producer(ProducerSettings()) as producer:
                for partition in range(PARTITIONS):
                    await producer.send("t", b"v", partition=partition)
            everywhere = {TopicPartition("t", partition): OffsetAndMetadata(0) for partition in range(PARTITIONS)}
            for number in range(groups):
                await Positions(client.cluster, f"g{number}").write(everywhere)
            watch = Watch(client.cluster, [], History())
            await watch.refresh()
            original = Connection.ask

            async def counted(self: Connection, request: Any, *words: Any, **named: Any) -> Any:
                asked[type(request).__name__.removesuffix("Request")] += 1
                return await original(self, request, *words, **named)

            with monkeypatch.context() as patch:
                patch.setattr(Connection, "ask", counted)
                look = await watch.refresh()
            assert sum(len(group.partitions) for group in look.groups) == groups * PARTITIONS
            assert all(one.lag.lag == 1 for group in look.groups for one in group.partitions)
    return asked


@pytest.mark.slow
async def test_a_look_at_twenty_times_as_many_groups_asks_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = await requests(10, monkeypatch), await requests(200, monkeypatch)
    for asked in (few, many):
        assert asked.pop("Metadata", 0) <= 1  # beside the look, which does not wait for it
    assert many == few
    assert few == {"ListGroups": BROKERS, "DescribeGroups": BROKERS, "OffsetFetch": BROKERS, "ListOffsets": 3 * BROKERS}


@pytest.mark.slow
def test_a_partition_of_an_idle_group_takes_little_memory() -> None:
    groups, partitions = 50, 100

    def shot() -> Snapshot:
        samples = (
            (f"g{n}", [Sample(group=f"g{n}", topic="t", partition=at, committed=1, end=9) for at in range(partitions)])
            for n in range(groups)
        )
        return Snapshot(groups=[GroupSnapshot(described=Described(group=name), samples=some) for name, some in samples])

    tracemalloc.start()
    try:
        history = History()
        for time in (0.0, 5.0, 10.0):
            history.add(time, shot())
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held / (groups * partitions) < MOST
    assert len(history.lags("g0", TopicPartition("t", 0), [5.0])) == 1
