"""ConsumerGroupDescribe 0-1. Classic groups are not found here."""

from __future__ import annotations

from collections.abc import Iterable

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)
from kcli.sandbox.access.acls import operations
from kcli.sandbox.answers.sharing import by_topic
from kcli.sandbox.wire.request_context import RequestContext

CLASSIC, CONSUMER = 0, 1  # the protocol of a member


async def answer(context: RequestContext, request: ConsumerGroupDescribeRequest) -> ConsumerGroupDescribeResponse:
    groups = [_one(context, name) for name in request.group_ids]
    for group in groups:
        if not group.error_code and request.include_authorized_operations:
            group.authorized_operations = operations(context, "group", group.group_id)
    return ConsumerGroupDescribeResponse(groups=groups)


def _one(context: RequestContext, name: str) -> DescribedGroup:
    try:
        context.check_coordinator(69, name)
        group = context.cluster.groups.modern(name, make=False, otherwise=codes.GROUP_ID_NOT_FOUND)
    except BrokerError as refused:
        return DescribedGroup(group_id=name, error_code=refused.code.number, error_message=str(refused))
    settled = not group.members and context.cluster.settings.kafka_version != "4.3"  # an empty group needs no targets
    return DescribedGroup(
        group_id=name,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.epoch if settled else group.assignment_epoch,
        assignor_name=group.assignor,
        members=[
            Member(
                member_id=member.id,
                instance_id=member.instance_id,
                rack_id=member.rack,
                member_epoch=member.epoch,
                client_id=member.client_id,
                client_host=member.host,
                subscribed_topic_names=member.topics,
                subscribed_topic_regex=member.regex,
                assignment=_rows(context, member.assigned),
                target_assignment=_rows(context, group.target[member.id]),
                member_type=CONSUMER if member.classic is None else CLASSIC,
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
