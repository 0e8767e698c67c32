"""ShareGroupDescribe 1. Groups of other kinds are not found here."""

from __future__ import annotations

from collections.abc import Iterable

from kcli.errors import BrokerError
from kcli.proto.messages.share_group_describe import (
    Assignment,
    DescribedGroup,
    Member,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    TopicPartitions,
)
from kcli.sandbox.access.acls import operations
from kcli.sandbox.answers.sharing import by_topic, existing
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: ShareGroupDescribeRequest) -> ShareGroupDescribeResponse:
    groups = [_one(context, name) for name in request.group_ids]
    for group in groups:
        if not group.error_code and request.include_authorized_operations:
            group.authorized_operations = operations(context, "group", group.group_id)
    return ShareGroupDescribeResponse(groups=groups)


def _one(context: RequestContext, name: str) -> DescribedGroup:
    try:
        group = existing(context, 77, name)
    except BrokerError as refused:
        return DescribedGroup(group_id=name, error_code=refused.code.number, error_message=str(refused))
    return DescribedGroup(
        group_id=name,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.epoch,
        assignor_name=group.assignor,
        members=[
            Member(
                member_id=member.id,
                rack_id=member.rack,
                member_epoch=member.epoch,
                client_id=member.client_id,
                client_host=member.host,
                subscribed_topic_names=member.topics,
                assignment=_rows(context, group.target[member.id]),
            )
            for member in group.members.values()
        ],
    )


def _rows(context: RequestContext, places: Iterable[tuple[bytes, int]]) -> Assignment:
    known = context.cluster.topics.by_id
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, topic_name=known[topic_id].name, partitions=numbers)
            for topic_id, numbers in by_topic(places).items()
            if topic_id in known
        ]
    )
