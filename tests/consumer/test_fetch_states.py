"""`fetch_states`: each reason for which a partition is not fetched, on a sandbox that brings it about."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import kcli
from kcli import codes
from kcli.consumer.fetch.states import STATES, FetchState
from kcli.sandbox import Sandbox, SandboxSettings
from kcli.sandbox.faults.planned import FOREVER

AT = kcli.TopicPartition("t", 0)
OTHER = kcli.TopicPartition("t", 1)
QUICK = kcli.ConsumerSettings(fetch_max_wait=0.02)


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(SandboxSettings(brokers=2)) as sandbox:
        async with kcli.Client(sandbox.bootstrap) as client:
            await client.admin.create_topics([kcli.NewTopic(topic="t", partitions=2, replication_factor=2)])
            async with client.producer() as producer:
                for partition in (0, 1):
                    await producer.send_and_wait("t", b"v" * 1000, partition=partition)
        yield sandbox


async def becomes(consumer: kcli.Consumer, state: str, at: kcli.TopicPartition = AT) -> FetchState:
    """The state once it is the one expected."""
    assert state in STATES
    seen: list[FetchState] = []
    try:
        async with asyncio.timeout(10):
            while True:
                now = consumer.fetch_states()[at]
                if now.state == state:
                    return now
                if not seen or seen[-1].state != now.state:
                    seen.append(now)
                await consumer.poll(0.01)
    except TimeoutError:
        raise AssertionError(f"{state} never came: {seen}") from None


def leader(sandbox: Sandbox, at: kcli.TopicPartition = AT) -> int:
    return sandbox.topics.partition(at.topic, at.partition).leader


async def test_fetching_paused_and_ended(sandbox: Sandbox) -> None:
    async with kcli.Client(sandbox.bootstrap) as client, client.consumer(settings=QUICK) as consumer:
        consumer.assign({AT: 0, OTHER: 0})
        fetching = await becomes(consumer, "fetching")
        assert fetching == ("fetching", leader(sandbox), 0.0, "")
        consumer.pause(AT)
        assert consumer.fetch_states()[AT][2:] == (0.0, "")
        assert consumer.fetch_states()[AT].state == "paused"
        assert consumer.fetch_states()[OTHER].state != "paused"
        consumer.resume(AT)
        consumer.pause("t")
        assert consumer.fetch_states()[AT].reason == "its topic is paused"
        consumer.resume("t")
        consumer.stop_at({AT: 1})
        await becomes(consumer, "ended")
        await becomes(consumer, "fetching", OTHER)
    assert consumer.fetch_states() == {}


async def test_full_until_it_is_polled(sandbox: Sandbox) -> None:
    settings = QUICK.replace(partition_max_bytes=500)
    async with kcli.Client(sandbox.bootstrap) as client, client.consumer(settings=settings) as consumer:
        consumer.assign({AT: 0})
        async with asyncio.timeout(10):
            while consumer.fetch_states()[AT].state != "full":  # noqa: ASYNC110 - a state tells of no change
                await asyncio.sleep(0.01)
        assert consumer.fetch_states()[AT].reason == f"{consumer.metrics.buffered_bytes} bytes wait for a poll"
        assert await consumer.poll(1.0)
        await becomes(consumer, "fetching")


async def test_no_leader_and_the_last_error(sandbox: Sandbox) -> None:
    async with kcli.Client(sandbox.bootstrap) as client, client.consumer(settings=QUICK) as consumer:
        consumer.assign({AT: 0})
        await becomes(consumer, "fetching")
        first = leader(sandbox)
        sandbox.faults.cluster.no_leader("t", 0)
        state = await becomes(consumer, "no leader")
        assert state.node_id == -1
        assert "t partition 0" in state.reason
        sandbox.faults.cluster.move_leader("t", 0, first)
        await becomes(consumer, "fetching")


async def test_backing_off_has_the_reason_and_the_time(sandbox: Sandbox) -> None:
    async with kcli.Client(sandbox.bootstrap) as client, client.consumer(settings=QUICK) as consumer:
        consumer.assign({AT: 0})
        await becomes(consumer, "fetching")
        sandbox.faults.error("Fetch", codes.KAFKA_STORAGE_ERROR, times=FOREVER)
        state = await becomes(consumer, "backing off")
        assert "KAFKA_STORAGE_ERROR" in state.reason
        async with asyncio.timeout(10):
            while not 0 < consumer.fetch_states()[AT].seconds <= 1.5:
                await consumer.poll(0.01)
        sandbox.faults.clear()
        await becomes(consumer, "fetching")


async def test_resolving_while_the_start_is_looked_up(sandbox: Sandbox) -> None:
    sandbox.faults.wire.delay("ListOffsets", 0.5)
    async with kcli.Client(sandbox.bootstrap) as client, client.consumer(settings=QUICK) as consumer:
        consumer.assign({AT: kcli.Bound("earliest")})
        await becomes(consumer, "resolving")
        await becomes(consumer, "fetching")


async def test_validating_while_a_new_leader_is_asked(sandbox: Sandbox) -> None:
    async with kcli.Client(sandbox.bootstrap) as client, client.consumer(settings=QUICK) as consumer:
        consumer.assign({AT: 0})
        while not await consumer.poll(1.0):
            pass
        sandbox.faults.wire.delay("OffsetForLeaderEpoch", 1.0)
        sandbox.faults.cluster.move_leader("t", 0, 3 - leader(sandbox))
        await becomes(consumer, "validating")
        assert (await becomes(consumer, "fetching")).node_id == leader(sandbox)


async def test_throttled_for_more_than_a_minute(sandbox: Sandbox) -> None:
    async with kcli.Client(sandbox.bootstrap) as client, client.consumer(settings=QUICK) as consumer:
        consumer.assign({AT: 0})
        await becomes(consumer, "fetching")
        sandbox.faults.wire.throttle("Fetch", 90_000)
        state = await becomes(consumer, "throttled")
        assert state.reason == f"broker {leader(sandbox)} requested a pause of 90 s"


async def test_failed_until_a_seek(sandbox: Sandbox) -> None:
    settings = QUICK.replace(reset="none")
    async with kcli.Client(sandbox.bootstrap) as client, client.consumer(settings=settings) as consumer:
        consumer.assign({AT: 77})
        state = await becomes(consumer, "failed")
        assert "offset 77 is out of range" in state.reason
        consumer.seek(AT, 0)
        await becomes(consumer, "fetching")


async def test_rebalancing_while_a_callback_runs(sandbox: Sandbox) -> None:
    seen: list[FetchState] = []

    async def look(_: object) -> None:
        seen.extend(consumer.fetch_states().values())

    async with kcli.Client(sandbox.bootstrap) as client:
        async with client.consumer(settings=QUICK, group=kcli.GroupSettings(group="g")) as consumer:
            await consumer.subscribe(["t"], on_assigned=look)
            while not seen:
                await consumer.poll(0.1)
            await becomes(consumer, "fetching")
    assert {(one.state, one.reason) for one in seen} == {("rebalancing", "on_assigned has not returned")}


def test_the_page_has_every_state() -> None:
    page = (Path(__file__).parents[2] / "docs/library/consuming.md").read_text()
    assert [state for state in STATES if f"| `{state}` |" not in page] == []
