"""A transactional producer of the fewest words, to see the coordinator and the partitions at work."""

from __future__ import annotations

from typing import Any

from kcli import codes
from kcli.proto.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from kcli.proto.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kcli.proto.messages.end_txn import EndTxnRequest
from kcli.proto.messages.fetch import PartitionData
from kcli.proto.messages.init_producer_id import InitProducerIdRequest
from kcli.proto.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kcli.proto.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kcli.proto.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kcli.proto.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kcli.sandbox.log.batches import CONTROL, TRANSACTIONAL, Header

from .client import Peer, batch

V1, V2 = (11, 4, 4), (12, 5, 5)  # the highest Produce, EndTxn and TxnOffsetCommit of protocols v1 and v2


class Producer:
    """`protocol` is V1 or V2. What answers with an error returns its number."""

    def __init__(self, peer: Peer, name: str = "tx", protocol: tuple[int, int, int] = V2) -> None:
        self.peer = peer
        self.name = name
        self.protocol = protocol
        self.id = self.epoch = -1
        self._sequences: dict[tuple[str, int], int] = {}

    async def init(self, timeout_ms: int = 60_000, version: int = 5, *, resume: bool = False) -> int:
        request = InitProducerIdRequest(transactional_id=self.name, transaction_timeout_ms=timeout_ms)
        if resume:
            request.producer_id, request.producer_epoch = self.id, self.epoch
        answer = await self.peer.ask(request, version)
        code: int = answer.error_code
        if not code:
            self._is(answer.producer_id, answer.producer_epoch)
        return code

    def _is(self, producer_id: int, epoch: int) -> None:
        if (producer_id, epoch) != (self.id, self.epoch):
            self._sequences.clear()
        self.id, self.epoch = producer_id, epoch

    async def add(self, *partitions: int, topic: str = "t") -> int:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.name, v3_and_below_producer_id=self.id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic, partitions=list(partitions))],
        )  # fmt: skip
        answer = await self.peer.ask(request, 3)
        code: int = answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
        return code

    async def send(self, count: int = 1, partition: int = 0, *, value: bytes = b"v", topic: str = "t") -> int:
        key = (topic, partition)
        sequence = self._sequences.get(key, 0)
        data = batch(
            count, producer=self.id, epoch=self.epoch, sequence=sequence, attributes=TRANSACTIONAL, value=value
        )  # fmt: skip
        request = ProduceRequest(
            transactional_id=self.name, acks=-1,
            topic_data=[TopicProduceData(
                name=topic, partition_data=[PartitionProduceData(index=partition, records=data)]
            )],
        )  # fmt: skip
        row = (await self.peer.ask(request, self.protocol[0])).responses[0].partition_responses[0]
        code: int = row.error_code
        if not code:
            self._sequences[key] = sequence + count
        return code

    async def end(self, *, commit: bool) -> int:
        request = EndTxnRequest(
            transactional_id=self.name, producer_id=self.id, producer_epoch=self.epoch, committed=commit
        )
        answer = await self.peer.ask(request, self.protocol[1])
        code: int = answer.error_code
        if not code and self.protocol is V2:
            self._is(answer.producer_id, answer.producer_epoch)
        return code

    async def commit(self) -> int:
        return await self.end(commit=True)

    async def abort(self) -> int:
        return await self.end(commit=False)

    async def add_group(self, group: str = "g") -> int:
        request = AddOffsetsToTxnRequest(
            transactional_id=self.name, producer_id=self.id, producer_epoch=self.epoch, group_id=group
        )
        code: int = (await self.peer.ask(request)).error_code
        return code

    async def position(self, offset: int, *, group: str = "g", generation: int = -1, member: str = "",
                       instance: str | None = None) -> int:  # fmt: skip
        request = TxnOffsetCommitRequest(
            transactional_id=self.name, group_id=group, producer_id=self.id, producer_epoch=self.epoch,
            generation_id_or_member_epoch=generation, member_id=member, group_instance_id=instance,
            topics=[TxnOffsetCommitRequestTopic(
                name="t", partitions=[TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)]
            )],
        )  # fmt: skip
        answer = await self.peer.ask(request, self.protocol[2])
        code: int = answer.topics[0].partitions[0].error_code
        return code


async def begun(producer: Producer, count: int = 1, partition: int = 0, **options: Any) -> None:
    """Open a transaction, or go on with it, with `count` records."""
    if producer.protocol is V1:
        assert await producer.add(partition) == 0
    assert await producer.send(count, partition, **options) == 0


async def ready(producer: Producer, **options: Any) -> None:
    """Take the transactional id, also from a predecessor with an open transaction."""
    while (code := await producer.init(**options)) == codes.CONCURRENT_TRANSACTIONS.number:
        pass
    assert code == 0


async def end_of(peer: Peer, timestamp: int = -1, *, committed: bool = True) -> int:
    """What ListOffsets says, by default the last stable offset."""
    asked = ListOffsetsTopic(name="t", partitions=[ListOffsetsPartition(timestamp=timestamp)])
    answer = await peer.ask(ListOffsetsRequest(replica_id=-1, isolation_level=int(committed), topics=[asked]))
    assert answer.topics[0].partitions[0].error_code == 0
    offset: int = answer.topics[0].partitions[0].offset
    return offset


async def position_of(peer: Peer, *, group: str = "g", stable: bool = False) -> tuple[int, int]:
    """(error, offset) that OffsetFetch gives for partition 0."""
    topics = [OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=topics)], require_stable=stable)
    row = (await peer.ask(request, 9)).groups[0].topics[0].partitions[0]
    return row.error_code, row.committed_offset


def headers(row: PartitionData) -> list[Header]:
    found: list[Header] = []
    data = bytes(row.records or b"")
    at = 0
    while at < len(data):
        found.append(Header(data, at))
        at += found[-1].size
    return found


def offsets(row: PartitionData) -> list[int]:
    """Of the records an application gets: without markers and, if the answer names any, without aborted ones."""
    found: list[int] = []
    coming = sorted((one.first_offset, one.producer_id) for one in row.aborted_transactions or ())
    hidden: set[int] = set()
    for header in headers(row):
        while coming and coming[0][0] <= header.base_offset:
            hidden.add(coming.pop(0)[1])
        if header.attributes & CONTROL:
            hidden.discard(header.producer_id)
        elif header.producer_id not in hidden:
            found += range(header.base_offset, header.base_offset + header.count)
    return found


async def read(peer: Peer, *, committed: bool = True, offset: int = 0) -> list[int]:
    """Offsets of the records of partition 0."""
    row = await peer.fetch(offset, isolation=int(committed))
    assert row.error_code == 0
    return offsets(row)
