"""The world with transaction and group coordinators: what Kafka's would answer, and a view as read_committed has it.

Orders make an answer wrong or lose it; everything asked is in `wire`, with the version it was capped at.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from typing import Any

from kcli import codes
from kcli.codes import ErrorCode
from kcli.errors import ConnectError
from kcli.model import Group, TopicPartition, Transaction
from kcli.producer.producer import Producer
from kcli.proto.messages import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    api_name,
    api_versions,
    describe_transactions,
    end_txn,
    init_producer_id,
    txn_offset_commit,
)
from kcli.proto.messages.produce import ProduceRequest
from tests.producer.books import Books, TransactionLog
from tests.producer.world import FakeBroker, World, producing


class Order:
    """What to do with the next request of a kind: `do` it or not, answer `code`, or `lose` the answer."""

    def __init__(self, code: ErrorCode = codes.NONE, *, do: bool = False, lose: bool = False, wait: float = 0) -> None:
        self.code, self.do, self.lose, self.wait = code, do, lose, wait


LOST = Order(lose=True)  # never arrived, and nobody can know
ANSWER_LOST = Order(do=True, lose=True)


class CoordinatingBroker(FakeBroker):
    world: TransactionWorld

    async def ask(self, request: Any, **options: Any) -> Any:
        cap = options.get("max_version")
        self.world.wire.append((api_name(request.api_key), request, cap))
        if isinstance(request, ProduceRequest):
            return await self._produce(request, cap)
        return await self.world.asked(self, request, cap)

    def _append(self, request: ProduceRequest) -> Any:
        assert request.transactional_id == "x", "the transactional id is missing (A1.20)"
        cap = self.capped[self.requests.index(request)]
        self.world.produced_by_v2 = cap is None or cap >= 12
        return super()._append(request)


class TransactionWorld(World):
    """One transactional id, "x"; `level` is the finalized transaction.version."""

    def __init__(self, topics: dict[str, int] | None = None, level: int = 2, nodes: int = 3, **more: Any) -> None:
        super().__init__(topics, nodes, **more)
        self.nodes_by_id = {number: CoordinatingBroker(self, number) for number in range(nodes)}
        self.logs = {at: TransactionLog(at, log.leader, self) for at, log in self.logs.items()}
        self.books = Books(self)
        self.level = level
        self.produce_versions = 13
        self.wire: list[tuple[str, Any, int | None]] = []
        self.orders: dict[str, deque[Order]] = defaultdict(deque)
        self.coordinates = {"Transaction": 0, "Group": 1}
        self.cached_coordinators: dict[str, int] = {}
        self.lookups = 0
        self.offsets: dict[tuple[str, TopicPartition], int] = {}
        self.generations: dict[str, int] = {}
        self.produced_by_v2 = False

    def kinds(self) -> list[str]:
        """What was asked, without the looking at versions."""
        return [kind for kind, _, _ in self.wire if kind != "ApiVersions"]

    def asked_for(self, kind: str) -> list[tuple[Any, int | None]]:
        return [(request, cap) for name, request, cap in self.wire if name == kind]

    def committed(self, partition: int = 0) -> list[bytes | None]:
        return self.logs[TopicPartition("t", partition)].committed  # type: ignore[attr-defined, no-any-return]

    async def coordinator(self, key: Group | Transaction) -> FakeBroker:
        kind = type(key).__name__
        if kind not in self.cached_coordinators:
            self.lookups += 1
            await asyncio.sleep(self.latency)
            self.cached_coordinators[kind] = self.coordinates[kind]
        return self.nodes_by_id[self.cached_coordinators[kind]]

    def coordinator_moved(self, key: Group | Transaction) -> None:
        self.cached_coordinators.pop(type(key).__name__, None)

    async def asked(self, broker: CoordinatingBroker, request: Any, cap: int | None) -> Any:
        name = api_name(request.api_key)
        if not broker.up:
            raise ConnectError(f"broker {broker.node_id} is down")
        kind = "Group" if name == "TxnOffsetCommit" else "Transaction"
        if name != "ApiVersions" and broker.node_id != self.coordinates[kind]:
            return self._say(request, codes.NOT_COORDINATOR)
        order = self.orders[name].popleft() if self.orders[name] else Order(do=True)
        await asyncio.sleep(self.latency + order.wait)
        if not broker.up:
            raise ConnectError("the connection broke", sent=True)
        code = self._do(request, cap) if order.do else codes.NONE
        if order.lose:
            raise ConnectError("the connection broke", sent=True)
        return self._say(request, order.code or code, cap)

    def _do(self, request: Any, cap: int | None) -> ErrorCode:
        books = self.books
        if isinstance(request, init_producer_id.InitProducerIdRequest):
            return books.init(request.producer_id, request.producer_epoch)
        if isinstance(request, end_txn.EndTxnRequest):
            return books.end(request.producer_id, request.producer_epoch, request.committed, cap is None or cap >= 5)
        if isinstance(request, add_partitions_to_txn.AddPartitionsToTxnRequest):
            code = books.fenced(request.v3_and_below_producer_id, request.v3_and_below_producer_epoch)
            if not code:
                books.begin()
                books.partitions |= set(partitions_of(request))
            return code
        if isinstance(request, add_offsets_to_txn.AddOffsetsToTxnRequest):
            code = books.fenced(request.producer_id, request.producer_epoch)
            if not code:
                books.begin()
                books.groups.add(request.group_id)
            return code
        if isinstance(request, txn_offset_commit.TxnOffsetCommitRequest):
            return self._take_offsets(request, cap)
        return codes.NONE

    def _take_offsets(self, request: Any, cap: int | None) -> ErrorCode:
        code = self.books.fenced(request.producer_id, request.producer_epoch)
        if code:
            return codes.INVALID_PRODUCER_EPOCH
        if request.generation_id_or_member_epoch not in (-1, self.generations.get(request.group_id, -1)):
            return codes.ILLEGAL_GENERATION
        if cap is not None and cap <= 4:
            assert request.group_id in self.books.groups, "AddOffsetsToTxn comes first (D36)"
        self.books.begin()
        for topic in request.topics:
            for part in topic.partitions:
                at = TopicPartition(topic.name, part.partition_index)
                self.books.pending[request.group_id, at] = part.committed_offset
        return codes.NONE

    def _say(self, request: Any, code: ErrorCode, cap: int | None = None) -> Any:
        number, books = code.number, self.books
        if isinstance(request, api_versions.ApiVersionsRequest):
            offered = {0: self.produce_versions, 26: 5, 28: 5}
            return api_versions.ApiVersionsResponse(
                error_code=number,
                api_keys=[api_versions.ApiVersion(api_key=key, max_version=most) for key, most in offered.items()],
                finalized_features=[
                    api_versions.FinalizedFeatureKey(name="transaction.version", max_version_level=self.level)
                ],
            )
        if isinstance(request, init_producer_id.InitProducerIdRequest):
            if number:
                return init_producer_id.InitProducerIdResponse(error_code=number)
            return init_producer_id.InitProducerIdResponse(producer_id=books.producer_id, producer_epoch=books.epoch)
        if isinstance(request, end_txn.EndTxnRequest):
            if number or (cap is not None and cap < 5):
                return end_txn.EndTxnResponse(error_code=number)
            return end_txn.EndTxnResponse(producer_id=books.producer_id, producer_epoch=books.epoch)
        if isinstance(request, add_partitions_to_txn.AddPartitionsToTxnRequest):
            return add_partitions_to_txn.AddPartitionsToTxnResponse(
                results_by_topic_v3_and_below=[
                    add_partitions_to_txn.AddPartitionsToTxnTopicResult(
                        name=at.topic,
                        results_by_partition=[
                            add_partitions_to_txn.AddPartitionsToTxnPartitionResult(
                                partition_index=at.partition, partition_error_code=number
                            )
                        ],
                    )
                    for at in partitions_of(request)
                ]
            )
        if isinstance(request, add_offsets_to_txn.AddOffsetsToTxnRequest):
            return add_offsets_to_txn.AddOffsetsToTxnResponse(error_code=number)
        if isinstance(request, txn_offset_commit.TxnOffsetCommitRequest):
            (topic,) = request.topics
            part = txn_offset_commit.TxnOffsetCommitResponsePartition(error_code=number)
            return txn_offset_commit.TxnOffsetCommitResponse(
                topics=[txn_offset_commit.TxnOffsetCommitResponseTopic(name=topic.name, partitions=[part])]
            )
        assert isinstance(request, describe_transactions.DescribeTransactionsRequest)
        return describe_transactions.DescribeTransactionsResponse(
            transaction_states=[
                describe_transactions.TransactionState(
                    error_code=number, transactional_id="x", transaction_state=books.state,
                    producer_id=books.producer_id, producer_epoch=books.epoch,
                )
            ]
        )  # fmt: skip


def partitions_of(request: Any) -> list[TopicPartition]:
    return [
        TopicPartition(topic.name, partition) for topic in request.v3_and_below_topics for partition in topic.partitions
    ]


def transacting(world: TransactionWorld, **changes: Any) -> Producer:
    """A producer with the transactional id "x" on that world."""
    settings: dict[str, Any] = {"transactional_id": "x", "max_block": 10.0}
    return producing(world, **(settings | changes))
