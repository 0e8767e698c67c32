"""Produce 3-13 (0 is advertised, 0-2 are cut off). 8 adds messages to errors, 10 the leader hint (KIP-951), 11
TRANSACTION_ABORTABLE, 12 adds partitions to transactions by itself (KIP-890), 13 uses topic ids. acks=0
has no answer; an error then ends the connection, as in Kafka."""

from __future__ import annotations

import time

from kcli import codes
from kcli.codes import ErrorCode
from kcli.errors import BrokerError
from kcli.proto.buffer import Buffer
from kcli.proto.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from kcli.sandbox.answers.partitions import endpoints, hinted, led_here, name_of
from kcli.sandbox.cluster.topics import INTERNAL, Partition
from kcli.sandbox.log.batches import LOG_APPEND_TIME, SIZE, TRANSACTIONAL, Header, Records, accept, analyze, judge
from kcli.sandbox.transactions import ONGOING
from kcli.sandbox.wire.peer import CloseConnection
from kcli.sandbox.wire.request_context import RequestContext

ADMIN = "__admin_client"  # the client id that may write to internal topics
ZSTD_SINCE, ABORTABLE_SINCE, ADDS_SINCE = 7, 11, 12  # Produce versions


async def answer(context: RequestContext, request: ProduceRequest) -> ProduceResponse | None:
    leaders: set[int] = set()
    topics = [_topic(context, request, topic, leaders) for topic in request.topic_data if topic.partition_data]
    if request.acks == 0:
        if any(partition.error_code for topic in topics for partition in topic.partition_responses):
            raise CloseConnection
        return None
    response = ProduceResponse(responses=topics)
    if context.version >= 10:
        response.node_endpoints = [
            NodeEndpoint(node_id=broker.node_id, host=context.cluster.settings.advertised_host, port=broker.port)
            for broker in endpoints(context, leaders)
        ]
    return response


def _topic(
    context: RequestContext, request: ProduceRequest, asked: TopicProduceData, leaders: set[int]
) -> TopicProduceResponse:
    rows = []
    for partition in {each.index: each for each in asked.partition_data}.values():  # the last one counts
        name = asked.name
        try:
            if request.acks not in (-1, 0, 1):
                raise BrokerError(codes.INVALID_REQUIRED_ACKS)
            name = name_of(context, asked.name, asked.topic_id)
            if name in INTERNAL and context.client_id != ADMIN:
                raise BrokerError(codes.INVALID_TOPIC_EXCEPTION, message=f"{name} is an internal topic")
            rows.append(_append(context, request.transactional_id, name, partition))
        except BrokerError as refused:
            row = PartitionProduceResponse(
                index=partition.index, error_code=refused.code.number, base_offset=-1, error_message=str(refused)
            )
            hint = hinted(context, name, partition.index) if refused.code is codes.NOT_LEADER_OR_FOLLOWER else None
            if hint is not None and context.version >= 10:
                row.current_leader = LeaderIdAndEpoch(leader_id=hint[0], leader_epoch=hint[1])
                leaders.add(hint[0])
            rows.append(row)
    return TopicProduceResponse(name=asked.name, topic_id=asked.topic_id, partition_responses=rows)


def _append(
    context: RequestContext, transactional_id: str | None, name: str, asked: PartitionProduceData
) -> PartitionProduceResponse:
    partition = led_here(context, 0, name, asked.index)
    records = asked.records
    header = accept(records, zstd=context.version >= ZSTD_SINCE)
    assert records is not None
    records = memoryview(records)[: header.size]
    if header.attributes & TRANSACTIONAL:
        verify(context, transactional_id, header, partition)
    try:
        analyze(header, records, partition.topic.number("max.message.bytes"))
        judge(header)
        opened = Records(header, records)
        rejected = _rejected(partition, header, opened)
        if rejected is not None:
            return rejected
        newest = opened.newest(header)
        if newest != header.max_timestamp:
            header.stamp_newest(newest, records[SIZE:])
        if header.producer_id in partition.log.aborted_index.open and not header.attributes & TRANSACTIONAL:
            raise BrokerError(codes.INVALID_TXN_STATE, message="a plain batch in the middle of a transaction")
        stored = partition.producers.duplicate(header) if header.producer_id >= 0 else None
    except BrokerError as refused:
        return _refused_by_log(partition, refused)
    return _stored(context, partition, header, records, stored)


def _rejected(partition: Partition, header: Header, records: Records) -> PartitionProduceResponse | None:
    """The answer to records that this topic does not take, each of them named (KIP-467); None for a good batch."""
    topic = partition.topic
    if "compact" in topic.config("cleanup.policy"):
        rejected = records.keyless()
        if rejected:
            return _record_errors(partition, codes.INVALID_RECORD, rejected, "without a key in a compacted topic")
    if topic.config("message.timestamp.type") == "CreateTime":
        now = int(time.time() * 1000)
        earliest = now - topic.number("message.timestamp.before.max.ms")
        latest = now + topic.number("message.timestamp.after.max.ms")
        rejected = records.mistimed(header, earliest, latest)
        if rejected:
            return _record_errors(partition, codes.INVALID_TIMESTAMP, rejected, "with a timestamp out of range")
    elif header.attributes & LOG_APPEND_TIME:
        words = "with a timestamp that only the broker gives"
        return _record_errors(partition, codes.INVALID_TIMESTAMP, list(range(header.count)), words)
    return None


def _stored(
    context: RequestContext, partition: Partition, header: Header, records: Buffer, stored: int | None
) -> PartitionProduceResponse:
    """Append the batch, unless it is `stored` at an offset already: a duplicate is answered with its own time."""
    log, topic = partition.log, partition.topic
    append_time = int(time.time() * 1000) if topic.config("message.timestamp.type") == "LogAppendTime" else None
    if stored is None:
        context.cluster.retention.make_room(partition, header.size)
        stored = log.append(header, records, partition.leader_epoch, append_time)
        if header.producer_id >= 0:
            partition.producers.note(header)
        partition.wake()
    else:
        append_time = header.max_timestamp
    return PartitionProduceResponse(
        index=partition.index,
        base_offset=stored,
        log_append_time_ms=-1 if append_time is None else append_time,
        log_start_offset=log.start,
    )


def _record_errors(
    partition: Partition, code: codes.ErrorCode, rejected: list[int], why: str
) -> PartitionProduceResponse:
    """Nothing of the batch is kept."""
    words = f"records {why}: topic partition {partition.topic.name}-{partition.index}"
    return PartitionProduceResponse(
        index=partition.index,
        error_code=code.number,
        base_offset=-1,
        log_start_offset=partition.log.start,
        record_errors=[BatchIndexAndErrorMessage(batch_index=n, batch_index_error_message=words) for n in rejected],
        error_message=f"One or more records have been rejected: {len(rejected)} {words}",
    )


def _refused_by_log(partition: Partition, refused: BrokerError) -> PartitionProduceResponse:
    """What the log itself refuses is answered with where it starts, except where Kafka does not."""
    told = refused.code not in (codes.MESSAGE_TOO_LARGE, codes.CORRUPT_MESSAGE)
    return PartitionProduceResponse(
        index=partition.index,
        error_code=refused.code.number,
        base_offset=-1,
        log_start_offset=partition.log.start if told else -1,
        error_message=str(refused),
    )


# Whether a transactional batch may be appended. Under protocol v1 its partition must have been added to the
# transaction; from Produce 12 on producing adds it (KIP-890). Asked once per transaction and partition, not per batch.
def verify(context: RequestContext, transactional_id: str | None, header: Header, partition: Partition) -> None:
    """Judge a transactional batch. Raises BrokerError INVALID_TXN_STATE, TRANSACTION_ABORTABLE,
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED, INVALID_PRODUCER_ID_MAPPING, INVALID_PRODUCER_EPOCH,
    CONCURRENT_TRANSACTIONS, NOT_ENOUGH_REPLICAS."""
    opened = header.producer_id in partition.log.aborted_index.open
    if transactional_id is None:
        raise BrokerError(  # Kafka's own choice of code, security or not
            codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, message="a transactional batch without a transactional id"
        )
    known = partition.producers.known.get(header.producer_id)
    if opened and known is not None and known.epoch == header.producer_epoch:
        return
    transactions, key = context.cluster.transactions, (partition.topic.name, partition.index)
    try:
        transaction = transactions.writer(transactional_id, header.producer_id, header.producer_epoch)
        if context.version >= ADDS_SINCE:
            transactions.add(transaction, [key])
        elif transaction.state != ONGOING or key not in transaction.partitions:
            raise BrokerError(
                codes.TRANSACTION_ABORTABLE if context.version >= ABORTABLE_SINCE else codes.INVALID_TXN_STATE,
                message="the partition was not added to the transaction",
            )
    except BrokerError as refused:
        raise BrokerError(_told(refused.code, context.version), message=str(refused)) from refused


def _told(code: ErrorCode, version: int) -> ErrorCode:
    """What producers expect instead of the coordinator's own codes."""
    if code is codes.PRODUCER_FENCED:
        return codes.INVALID_PRODUCER_EPOCH
    if code is codes.CONCURRENT_TRANSACTIONS and version < ADDS_SINCE:
        return codes.NOT_ENOUGH_REPLICAS  # retried by every client
    return code
