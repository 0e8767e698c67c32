"""DescribeTransactions, ListTransactions, DescribeProducers (KIP-664), and verification between brokers (KIP-890)."""

from __future__ import annotations

import pytest

from kcli import codes
from kcli.proto.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kcli.proto.messages.describe_producers import DescribeProducersRequest, TopicRequest
from kcli.proto.messages.describe_transactions import DescribeTransactionsRequest
from kcli.proto.messages.list_transactions import ListTransactionsRequest
from kcli.sandbox import Sandbox
from tests.sandbox.client import Peer
from tests.sandbox.transacting import Producer, begun, ready


async def test_a_transaction_is_described_with_its_partitions() -> None:
    async with Sandbox(topics={"t": 3}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer)
        await ready(producer, timeout_ms=12_345)
        await begun(producer, partition=2)
        await begun(producer, partition=0)
        assert await producer.position(1) == 0
        answer = await peer.ask(DescribeTransactionsRequest(transactional_ids=["tx", "none", ""]))
        one, none, empty = answer.transaction_states
        assert (one.transaction_state, one.transaction_timeout_ms) == ("Ongoing", 12_345)
        assert (one.producer_id, one.producer_epoch) == (producer.id, 0)
        assert one.transaction_start_time_ms > 0
        rows = {topic.topic: topic.partitions for topic in one.topics}
        assert rows["t"] == [0, 2]
        assert len(rows["__consumer_offsets"]) == 1
        assert none.error_code == codes.TRANSACTIONAL_ID_NOT_FOUND.number
        assert empty.error_code == codes.INVALID_REQUEST.number
        assert await producer.commit() == 0
        [one] = (await peer.ask(DescribeTransactionsRequest(transactional_ids=["tx"]))).transaction_states
        assert (one.transaction_state, one.topics) == ("CompleteCommit", [])


async def test_transactions_are_listed_by_state_producer_duration_and_pattern() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        idle, busy = Producer(peer, "idle"), Producer(peer, "busy-1")
        await ready(idle)
        await ready(busy)
        await begun(busy)

        async def listed(version: int = 2, **asked: object) -> list[str]:
            answer = await peer.ask(ListTransactionsRequest(**asked), version)  # type: ignore[arg-type]
            assert answer.error_code == 0
            return sorted(one.transactional_id for one in answer.transaction_states)

        assert await listed(0) == ["busy-1", "idle"]
        assert await listed(state_filters=["Ongoing"]) == ["busy-1"]
        assert await listed(producer_id_filters=[idle.id]) == ["idle"]
        assert await listed(duration_filter=60_000, state_filters=["Ongoing"]) == []
        assert await listed(transactional_id_pattern="busy.*") == ["busy-1"]
        assert await listed(transactional_id_pattern="busy") == []
        answer = await peer.ask(ListTransactionsRequest(state_filters=["Dead", "Nonsense"]))
        assert (answer.unknown_state_filters, answer.transaction_states) == (["Nonsense"], [])
        for pattern in ("(", "(?=busy).*", r"(b)\1"):
            answer = await peer.ask(ListTransactionsRequest(transactional_id_pattern=pattern))
            assert answer.error_code == codes.INVALID_REGULAR_EXPRESSION.number


@pytest.mark.usefixtures("hasty_patterns")
async def test_transactions_are_not_listed_by_a_pattern_without_end() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        await ready(Producer(peer, "x" * 100))
        for _ in range(3):
            answer = await peer.ask(ListTransactionsRequest(transactional_id_pattern="(x|xx)+b"))
            assert answer.error_code == codes.INVALID_REGULAR_EXPRESSION.number
            assert answer.transaction_states == []


async def test_producers_are_described_with_the_start_of_their_transaction() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer)
        await ready(producer)
        await begun(producer, 2)
        request = DescribeProducersRequest(topics=[TopicRequest(name="t", partition_indexes=[0, 7])])
        known, unknown = (await peer.ask(request)).topics[0].partitions
        [row] = known.active_producers
        assert (row.producer_id, row.producer_epoch, row.last_sequence) == (producer.id, 0, 1)
        assert (row.last_timestamp, row.current_txn_start_offset, row.coordinator_epoch) == (1001, 0, -1)
        assert unknown.error_code == codes.UNKNOWN_TOPIC_OR_PARTITION.number
        assert await producer.abort() == 0
        [row] = (await peer.ask(request)).topics[0].partitions[0].active_producers
        assert (row.producer_epoch, row.last_sequence, row.current_txn_start_offset) == (1, -1, -1)
        assert row.coordinator_epoch == 0


async def test_brokers_verify_and_add_for_many_transactions_at_once() -> None:
    async with Sandbox(topics={"t": 2}) as sandbox, Peer(sandbox) as peer:
        one, two = Producer(peer, "one"), Producer(peer, "two")
        await ready(one)
        await ready(two)

        async def asked(version: int, *, verify: bool) -> list[list[int]]:
            topics = [AddPartitionsToTxnTopic(name="t", partitions=[0, 1])]
            request = AddPartitionsToTxnRequest(
                transactions=[
                    AddPartitionsToTxnTransaction(
                        transactional_id=each.name, producer_id=each.id, producer_epoch=each.epoch,
                        verify_only=verify and each is one, topics=topics,
                    )
                    for each in (one, two)
                ]
            )  # fmt: skip
            answer = await peer.ask(request, version)
            return [
                [row.partition_error_code for row in result.topic_results[0].results_by_partition]
                for result in answer.results_by_transaction
            ]

        await begun(one)
        assert await asked(5, verify=True) == [[0, codes.TRANSACTION_ABORTABLE.number], [0, 0]]
        assert await asked(4, verify=True) == [[0, codes.TRANSACTION_ABORTABLE.number], [0, 0]]
        assert await asked(5, verify=False) == [[0, 0], [0, 0]]
        assert await two.commit() == 0
        assert sandbox.topics.partition("t", 1).log.end == 1
