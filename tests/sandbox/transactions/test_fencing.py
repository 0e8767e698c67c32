"""Who may write under a transactional id, and who was fenced."""

from __future__ import annotations

import asyncio

import pytest

from kcli import codes
from kcli.sandbox import Sandbox
from kcli.sandbox.cluster.brokers import TRANSACTION
from tests.sandbox.client import Peer
from tests.sandbox.transacting import V1, V2, Producer, begun, end_of, read, ready

PROTOCOLS = pytest.mark.parametrize("protocol", [V1, V2], ids=["v1", "v2"])


@PROTOCOLS
async def test_D41_a_second_instance_fences_the_first_and_aborts_what_it_left_open(
    protocol: tuple[int, int, int],
) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        old, new = Producer(peer, protocol=protocol), Producer(peer, protocol=protocol)
        await ready(old)
        await begun(old, 2)
        assert await new.init() == codes.CONCURRENT_TRANSACTIONS.number  # as in Kafka: it is told to come again
        assert await new.init() == 0
        assert (new.id, new.epoch) == (old.id, 2)  # one to fence, one for itself (KAFKA-19367)
        assert await end_of(peer) == 3
        assert await old.send() == codes.INVALID_PRODUCER_EPOCH.number
        assert await old.add(0) == codes.PRODUCER_FENCED.number
        assert await old.add_group() == codes.PRODUCER_FENCED.number
        assert await old.commit() == codes.PRODUCER_FENCED.number
        assert await old.position(1) == codes.INVALID_PRODUCER_EPOCH.number
        await begun(new, 1)
        assert await new.commit() == 0
        assert await read(peer) == [3]


async def test_D41_old_versions_are_told_invalid_producer_epoch() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        old, new = Producer(peer, protocol=(9, 1, 2)), Producer(peer)
        await ready(old)
        await ready(new)
        assert await old.commit() == codes.INVALID_PRODUCER_EPOCH.number
        assert await old.init(version=3, resume=True) == codes.INVALID_PRODUCER_EPOCH.number
        assert await old.init(version=4, resume=True) == codes.PRODUCER_FENCED.number


async def test_D27_a_producer_that_says_who_it_was_gets_the_next_epoch_once() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer)
        await ready(producer)
        lost = Producer(peer)
        lost.id, lost.epoch = producer.id, producer.epoch
        assert await producer.init(resume=True) == 0
        assert producer.epoch == 1
        assert await lost.init(resume=True) == 0  # the same request again: its answer was lost
        assert lost.epoch == 1
        assert await producer.init(resume=True) == 0
        assert producer.epoch == 2
        lost.epoch = 0
        assert await lost.init(resume=True) == codes.PRODUCER_FENCED.number


async def test_D35_an_exhausted_epoch_is_followed_by_a_new_producer_id() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer)
        await ready(producer)
        sandbox.cluster.transactions.by_id["tx"].epoch = producer.epoch = 32766
        last = Producer(peer)
        last.id, last.epoch = producer.id, 32766
        assert await producer.init(resume=True) == 0
        assert (producer.id > last.id, producer.epoch) == (True, 0)
        assert await last.init(resume=True) == 0
        assert (last.id, last.epoch) == (producer.id, 0)


@PROTOCOLS
async def test_D35_whoever_comes_while_markers_are_written_comes_again(protocol: tuple[int, int, int]) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer, protocol=protocol)
        await ready(producer)
        await begun(producer)
        sandbox.cluster.transactions.completion.hold()
        assert await producer.commit() == 0
        assert await end_of(peer) == 0
        concurrent = codes.CONCURRENT_TRANSACTIONS.number
        assert await producer.add(0) == concurrent
        assert await producer.init() == concurrent
        if protocol is V2:
            assert await producer.send() == concurrent
        else:
            assert await producer.commit() == concurrent
            assert await producer.abort() == codes.INVALID_TXN_STATE.number
        sandbox.cluster.transactions.completion.release()
        assert await producer.add(0) == 0
        assert await end_of(peer) == 2


@PROTOCOLS
async def test_a_transaction_that_takes_too_long_is_aborted_and_its_producer_fenced(
    protocol: tuple[int, int, int],
) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer, Peer(sandbox) as reader:
        producer = Producer(peer, protocol=protocol)
        await ready(producer, timeout_ms=500)
        await begun(producer, 2)
        assert (await asyncio.wait_for(reader.fetch(0, isolation=1, wait_ms=60_000), 10)).last_stable_offset == 3
        assert await read(peer) == []
        late = codes.PRODUCER_FENCED if protocol is V1 else codes.INVALID_TXN_STATE  # as Kafka 4.3 says it
        assert await producer.commit() == late.number
        assert await producer.send() == codes.INVALID_PRODUCER_EPOCH.number
        assert (producer.epoch, await producer.init(resume=True), producer.epoch) == (0, 0, 1)
        await ready(producer, timeout_ms=60_000)
        await begun(producer)
        assert await producer.commit() == 0
        assert await read(peer) == [3]


async def test_a_partition_without_a_leader_keeps_the_decision_waiting() -> None:
    async with Sandbox(brokers=2, topics={"t": 2}) as sandbox, Peer(sandbox, 1) as one, Peer(sandbox, 2) as two:
        sandbox.brokers.moved[TRANSACTION]["tx"] = 1
        sandbox.faults.cluster.move_leader("t", 0, 2)
        sandbox.faults.cluster.move_leader("t", 1, 1)
        producer, other = Producer(one), Producer(two)
        await ready(producer)
        other.id, other.epoch = producer.id, producer.epoch
        await begun(other)
        await begun(producer, partition=1)
        await sandbox.faults.cluster.stop_broker(2, elect=False)
        assert await producer.commit() == 0
        assert sandbox.cluster.transactions.by_id["tx"].state == "PrepareCommit"
        assert sandbox.topics.partition("t", 1).log.stable == 2
        await sandbox.faults.cluster.start_broker(2)
        async with asyncio.timeout(10), Peer(sandbox, 2) as again:
            row = await again.fetch(0, isolation=1, wait_ms=1000)
            assert row.last_stable_offset == 2
        assert sandbox.cluster.transactions.by_id["tx"].state == "CompleteCommit"
