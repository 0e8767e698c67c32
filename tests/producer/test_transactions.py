"""Transactions when all is well or soon will be: who is asked what, in which order and at which version."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kcli import codes
from kcli.errors import BrokerError, DeadlineExceeded
from kcli.model import GroupMetadata, OffsetAndMetadata, TopicPartition
from kcli.producer.transactions.transaction import LOOK_AGAIN
from tests.producer.books import LAST_EPOCH
from tests.producer.transacting import ANSWER_LOST, LOST, Order, TransactionWorld, transacting
from tests.producer.world import balanced, play

POSITIONS = {TopicPartition("in", 0): OffsetAndMetadata(7, 1)}


async def one_of_each(producer: Any) -> None:
    """Every way of sending there is."""
    await producer.send("t", b"a", partition=0)
    await producer.send_lines("t", b"b\nc\n", 0, 4, partition=0)
    await producer.send_records("t", [(0, None, None, b"d", ())])


@pytest.mark.parametrize("level", [1, 2])
def test_A1_20_every_batch_is_marked_and_every_produce_names_the_transactional_id(level: int) -> None:
    async def scene() -> None:
        world = TransactionWorld(level=level)
        async with transacting(world) as producer:
            async with producer.transaction():
                await one_of_each(producer)
        assert world.committed() == [b"a", b"b", b"c", b"d"]
        assert [request.transactional_id for request, _ in world.asked_for("Produce")] == ["x"]
        assert [batch.attributes & 16 for batch in world.log().seen] == [16]
        balanced(producer)

    play(scene())


def test_D35_concurrent_transactions_and_a_coordinator_that_moves_are_waited_out() -> None:
    async def scene() -> None:
        world = TransactionWorld()
        world.orders["InitProducerId"].extend([Order(codes.CONCURRENT_TRANSACTIONS)] * 5)
        world.orders["InitProducerId"] += [Order(codes.COORDINATOR_LOAD_IN_PROGRESS), LOST]
        world.cached_coordinators["Transaction"] = 2  # it is node 0 by now
        async with transacting(world) as producer:
            async with producer.transaction():
                await producer.send("t", b"v")
        assert world.kinds().count("InitProducerId") == 1 + 5 + 2 + 1
        assert world.lookups == 2  # after NOT_COORDINATOR, and after the connection that broke
        assert world.committed() == [b"v"]

    play(scene())


def test_D35_after_a_timeout_of_init_begin_may_be_called_again() -> None:
    async def scene() -> None:
        world = TransactionWorld()
        world.nodes_by_id[0].up = False
        async with transacting(world) as producer:
            with pytest.raises(DeadlineExceeded):
                await producer.begin()
            world.nodes_by_id[0].up = True
            async with producer.transaction():
                await producer.send("t", b"v", partition=0)
        assert world.committed() == [b"v"]

    play(scene())


def test_D35_init_ends_what_an_earlier_producer_left_open() -> None:
    async def scene() -> None:
        world = TransactionWorld()
        async with transacting(world) as first, transacting(world) as second:
            await first.begin()
            await first.send("t", b"left open")
            await first.flush()
            async with second.transaction():
                await second.send("t", b"v")
        assert world.committed() == [b"v"]
        assert world.log().records == [b"left open", b"v"]

    play(scene())


@pytest.mark.parametrize(
    "code", [codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, codes.INVALID_TRANSACTION_TIMEOUT], ids=lambda code: code.name
)
def test_D35_an_init_that_is_refused_is_final(code: codes.ErrorCode) -> None:
    async def scene() -> None:
        world = TransactionWorld()
        world.orders["InitProducerId"].append(Order(code))
        async with transacting(world) as producer:
            for _ in range(2):
                with pytest.raises(BrokerError) as raised:
                    await producer.begin()
                assert raised.value.code is code
        assert world.kinds() == ["InitProducerId"]

    play(scene())


def test_D36_the_order_on_the_wire_of_protocol_v1() -> None:
    async def scene() -> None:
        world = TransactionWorld({"t": 2}, level=1)
        async with transacting(world) as producer:
            async with producer.transaction():
                await producer.send("t", b"a", partition=0)
                await producer.flush()
                await producer.send("t", b"b", partition=0)  # announced already
                await producer.send("t", b"c", partition=1)
                await producer.flush()
                await producer.send_offsets(POSITIONS, GroupMetadata("g"))
            first = world.asked_for("EndTxn")
            async with producer.transaction():
                await producer.send("t", b"d", partition=0)
        kinds = world.kinds()
        assert kinds[:3] == ["InitProducerId", "AddPartitionsToTxn", "Produce"]
        assert sorted(kinds[3:6]) == ["AddPartitionsToTxn", "Produce", "Produce"]
        assert kinds[6:9] == ["AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn"]
        assert kinds[9:] == ["AddPartitionsToTxn", "Produce", "EndTxn"]  # each transaction announces anew
        assert [cap for _, cap in world.asked_for("AddPartitionsToTxn")] == [3, 3, 3]
        assert all(cap == 11 for _, cap in world.asked_for("Produce"))
        assert [cap for _, cap in world.asked_for("TxnOffsetCommit")] == [4]
        assert [cap for _, cap in first] == [4]
        assert world.books.unregistered == 0
        assert world.log().seen[-1].base_sequence == 2  # v1 keeps the epoch, and the sequences go on
        assert world.offsets == {("g", TopicPartition("in", 0)): 7}
        assert (world.committed(0), world.committed(1)) == ([b"a", b"b", b"d"], [b"c"])

    play(scene())


def test_D36_many_new_partitions_are_announced_together() -> None:
    async def scene() -> None:
        world = TransactionWorld({"t": 20}, level=1)
        world.orders["AddPartitionsToTxn"] += [ANSWER_LOST, Order(codes.CONCURRENT_TRANSACTIONS)]
        async with transacting(world) as producer:
            async with producer.transaction():
                for partition in range(20):
                    await producer.send("t", b"v", partition=partition)
        assert world.kinds().count("AddPartitionsToTxn") <= 4
        assert all(world.committed(partition) == [b"v"] for partition in range(20))

    play(scene())


def test_D37_protocol_v2_adds_nothing_and_takes_the_next_epoch_from_the_answer() -> None:
    async def scene() -> None:
        world = TransactionWorld()
        async with transacting(world) as producer:
            for value in (b"a", b"b"):
                async with producer.transaction():
                    await producer.send("t", value)
                    await producer.flush()
                    await producer.send_offsets(POSITIONS, GroupMetadata("g"))
        assert world.kinds() == ["InitProducerId", *(["Produce", "TxnOffsetCommit", "EndTxn"] * 2)]
        assert {cap for _, _, cap in world.wire} == {None}
        assert [(b.producer_epoch, b.base_sequence) for b in world.log().seen] == [(0, 0), (1, 0)]
        assert world.committed() == [b"a", b"b"]

    play(scene())


def test_D37_the_protocol_is_decided_at_the_start_of_each_transaction_and_kept_to_its_end() -> None:
    async def scene() -> None:
        world = TransactionWorld(level=1)
        async with transacting(world) as producer:
            for level_now, level_next in ((1, 2), (2, 1), (1, 1)):
                assert world.level == level_now
                await producer.begin()
                await producer.send("t", b"%d" % level_now, partition=0)
                await producer.flush()
                world.level = level_next  # not mid-way
                await producer.send("t", b"%d" % level_now, partition=0)
                await producer.commit()
                await asyncio.sleep(LOOK_AGAIN)
        v1, v2 = ["AddPartitionsToTxn", "Produce", "Produce", "EndTxn"], ["Produce", "Produce", "EndTxn"]
        assert world.kinds() == ["InitProducerId", *v1, *v2, *v1]
        assert [cap for _, cap in world.asked_for("EndTxn")] == [4, None, 4]
        assert world.committed() == [b"1", b"1", b"2", b"2", b"1", b"1"]

    play(scene())


def test_D37_the_feature_alone_is_not_enough() -> None:
    async def scene() -> None:
        world = TransactionWorld(level=2)
        world.produce_versions = 11
        async with transacting(world) as producer:
            async with producer.transaction():
                await producer.send("t", b"v")
        assert world.kinds() == ["InitProducerId", "AddPartitionsToTxn", "Produce", "EndTxn"]

    play(scene())


def test_D37_after_the_last_epoch_comes_a_new_producer_id() -> None:
    async def scene() -> None:
        world = TransactionWorld()
        async with transacting(world) as producer:
            await producer.begin()
            world.books.epoch = LAST_EPOCH
            producer._engine.identity.epoch = LAST_EPOCH
            await producer.send("t", b"a")
            await producer.commit()
            async with producer.transaction():
                await producer.send("t", b"b")
        assert [(b.producer_id, b.producer_epoch) for b in world.log().seen] == [(500, LAST_EPOCH), (1500, 0)]
        assert world.committed() == [b"a", b"b"]

    play(scene())


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("end", ["commit", "abort"])
def test_D42_a_transaction_of_nothing_ends_without_a_request(level: int, end: str) -> None:
    async def scene() -> None:
        world = TransactionWorld(level=level)
        async with transacting(world) as producer:
            await producer.begin()
            await getattr(producer, end)()
            assert world.kinds() == ["InitProducerId"]
            async with producer.transaction():
                await producer.send("t", b"v")
        assert world.committed() == [b"v"]

    play(scene())
