"""ShareFetch 1-2 (KIP-932). 2 adds renewals and a strict limit of records. Acknowledgements first, then records: waits
until something can be acquired, something is wrong, or max_wait has passed."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.share_fetch import (
    AcquiredRecords,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)
from kcli.sandbox.answers.partitions import endpoints, hinted, led_here, name_of
from kcli.sandbox.answers.sharing import RENEWALS, acknowledge, must_know, switched_on
from kcli.sandbox.log.batches import corrupted
from kcli.sandbox.wire.request_context import RequestContext
from kcli.sandbox.wire.share_sessions import NEW, Place, ShareSession, asked

SHARE_FETCH = 78
BATCHES, RECORD_LIMIT = 0, 1  # acquire whole batches, or no more than the limit


async def answer(context: RequestContext, request: ShareFetchRequest) -> ShareFetchResponse:
    group, member = request.group_id or "", request.member_id or ""
    try:
        session = _session(context, request)
    except BrokerError as refused:
        return ShareFetchResponse(error_code=refused.code.number, error_message=str(refused))
    rows = _acknowledged(context, request)
    if session is None:
        context.share_sessions.end(group, member)
    elif not request.is_renew_ack and request.max_records != 0 and request.max_bytes > 0:
        await _fetched(context, request, session, rows)
    groups = context.cluster.groups
    leaders = {row.current_leader.leader_id for row in rows.values() if row.current_leader.leader_id >= 0}
    topics: dict[bytes, ShareFetchableTopicResponse] = {}
    for (topic_id, _), row in rows.items():
        topics.setdefault(topic_id, ShareFetchableTopicResponse(topic_id=topic_id)).partitions.append(row)
    return ShareFetchResponse(
        acquisition_lock_timeout_ms=int(groups.configs.value(group, "share.record.lock.duration.ms")),
        responses=list(topics.values()),
        node_endpoints=[
            NodeEndpoint(node_id=broker.node_id, host=context.cluster.settings.advertised_host, port=broker.port)
            for broker in endpoints(context, leaders)
        ],
    )


def _session(context: RequestContext, request: ShareFetchRequest) -> ShareSession | None:
    """The session of a valid fetch, None when the fetch ends it. Raises BrokerError."""
    switched_on(context)
    if not request.member_id:
        raise BrokerError(codes.INVALID_REQUEST, message="MemberId can't be empty.")
    scripted = context.refused(SHARE_FETCH)
    if scripted is not None:
        raise BrokerError(scripted)
    context.check(SHARE_FETCH, "group", request.group_id or "")
    if request.group_id is None:
        raise BrokerError(codes.INVALID_REQUEST, message="GroupId can't be null.")
    limits = (request.max_bytes, request.min_bytes, request.max_records, request.max_wait_ms)
    if context.version >= RENEWALS and request.is_renew_ack and any(limits):
        raise BrokerError(codes.INVALID_REQUEST, message="a renewal fetches nothing: all its limits are 0")
    session = context.share_sessions.fetching(context.peer, request, context.cluster.topics.by_id)
    must_know(context, (topic_id for topic_id, _ in asked(request)))
    if session is not None and session.nameless:
        raise BrokerError(codes.UNKNOWN_SERVER_ERROR, message="the session has an unknown topic")
    if session is not None and session.partitions and request.share_acquire_mode not in (BATCHES, RECORD_LIMIT):
        raise BrokerError(codes.UNKNOWN_SERVER_ERROR, message="an unknown way to acquire")
    return session


async def _fetched(
    context: RequestContext, request: ShareFetchRequest, session: ShareSession, rows: dict[Place, PartitionData]
) -> None:
    """Add what the fetch acquires; the first fetch of a session tells about each partition."""
    wanted = list(session.partitions)
    if context.cluster.groups.shared(request.group_id or "") is not None:
        await _acquire(context, request, session, rows)
        if request.share_session_epoch == NEW:
            for place in wanted:
                _row(rows, place)
    elif request.max_wait_ms > 0:  # Kafka finds out meanwhile that no heartbeat has prepared the partitions
        for place in wanted:
            _row(rows, place).error_code = codes.UNKNOWN_SERVER_ERROR.number


def _row(rows: dict[Place, PartitionData], place: Place) -> PartitionData:
    return rows.setdefault(place, PartitionData(partition_index=place[1], records=b""))


def _acknowledged(context: RequestContext, request: ShareFetchRequest) -> dict[Place, PartitionData]:
    rows: dict[Place, PartitionData] = {}
    if any(row.acknowledgement_batches for topic in request.topics for row in topic.partitions):
        for place, wrong in acknowledge(context, request).items():
            row = _row(rows, place)
            if wrong is not None:
                row.acknowledge_error_code, row.acknowledge_error_message = wrong.code.number, str(wrong)
    return rows


async def _acquire(
    context: RequestContext, request: ShareFetchRequest, session: ShareSession, rows: dict[Place, PartitionData]
) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + request.max_wait_ms / 1000
    while session.partitions and not _taken(context, request, session, rows):
        left = deadline - loop.time()
        if left <= 0:
            return
        waiter: asyncio.Future[None] = loop.create_future()
        watched = []
        for topic_id, index in session.partitions:
            topic = context.cluster.topics.by_id.get(topic_id)
            if topic is not None and index < len(topic.partitions):
                topic.partitions[index].waiting.add(waiter)
                watched.append(topic.partitions[index])
        try:
            await asyncio.wait([waiter], timeout=left)
        finally:
            for partition in watched:
                partition.waiting.discard(waiter)


def _taken(
    context: RequestContext, request: ShareFetchRequest, session: ShareSession, rows: dict[Place, PartitionData]
) -> bool:
    """Take what is free of one partition, the one that waited longest, as Kafka does; False when there is nothing to
    tell."""
    news = False
    for place in list(session.partitions):
        row = rows.get(place) or PartitionData(partition_index=place[1], records=b"")
        try:
            partition = led_here(context, SHARE_FETCH, name_of(context, "", place[0]), place[1])
            share = context.cluster.groups.sharing(request.group_id or "").partition(partition).led()
            records, taken = share.acquire(
                request.member_id or "",
                request.max_bytes,
                request.max_records,
                exact=request.share_acquire_mode == RECORD_LIMIT,
            )
        except BrokerError as wrong:
            _refused(context, place, row, wrong)
            rows[place] = row
            news = True
            continue
        if not taken:
            continue
        if context.cluster.faults.planned.take(
            "corrupt", SHARE_FETCH, context.broker.node_id, share.partition.topic.name, place[1]
        ):
            records = corrupted(records)
        row.records = records
        row.acquired_records = [
            AcquiredRecords(first_offset=first, last_offset=last, delivery_count=times) for first, last, times in taken
        ]
        rows[place] = row
        session.served(place)
        return True
    return news


def _refused(context: RequestContext, place: Place, row: PartitionData, wrong: BrokerError) -> None:
    row.error_code, row.error_message = wrong.code.number, str(wrong)
    topic = context.cluster.topics.by_id.get(place[0])
    hint = hinted(context, topic.name, place[1]) if topic and wrong.code is codes.NOT_LEADER_OR_FOLLOWER else None
    if hint is not None:
        row.current_leader = LeaderIdAndEpoch(leader_id=hint[0], leader_epoch=hint[1])
