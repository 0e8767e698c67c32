"""Topics with figures: how often the cluster is asked, and which answers a rate is of."""

from __future__ import annotations

import time
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from kcli.admin.topics import stats
from kcli.admin.topics.stats import BACK, TopicStatsReader
from kcli.admin.topics.topics import Partition, Topic, described
from kcli.asking.offsets import list_offsets
from kcli.client import Client
from kcli.model import TopicPartition
from kcli.proto.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kcli.sandbox.sandbox import Sandbox
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap


async def test_the_metadata_of_all_topics_is_asked_for_once_a_refresh_and_names_the_leaders() -> None:
    names = {f"topic-{number}": 3 for number in range(20)}
    async with (
        Sandbox(topics=names) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
    ):
        await client.cluster.nodes()
        reader = TopicStatsReader()
        for _ in range(2):
            before = sandbox.seen[MetadataRequest.api_key]
            rows = await reader.read(client.cluster)
            assert sandbox.seen[MetadataRequest.api_key] == before + 1
        assert [row.topic.topic for row in rows] == sorted(names)
        assert {(row.records, row.rate, row.problem) for row in rows} == {(0, 0.0, "")}


async def test_rates_of_the_minute_before_an_answer_are_of_its_ends_also_when_a_newer_one_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with (
        Sandbox(topics={"orders": 1, "payments": 1}) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
        client.producer(ProducerSettings()) as producer,
    ):
        reader = TopicStatsReader()

        async def meanwhile(newer: list[str], cluster: Any, wanted: Any) -> Any:
            """The answer, while another refresh ends, which is of the topics `newer`."""
            answers = await list_offsets(cluster, wanted)
            monkeypatch.setattr(stats, "list_offsets", list_offsets)
            await producer.send("orders", b"later")
            await producer.flush()
            await reader.read(client.cluster, newer)
            return answers

        for _ in range(30):
            await producer.send("orders", b"x")
        await producer.flush()
        for newer in (["payments"], ["orders"]):
            rows = await reader.read(client.cluster)
            written = rows[0].records
            monkeypatch.setattr(stats, "list_offsets", partial(meanwhile, newer))
            rates = await reader.rates_before(client.cluster, [row.topic for row in rows])
            assert rates["orders"] == (written or 0) / BACK[0]


def test_a_topic_has_no_rate_while_one_of_its_partitions_has_none() -> None:
    topic = Topic(topic="t", partitions=[Partition(topic="t", partition=n, leader=1) for n in range(2)])
    both = {TopicPartition("t", n): 10 for n in range(2)}
    one = {TopicPartition("t", 0): 10}
    for before, now, rate in ((both, both, 0.0), (one, both, None), (both, one, None), ({}, both, None)):
        reader = TopicStatsReader()
        reader._keep(before)
        assert reader._row(topic, now, {}, None, 5.0).rate == rate


async def test_even_rates_are_of_seconds_however_often_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(time=time.time)
    monkeypatch.setattr(stats, "time", clock)
    async with (
        Sandbox(topics={"orders": 2}) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
        client.producer(ProducerSettings()) as producer,
    ):
        reader = TopicStatsReader(even=10.0)
        rates = []
        for second in range(30):
            if second % 4 == 3:  # in bursts: five a second
                for number in range(20):
                    await producer.send("orders", b"x", partition=number % 2)
                await producer.flush()
            clock.monotonic = partial(float, 100 + second)
            rates.append((await reader.read(client.cluster))[0].rate)
        assert rates[:4] == [None] * 4, "of less than four seconds there is none"
        assert all(rate == pytest.approx(5.0, abs=2.0) for rate in rates[10:])
        reader._summed.clear()  # an answer in which a partition has no end
        del reader._ends[TopicPartition("orders", 1)]
        assert (await reader.read(client.cluster))[0].rate is None


async def test_what_did_not_change_is_the_same_value_after_a_refresh() -> None:
    """Else values that stay are among those of each answer, whose memory is not given back then."""
    async with (
        Sandbox(topics={"orders": 2, "payments": 2}) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
        client.producer(ProducerSettings()) as producer,
    ):
        reader = TopicStatsReader()

        async def look() -> tuple[list[Topic], list[TopicPartition], list[list[int]]]:
            rows = await reader.read(client.cluster)
            topology: Any = client.cluster
            known = [part for topic in topology.topology.topics.values() for part in topic.partitions.values()]
            lists = [some for part in known for some in (part.replicas, part.isr)]
            return [row.topic for row in rows], list(reader._ends), lists

        before = await look()
        await producer.send("orders", b"x", partition=1)
        await producer.flush()
        after = await look()
        for n in range(3):
            then: list[Any] = list(before[n])
            now: list[Any] = list(after[n])
            assert list(map(id, then)) == list(map(id, now))
        assert reader._ends[TopicPartition("orders", 1)] == 1


def topic_row(topic_id: bytes = b"a" * 16, internal: bool = False, parts: int = 2, **changes: Any) -> MetadataResponse:
    """Topic `t`; `changes` are of its second partition."""
    given: dict[str, Any] = {"leader_id": 1, "leader_epoch": 3, "replica_nodes": [1, 2], "isr_nodes": [1, 2]}
    partitions = [MetadataResponsePartition(partition_index=n, **given) for n in range(parts)]
    for name, value in changes.items():
        setattr(partitions[-1], name, value)
    topic = MetadataResponseTopic(name="t", topic_id=topic_id, is_internal=internal, partitions=partitions[::-1])
    return MetadataResponse(topics=[topic])


@pytest.mark.parametrize(
    "changes",
    [
        {"topic_id": b"b" * 16},
        {"internal": True},
        {"parts": 3},
        {"leader_id": 2},
        {"leader_epoch": 4},
        {"replica_nodes": [1, 3]},
        {"isr_nodes": [1]},
        {"offline_replicas": [2]},
    ],
)
def test_a_topic_of_which_anything_changed_is_another_value(changes: dict[str, Any]) -> None:
    known = described(topic_row(), internal=True)
    assert described(topic_row(), internal=True, known=known)["t"] is known["t"]
    changed = described(topic_row(**changes), internal=True, known=known)
    assert changed == described(topic_row(**changes), internal=True)
    assert changed != known
