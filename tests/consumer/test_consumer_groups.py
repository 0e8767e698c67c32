"""KIP-848 members through the whole client, against the sandbox."""

from __future__ import annotations

import asyncio

import pytest

from kcli.client import Client
from kcli.errors import BrokerError, UnsupportedVersion
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.sandbox import Sandbox
from kcli.settings import ClientSettings, GroupSettings, ProducerSettings, parse_bootstrap

MODERN = GroupSettings(group="g", protocol="consumer")


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr("kcli.sandbox.answers.consumer_group_heartbeat.HEARTBEAT", 0.02)


async def polled(*consumers, until):
    async with asyncio.timeout(10):
        while not until():
            for one in consumers:
                await one.poll(0.01)


async def test_E31_a_pause_stays_with_what_stays_and_ends_with_what_is_revoked():
    async with Sandbox(topics={"t": 2}) as sandbox:
        settings = ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))
        async with Client(settings) as client, Client(settings) as other:
            async with client.consumer(group=MODERN) as first:
                await first.subscribe(["t"])
                await polled(first, until=lambda: len(first.assignment) == 2)
                first.pause(*first.assignment)
                async with other.consumer(group=MODERN) as second:
                    await second.subscribe(["t"])
                    await polled(first, second, until=lambda: len(first.assignment) == len(second.assignment) == 1)
                    stayed = first.assignment
                    assert first.paused == stayed
                    assert not second.paused
                await polled(first, until=lambda: len(first.assignment) == 2)
                assert first.paused == stayed
        assert sandbox.violations == []


async def test_E57_E62_the_broker_finds_topics_by_pattern_and_says_what_it_cannot_read():
    async with Sandbox(topics={"ta": 1, "tb": 1, "u": 1}) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            async with client.consumer(group=MODERN) as consumer:
                await consumer.subscribe("t.*")
                want = {TopicPartition("ta", 0), TopicPartition("tb", 0)}
                await polled(consumer, until=lambda: consumer.assignment == want)
                sandbox.topics.create("tc", 2)  # our metadata has not seen it
                await polled(consumer, until=lambda: len(consumer.assignment) == 4)
                await consumer.subscribe("t(")
                with pytest.raises(BrokerError, match=r"SubscribedTopicRegex `t\(` is not valid"):
                    await polled(consumer, until=lambda: False)


async def test_E59_a_broker_without_kip_848_is_told_by_name():
    async with Sandbox(topics={"t": 1}) as sandbox:
        sandbox.faults.wire.speak_only("ConsumerGroupHeartbeat", 9, 9)
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            async with client.consumer(group=MODERN) as consumer:
                await consumer.subscribe(["t"])
                with pytest.raises(UnsupportedVersion, match=r"KIP-848 .* group\.protocol=classic"):
                    await polled(consumer, until=lambda: False)


@pytest.mark.parametrize("settings", [GroupSettings(group="g"), MODERN], ids=["classic", "consumer"])
async def test_E37_what_is_committed_is_the_position_with_its_leader_epoch_and_any_text(settings):
    async with Sandbox(topics={"t": 1}, rebalance_delay=0) as sandbox:
        own = ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))
        async with Client(own) as client:
            async with client.producer(ProducerSettings(transactional_id="x")) as producer:
                async with producer.transaction():
                    await producer.send("t", b"a")
            at = TopicPartition("t", 0)
            async with client.consumer(group=settings) as consumer:
                await consumer.subscribe(["t"])
                await polled(consumer, until=lambda: consumer.assignment and consumer.position(at) == 2)
                await consumer.commit()
                assert await consumer.committed([at]) == {at: OffsetAndMetadata(2, 0, "")}, "past the marker"
                await consumer.commit({at: OffsetAndMetadata(1, 0, "half\0way: ½")})
                assert await consumer.committed([at]) == {at: OffsetAndMetadata(1, 0, "half\0way: ½")}
                with pytest.raises(BrokerError, match="OFFSET_METADATA_TOO_LARGE"):
                    await consumer.commit({at: OffsetAndMetadata(2, 0, "x" * 5000)})
