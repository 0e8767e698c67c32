"""Fetch 4-18. 7 adds sessions, 9 leader epochs, 12 diverging epochs, 13 topic ids, 16 the leader hint (KIP-951).
Waits until min_bytes are there, something is wrong, or max_wait has passed. Records are slices of the log; those for
read_committed end at the last stable offset and come with the aborted transactions among them."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from kcli.sandbox.answers.partitions import endpoints, hinted, led_here, name_of
from kcli.sandbox.cluster.topics import Partition
from kcli.sandbox.log.batches import corrupted
from kcli.sandbox.log.log import Log
from kcli.sandbox.wire.fetch_sessions import Key
from kcli.sandbox.wire.request_context import RequestContext

COMMITTED = 1  # isolation level
HINTS = 16  # the first version that names the leader
LED_ELSEWHERE = (codes.NOT_LEADER_OR_FOLLOWER, codes.FENCED_LEADER_EPOCH)
MISSING = (codes.UNKNOWN_TOPIC_OR_PARTITION, codes.UNKNOWN_TOPIC_ID)


class _Target:
    """A partition that is asked for: found, or what is wrong with it."""

    __slots__ = ("asked", "error", "key", "name", "partition")

    def __init__(self, context: RequestContext, key: Key, asked: FetchPartition, follower: int) -> None:
        self.key = key
        self.asked = asked
        self.name = key[0]
        self.partition: Partition | None = None
        self.error: BrokerError | None = None
        try:
            self.name = name_of(context, key[0], key[1])
            self.partition = led_here(context, 1, self.name, key[2], asked.current_leader_epoch)
            if follower >= 0 and follower not in self.partition.replicas:
                raise BrokerError(codes.NOT_LEADER_OR_FOLLOWER)
        except BrokerError as wrong:
            self.error = wrong


async def answer(context: RequestContext, request: FetchRequest) -> FetchResponse:
    try:
        scripted = context.refused(1) if not request.topics else None
        if scripted is not None:
            raise BrokerError(scripted)
        session, incremental = None, False
        if context.version >= 7:
            session, incremental = context.broker.sessions.opened(request, by_id=context.version >= 13)
    except BrokerError as refused:
        return FetchResponse(error_code=refused.code.number)
    wanted = session.partitions if session is not None else _named(request)
    follower = max(request.replica_id, request.replica_state.replica_id)
    targets = [_Target(context, key, asked, follower) for key, asked in wanted.items()]
    if targets and request.isolation_level not in (0, COMMITTED):
        return _strange(context, request)
    if targets:  # a request without partitions (a farewell) is answered at once, as in Kafka
        await _wait(context, targets, request)
    leaders: set[int] = set()
    topics: dict[tuple[str, bytes], FetchableTopicResponse] = {}
    left, committed = request.max_bytes, request.isolation_level == COMMITTED
    for target in targets:
        row = _row(context, target, left, oversize=left == request.max_bytes, leaders=leaders, committed=committed)
        left = max(left - len(row.records or b""), min(left, 0))
        if session is None or session.is_news(target.key, row) or not incremental:
            name, topic_id, _ = target.key
            topic = topics.setdefault((name, topic_id), FetchableTopicResponse(topic=name, topic_id=topic_id))
            topic.partitions.append(row)
    response = FetchResponse(session_id=session.id if session is not None else 0, responses=list(topics.values()))
    if context.version >= HINTS:
        response.node_endpoints = [
            NodeEndpoint(node_id=broker.node_id, host=context.cluster.settings.advertised_host, port=broker.port)
            for broker in endpoints(context, leaders)
        ]
    return response


def _named(request: FetchRequest) -> dict[Key, FetchPartition]:
    return {(t.topic, t.topic_id, p.partition): p for t in request.topics for p in t.partitions}


def _strange(context: RequestContext, request: FetchRequest) -> FetchResponse:
    """The answer to an unknown isolation level, as Kafka words it."""
    code = codes.UNKNOWN_SERVER_ERROR.number
    response = FetchResponse(error_code=code, session_id=request.session_id)
    if context.version < 13:
        response.responses = [
            FetchableTopicResponse(
                topic=topic.topic,
                partitions=[
                    PartitionData(partition_index=row.partition, error_code=code, high_watermark=-1, records=b"")
                    for row in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    return response


async def _wait(context: RequestContext, targets: list[_Target], request: FetchRequest) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + request.max_wait_ms / 1000
    while not _ready(context, targets, request.min_bytes, request.isolation_level == COMMITTED):
        left = deadline - loop.time()
        if left <= 0:
            return
        waiter: asyncio.Future[None] = loop.create_future()
        for target in targets:
            if target.partition is not None:
                target.partition.waiting.add(waiter)
        try:
            await asyncio.wait([waiter], timeout=left)
        finally:
            for target in targets:
                if target.partition is not None:
                    target.partition.waiting.discard(waiter)


def _ready(context: RequestContext, targets: list[_Target], min_bytes: int, committed: bool) -> bool:
    size = 0
    for target in targets:
        partition, offset = target.partition, target.asked.fetch_offset
        if partition is None or target.error is not None:
            return True
        if not partition.serves(context.broker.node_id, context.version) or _is_over(partition, target.asked):
            return True
        if not partition.log.start <= offset <= partition.log.end or _diverging(partition, target.asked) is not None:
            return True
        size += partition.log.ahead(offset, partition.log.stable if committed else partition.log.end)
    return size >= min_bytes


def _row(
    context: RequestContext, target: _Target, left: int, *, oversize: bool, leaders: set[int], committed: bool
) -> PartitionData:
    partition, asked = target.partition, target.asked
    row = PartitionData(partition_index=asked.partition, high_watermark=-1, records=b"", aborted_transactions=None)
    try:
        if partition is None or target.error is not None:
            raise target.error or BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION)
        if not partition.serves(context.broker.node_id, context.version):
            raise BrokerError(codes.NOT_LEADER_OR_FOLLOWER)
        if _is_over(partition, asked):
            raise BrokerError(codes.FENCED_LEADER_EPOCH)
        log = partition.log
        if context.cluster.topics.by_name.get(target.name) is not partition.topic:
            raise BrokerError(codes.UNKNOWN_TOPIC_ID if context.version >= 13 else codes.UNKNOWN_TOPIC_OR_PARTITION)
        _check_offset(log, partition, asked)
        limit = min(asked.partition_max_bytes, left)
        if limit < 0 and asked.fetch_offset < (log.stable if committed else log.end):
            raise BrokerError(codes.UNKNOWN_SERVER_ERROR, message="a negative limit")
        row.high_watermark, row.last_stable_offset = log.end, log.stable
        row.log_start_offset = log.start
        diverging = _ordered(context, row, target) or _diverging(partition, asked)
        if diverging is not None:
            row.diverging_epoch = diverging
        if diverging is not None or row.preferred_read_replica >= 0:
            return row
        records = log.read(
            asked.fetch_offset,
            limit,
            oversize=oversize,
            stop=row.last_stable_offset if committed else None,
        )
        if committed:
            row.aborted_transactions = _aborted(log, asked.fetch_offset, records)
        if records:
            row.records = records
            if context.cluster.faults.planned.take("corrupt", 1, context.broker.node_id, target.name, asked.partition):
                row.records = corrupted(records)
    except BrokerError as wrong:
        row.error_code = wrong.code.number
        if wrong.code in MISSING:
            row.aborted_transactions = []
        if wrong.code in LED_ELSEWHERE and context.version >= HINTS:
            _hint(context, row, target.name, leaders)
    return row


def _is_over(partition: Partition, asked: FetchPartition) -> bool:
    """Whether the reader's leader epoch ended, perhaps while it waited."""
    return -1 < asked.current_leader_epoch < partition.leader_epoch


def _hint(context: RequestContext, row: PartitionData, topic: str, leaders: set[int]) -> None:
    """Name the leader, if there is one, in the row and among the `leaders` whose addresses the answer has (KIP-951)."""
    hint = hinted(context, topic, row.partition_index)
    if hint is not None:
        row.current_leader = LeaderIdAndEpoch(leader_id=hint[0], leader_epoch=hint[1])
        leaders.add(hint[0])


def _check_offset(log: Log, partition: Partition, asked: FetchPartition) -> None:
    """Raises BrokerError OFFSET_OUT_OF_RANGE, also for records of an epoch that is still to come."""
    known = asked.last_fetched_epoch <= partition.leader_epoch
    there = asked.last_fetched_epoch >= 0 or log.start <= asked.fetch_offset <= log.end
    if not known or not there:
        raise BrokerError(codes.OFFSET_OUT_OF_RANGE)


def _aborted(log: Log, offset: int, records: memoryview | None) -> list[AbortedTransaction]:
    """The aborted transactions among `records`, which were read from `offset` on."""
    if not records:
        return []
    aborted = log.aborted_index.aborted(offset, log.next_after(offset, len(records)))
    return [AbortedTransaction(producer_id=aborted.producer_id, first_offset=aborted.first) for aborted in aborted]


def _ordered(context: RequestContext, row: PartitionData, target: _Target) -> EpochEndOffset | None:
    """What was ordered as a fault: another replica to read from, a place where the histories part."""
    faults, node = context.cluster.faults, context.broker.node_id
    if target.partition is not None and target.partition.leader == node:
        replica = faults.planned.taken("prefer", 1, node, target.name, target.asked.partition)
        row.preferred_read_replica = -1 if replica is None else replica  # type: ignore[assignment]
    return faults.planned.taken("diverge", 1, node, target.name, target.asked.partition)  # type: ignore[return-value]


def _diverging(partition: Partition, asked: FetchPartition) -> EpochEndOffset | None:
    """Where the reader's history parts from ours (KIP-595), None when it does not."""
    if asked.last_fetched_epoch < 0:
        return None
    epoch, end = partition.log.epoch_end(asked.last_fetched_epoch, partition.leader_epoch)
    if epoch >= 0 and (epoch < asked.last_fetched_epoch or end < asked.fetch_offset):
        return EpochEndOffset(epoch=epoch, end_offset=end)
    return None
