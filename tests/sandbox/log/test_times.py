"""Offsets by time where markers, stamped batches and deleted records come into it."""

from __future__ import annotations

from kcli.sandbox import Sandbox
from kcli.sandbox.log.log import EARLIEST, LATEST, MAX_TIMESTAMP
from tests.sandbox.client import Peer, batch
from tests.sandbox.transacting import Producer, begun, end_of, ready


async def test_the_newest_timestamp_is_that_of_a_marker_if_it_is_newer() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer)
        await ready(producer)
        await begun(producer, 3)
        assert await end_of(peer, MAX_TIMESTAMP, committed=False) == 2
        assert await end_of(peer, MAX_TIMESTAMP) == -1
        assert await producer.commit() == 0
        assert await end_of(peer, MAX_TIMESTAMP) == 3
        assert await end_of(peer, 5000) == 3


async def test_deleted_records_are_not_found_by_time() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        await peer.produce(batch(3, timestamp=9000))
        await peer.produce(batch(3, timestamp=1000))
        partition = sandbox.topics.partition("t", 0)
        sandbox.topics.delete_records(partition, 4)
        assert await end_of(peer, EARLIEST) == 4
        assert await end_of(peer, 0) == 4
        assert await end_of(peer, MAX_TIMESTAMP) == 5
        assert await end_of(peer, 9000) == -1


async def test_stamped_batches_are_found_by_the_brokers_clock() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        sandbox.topics.create("t", configs={"message.timestamp.type": "LogAppendTime"})
        stamped = (await peer.produce(batch(3))).log_append_time_ms
        assert await end_of(peer, 2000) == 0
        assert await end_of(peer, stamped) == 0
        assert await end_of(peer, stamped + 1) == -1
        assert await end_of(peer, MAX_TIMESTAMP) == 0


async def test_E17_the_stable_end_is_never_before_the_start() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer)
        await ready(producer)
        await begun(producer, 4)
        await peer.produce(batch(2))
        sandbox.topics.delete_records(sandbox.topics.partition("t", 0), 5)
        assert await end_of(peer, LATEST) == 5
        row = await peer.fetch(5, isolation=1)
        assert (row.log_start_offset, row.last_stable_offset, row.high_watermark) == (5, 5, 6)
        assert row.records == b""
        assert await producer.abort() == 0
        assert await end_of(peer, LATEST) == 7
