"""OffsetCommit 2-10. 6 adds leader epochs, 7 static members, 10 topic ids. Committed offsets do not expire here."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.model import OffsetAndMetadata
from kcli.proto.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kcli.sandbox.answers.partitions import name_of
from kcli.sandbox.wire.request_context import RequestContext

EPOCHS, BY_ID = 9, 10  # the first versions with member epochs, with topic ids


async def answer(context: RequestContext, request: OffsetCommitRequest) -> OffsetCommitResponse:
    refused: BrokerError | None = None
    groups = context.cluster.groups
    try:
        context.check_coordinator(8, request.group_id)
        groups.may_commit(
            request.group_id,
            request.member_id,
            request.group_instance_id,
            request.generation_id_or_member_epoch,
            epochs=context.version >= EPOCHS,
        )
    except BrokerError as wrong:
        refused = wrong
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    _one(context, request.group_id, topic, partition, refused) for partition in topic.partitions
                ],
            )
            for topic in request.topics
            if topic.partitions
        ]
    )


def _one(
    context: RequestContext,
    group: str,
    topic: OffsetCommitRequestTopic,
    asked: OffsetCommitRequestPartition,
    refused: BrokerError | None,
) -> OffsetCommitResponsePartition:
    code = 0
    try:
        if refused is not None:
            raise refused
        committed = OffsetAndMetadata(
            asked.committed_offset, asked.committed_leader_epoch, asked.committed_metadata or ""
        )
        name = name_of(context, topic.name, topic.topic_id, by_id=context.version >= BY_ID)
        scripted = context.refused(8, name, asked.partition_index)
        if scripted is not None:
            raise BrokerError(scripted)
        context.cluster.groups.commit(group, name, asked.partition_index, committed)
    except BrokerError as wrong:
        code = wrong.code.number
    return OffsetCommitResponsePartition(partition_index=asked.partition_index, error_code=code)
