"""Followers that are read from, and histories that part (C9, C12, E25); buffers with some partitions paused (E32)."""

from __future__ import annotations

import asyncio

import pytest

from kcli import codes
from kcli.consumer.consumer import Consumer
from kcli.consumer.fetch.positions import LogTruncated
from kcli.errors import BrokerError
from kcli.model import TopicPartition
from kcli.proto.messages.fetch import FetchRequest
from kcli.proto.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from tests.consumer.log import FakeCluster, Log, until
from tests.consumer.test_consumer import QUICK, A, everything


def pointing(cluster, to):
    """The leader sends its readers to the node `to()`, if that says one."""

    async def point(request):
        if not isinstance(request, FetchRequest):
            return None
        answer = await cluster.brokers[0].fetch(request)
        replica = to()
        if replica is not None:
            for topic in answer.responses:
                for row in topic.partitions:
                    row.preferred_read_replica, row.records = replica, b""
        return answer

    cluster.brokers[0].hook = point


async def test_C12_a_replica_that_nobody_knows_strands_nobody():
    cluster = FakeCluster({A: Log().fill(20)})
    told = []

    def to():
        if told:
            return None
        return 99

    async def node(node_id):
        if node_id not in cluster.brokers:
            told.append(node_id)
            raise BrokerError(codes.BROKER_NOT_AVAILABLE, f"broker {node_id}")
        return cluster.brokers[node_id]

    pointing(cluster, to)
    cluster.node = node
    async with Consumer(cluster, QUICK, rack="r1") as consumer:
        consumer.assign({A: 0})
        consumer.stop_at({A: 20})
        async with asyncio.timeout(10):
            assert await everything(consumer) == {A: list(range(20))}
    assert told == [99]


async def test_C12_a_follower_is_left_when_the_leader_epoch_changes():
    log = Log().fill(20)
    cluster = FakeCluster({A: log}, brokers=2)
    pointed = []

    def to():
        if pointed:
            return None
        pointed.append(1)
        return 1

    pointing(cluster, to)
    async with Consumer(cluster, QUICK, rack="r1") as consumer:
        consumer.assign({A: 0})
        while consumer.position(A) != 20:
            await consumer.poll(1)
        assert cluster.brokers[1].fetches
        before = len(cluster.brokers[0].fetches)
        cluster.epochs[A] = 1
        await until(lambda: len(cluster.brokers[0].fetches) > before)
        followed = len(wanting(cluster.brokers[1]))
        log.fill(10)
        while consumer.position(A) != 30:
            await consumer.poll(1)
        assert len(wanting(cluster.brokers[1])) == followed


def wanting(broker):
    """The fetches that ask for a partition."""
    return [one for one in broker.fetches if one.topics]


async def test_C12_a_follower_is_read_from_no_longer_than_metadata_may_be_old():
    log = Log().fill(20)
    cluster = FakeCluster({A: log}, brokers=2)
    pointing(cluster, lambda: 1)
    async with Consumer(cluster, QUICK, rack="r1", metadata_max_age=0.1) as consumer, asyncio.timeout(5):
        consumer.assign({A: 0})
        while consumer.position(A) != 20:
            await consumer.poll(1)
        asked = len(cluster.brokers[0].fetches)
        await until(lambda: len(cluster.brokers[0].fetches) > asked + 1)  # asked again whom to read from, twice


@pytest.mark.parametrize("reset", ["earliest", "latest"])
async def test_C9_E25_an_epoch_that_the_leader_does_not_know_is_for_the_policy(reset):
    log = Log().fill(20)
    cluster = FakeCluster({A: log})
    said = []
    async with Consumer(cluster, QUICK.replace(reset=reset)) as consumer, asyncio.timeout(5):
        consumer.on_notice = said.append
        consumer.assign({A: 0})
        while consumer.position(A) != 20:
            await consumer.poll(1)
        log.epoch_ends[0] = (-1, -1)
        gate = no_fetches(cluster)
        cluster.epochs[A] = 1
        await until(lambda: said)
        assert f"at the {reset}" in said[0]
        await until(lambda: consumer.position(A) == {"earliest": 0, "latest": 20}[reset])
        log.epoch_ends.clear()
        log.fill(10)
        gate.set()
        first = []
        while not first:
            first = [record.offset for one in await consumer.poll(1) for each in one.batches for record in each]
        assert first[0] == {"earliest": 0, "latest": 20}[reset]


def no_fetches(cluster):
    """Fetches wait until the event is set: only OffsetForLeaderEpoch is to tell of the cut."""
    gate = asyncio.Event()

    async def hook(request):
        if isinstance(request, FetchRequest):
            await gate.wait()

    cluster.brokers[0].hook = hook
    return gate


async def test_C9_E25_an_epoch_that_the_leader_does_not_know_is_an_error_without_a_policy():
    log = Log().fill(20)
    cluster = FakeCluster({A: log})
    async with Consumer(cluster, QUICK.replace(reset="none")) as consumer, asyncio.timeout(5):
        consumer.assign({A: 0})
        while consumer.position(A) != 20:
            await consumer.poll(1)
        log.epoch_ends[0] = (-1, -1)
        no_fetches(cluster)
        cluster.epochs[A] = 1
        (fetched,) = await consumer.poll(5)
        assert isinstance(fetched.error, LogTruncated)
        assert consumer.position(A) == 20


async def test_C9_E25_a_leader_that_has_all_that_was_read_changes_nothing():
    log = Log().fill(20)
    cluster = FakeCluster({A: log})
    said = []
    async with Consumer(cluster, QUICK) as consumer, asyncio.timeout(5):
        consumer.on_notice = said.append
        consumer.assign({A: 0})
        while consumer.position(A) != 20:
            await consumer.poll(1)
        cluster.epochs[A] = 1
        await until(lambda: any(isinstance(one, OffsetForLeaderEpochRequest) for one in cluster.brokers[0].asked))
        log.fill(10)
        consumer.stop_at({A: 30})
        assert await everything(consumer) == {A: list(range(20, 30))}
        assert said == []


async def test_E32_with_half_the_partitions_paused_the_others_are_handed_out_and_the_count_is_right():
    places = [TopicPartition("t", n) for n in range(4)]
    cluster = FakeCluster({at: Log().fill(400) for at in places})
    paused, others = places[:2], places[2:]
    async with Consumer(cluster, QUICK.replace(partition_max_bytes=1000)) as consumer, asyncio.timeout(5):
        consumer.assign(dict.fromkeys(places, 0))
        cursors = consumer._reader.cursors
        await until(lambda: all(cursors[at].chunks for at in places))
        consumer.pause(*paused)
        kept = {at: cursors[at].buffered for at in paused}
        seen = dict.fromkeys(places, 0)
        while sum(seen.values()) < 800:
            for fetched in await consumer.poll(1):
                seen[TopicPartition(fetched.topic, fetched.partition)] += sum(one.visible for one in fetched.batches)
        assert seen == dict.fromkeys(paused, 0) | dict.fromkeys(others, 400)
        assert {at: cursors[at].buffered for at in paused} == kept
        assert [cursors[at].buffered for at in others] == [0, 0]
        consumer.resume(*paused)
        consumer.stop_at(dict.fromkeys(places, 400))
        assert await everything(consumer) == {at: list(range(400)) for at in paused}
        assert [cursor.buffered for cursor in cursors.values()] == [0, 0, 0, 0]
