"""ConsumerGroupHeartbeat 0-1. 1 adds patterns and requires member ids from clients (KIP-1082); at 0 the coordinator
assigns an id to a joining member without one."""

from __future__ import annotations

import os

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from kcli.sandbox.groups.consumer.group import HEARTBEAT, JOIN, check
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse:
    groups = context.cluster.groups
    if context.version == 0 and not request.member_id and request.member_epoch == JOIN:
        request.member_id = _new_id()
    try:
        switched_on(context)
        check(request)
        context.check_coordinator(68, request.group_id)
        group = groups.modern(request.group_id, make=request.member_epoch == 0, otherwise=codes.GROUP_ID_NOT_FOUND)
        member = group.heartbeat(request, context.client_id, context.host)
    except BrokerError as refused:
        return ConsumerGroupHeartbeatResponse(error_code=refused.code.number, error_message=str(refused))
    if member is None:
        return ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
    assignment = None
    if member.sent_assignment != member.assigned:
        member.sent_assignment = set(member.assigned)
        topics: dict[bytes, list[int]] = {}
        for topic_id, number in sorted(member.assigned):
            topics.setdefault(topic_id, []).append(number)
        rows = [TopicPartitions(topic_id=topic_id, partitions=numbers) for topic_id, numbers in topics.items()]
        assignment = Assignment(topic_partitions=rows)
    return ConsumerGroupHeartbeatResponse(
        member_id=member.id,
        member_epoch=member.epoch,
        heartbeat_interval_ms=round(HEARTBEAT * 1000),
        assignment=assignment,
    )


def _new_id() -> str:
    """As Kafka makes them: 16 random bytes as base64url."""
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(os.urandom(16)).decode().rstrip("=")


def switched_on(context: RequestContext) -> None:
    """Raises BrokerError UNSUPPORTED_VERSION below group.version 1, as Kafka does."""
    if context.cluster.features.level("group.version") < 1:
        raise BrokerError(codes.UNSUPPORTED_VERSION, message="the consumer protocol of KIP-848 is not enabled")
