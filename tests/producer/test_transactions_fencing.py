"""What belongs to a transaction, who may end it, and how it ends with its producer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kcli import codes
from kcli.model import GroupMetadata, OffsetAndMetadata, TopicPartition
from kcli.producer.transactions.state import AbortRequired, Fenced, State
from tests.producer.transacting import Order, TransactionWorld, transacting
from tests.producer.world import balanced, play

POSITIONS = {TopicPartition("in", 0): OffsetAndMetadata(7, 1)}
V1_V2 = pytest.mark.parametrize("level", [1, 2])


def state(producer: Any) -> State:
    found: State = producer._engine.transactions.standing.state
    return found


async def once_more(world: TransactionWorld, producer: Any) -> None:
    """The producer is as good as new."""
    async with producer.transaction():
        await producer.send("t", b"after", partition=0)
    assert world.committed()[-1] == b"after"


@V1_V2
def test_D39_when_every_produce_failed_the_partition_is_aborted_explicitly(level: int) -> None:
    async def scene() -> None:
        world = TransactionWorld(level=level)
        async with transacting(world) as producer:
            await producer.begin()
            world.log().script.append(codes.TOPIC_AUTHORIZATION_FAILED)
            await producer.send("t", b"v")
            with pytest.raises(AbortRequired):
                await producer.commit()
            await producer.abort()
            assert [one.committed for one, _ in world.asked_for("EndTxn")] == [False]
            await once_more(world, producer)

    play(scene())


def test_D39_when_not_even_AddPartitions_worked_there_is_nothing_to_abort() -> None:
    async def scene() -> None:
        world = TransactionWorld(level=1)
        world.orders["AddPartitionsToTxn"].append(Order(codes.TOPIC_AUTHORIZATION_FAILED))
        async with transacting(world) as producer:
            with pytest.raises(AbortRequired):
                async with producer.transaction():
                    await producer.send("t", b"v")
            assert world.kinds() == ["InitProducerId", "AddPartitionsToTxn"]
            await once_more(world, producer)
        assert producer.counts.failed == 1

    play(scene())


def test_D39_an_abort_while_partitions_are_announced_opens_no_other_transaction() -> None:
    async def scene() -> None:
        world = TransactionWorld(level=1)
        world.orders["AddPartitionsToTxn"] += [Order(codes.CONCURRENT_TRANSACTIONS)] * 1000
        async with transacting(world) as producer:
            await producer.begin()
            await producer.send("t", b"v")
            await asyncio.sleep(0.2)
            await producer.abort()
            asked = world.kinds().count("AddPartitionsToTxn")
            await asyncio.sleep(5)
            assert world.kinds().count("AddPartitionsToTxn") == asked
            world.orders["AddPartitionsToTxn"].clear()
            await once_more(world, producer)
        assert world.books.unregistered == 0

    play(scene())


@V1_V2
def test_D39_an_abort_waits_for_a_produce_on_the_wire_whose_batch_was_given_up(level: int) -> None:
    async def scene() -> None:
        world = TransactionWorld(level=level)

        async def slow() -> None:
            world.broker().before = None
            await asyncio.sleep(8)

        world.broker().before = slow
        async with transacting(world, delivery_timeout=6.0, request_timeout=5.0) as producer:
            await producer.begin()
            await producer.send("t", b"v")
            with pytest.raises(AbortRequired, match="not acknowledged within 6 s"):
                await producer.commit()
            await producer.abort()
            assert world.log().records == [b"v"]  # it arrived, and before EndTxn
            await once_more(world, producer)
        assert world.committed() == [b"after"]
        assert world.books.unregistered == 0
        assert producer.counts.unknown == 1

    play(scene())


@V1_V2
def test_D40_positions_carry_the_group_and_a_stale_generation_refuses_the_commit(level: int) -> None:
    async def scene() -> None:
        world = TransactionWorld(level=level)
        world.generations["g"] = 4
        async with transacting(world) as producer:
            async with producer.transaction():
                await producer.send_offsets(POSITIONS, GroupMetadata("g", 4, "m-1", "i-1"))
            request, _ = world.asked_for("TxnOffsetCommit")[0]
            assert (request.generation_id_or_member_epoch, request.member_id, request.group_instance_id) == (
                4,
                "m-1",
                "i-1",
            )
            assert request.topics[0].partitions[0].committed_leader_epoch == 1
            assert world.offsets == {("g", TopicPartition("in", 0)): 7}
            await producer.begin()
            await producer.send("t", b"v")
            later = {TopicPartition("in", 0): OffsetAndMetadata(9)}
            with pytest.raises(AbortRequired, match="ILLEGAL_GENERATION"):
                await producer.send_offsets(later, GroupMetadata("g", 3, "m-0"))
            with pytest.raises(AbortRequired):
                await producer.commit()
            await producer.abort()
            await once_more(world, producer)
        assert world.offsets == {("g", TopicPartition("in", 0)): 7}
        assert b"v" not in world.committed()

    play(scene())


@V1_V2
def test_D40_C15_the_groups_coordinator_moves_while_positions_are_sent(level: int) -> None:
    async def scene() -> None:
        world = TransactionWorld(level=level)
        async with transacting(world) as producer:
            await producer.begin()
            await producer.send_offsets(POSITIONS, GroupMetadata("g"))
            world.coordinates = {"Transaction": 2, "Group": 0}
            await producer.send_offsets({TopicPartition("in", 1): OffsetAndMetadata(8)}, GroupMetadata("g"))
            await producer.commit()
        assert world.offsets == {("g", TopicPartition("in", 0)): 7, ("g", TopicPartition("in", 1)): 8}

    play(scene())


@V1_V2
@pytest.mark.parametrize("call", ["commit", "abort", "send_offsets", "produce"])
def test_D41_a_second_producer_with_the_same_id_fences_the_first(level: int, call: str) -> None:
    async def scene() -> None:
        world = TransactionWorld(level=level)
        async with transacting(world) as first, transacting(world) as second:
            await first.begin()
            await first.send("t", b"first")
            await first.flush()
            async with second.transaction():
                await second.send("t", b"second")
            if call == "produce":
                await first.send("t", b"late")
                with pytest.raises(AbortRequired):  # on Produce the old epoch is abortable ...
                    await first.commit()
            arguments = (POSITIONS, GroupMetadata("g")) if call == "send_offsets" else ()
            with pytest.raises(Fenced):  # ... and only the coordinator knows better
                await getattr(first, "abort" if call == "produce" else call)(*arguments)
            assert state(first) is State.FATAL_ERROR
            for again in (first.begin(), first.send("t", b"v"), first.abort()):
                with pytest.raises(Fenced):
                    await again
        assert world.committed() == [b"second"]

    play(scene())


@V1_V2
def test_D41_D27_an_old_epoch_on_produce_is_abortable_and_the_next_transaction_has_a_new_one(level: int) -> None:
    async def scene() -> None:
        world = TransactionWorld(level=level)
        async with transacting(world) as producer:
            await once_more(world, producer)
            world.log().script.append(codes.INVALID_PRODUCER_EPOCH)
            with pytest.raises(AbortRequired):
                async with producer.transaction():
                    await producer.send("t", b"v", partition=0)
            await once_more(world, producer)
            last = world.log().seen[-1]
            assert (last.base_sequence, last.producer_epoch) == (0, level)  # v1 asked for it, v2 had two ends
        assert world.committed() == [b"after", b"after"]

    play(scene())


@V1_V2
def test_D44_closing_aborts_an_open_transaction(level: int) -> None:
    async def scene() -> None:
        world = TransactionWorld(level=level)
        async with transacting(world) as producer:
            await producer.begin()
            await producer.send("t", b"v")
            await producer.flush()
        assert [one.committed for one, _ in world.asked_for("EndTxn")] == [False]
        dead = TransactionWorld(level=level)
        producer = transacting(dead)
        await producer.start()
        await producer.begin()
        await producer.send("t", b"v")
        await producer.flush()
        for broker in dead.nodes_by_id.values():
            broker.up = False
        begun = asyncio.get_running_loop().time()
        await producer.close(2)
        assert asyncio.get_running_loop().time() - begun == pytest.approx(2, abs=0.1)
        balanced(producer)

    play(scene())


@V1_V2
def test_D42_D38_an_abort_forgets_what_was_not_sent_and_the_counts_add_up(level: int) -> None:
    async def scene() -> None:
        world = TransactionWorld({"t": 2}, level=level)
        async with transacting(world, linger=3600.0, delivery_timeout=7200.0) as producer:
            await producer.begin()
            await producer.send("t", b"stored", partition=0)
            await producer.flush()
            unsent = await producer.send("t", b"not sent", partition=1)
            await producer.abort()
            assert isinstance(unsent.exception(), AbortRequired)
            counts = producer.counts
            assert (counts.accepted, counts.acked, counts.failed, counts.unknown) == (2, 1, 1, 0)
        assert (world.log(0).records, world.committed(0), world.log(1).records) == ([b"stored"], [], [])

    play(scene())
