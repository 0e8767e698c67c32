"""AlterReplicaLogDirs 1-2 (KIP-113)."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: AlterReplicaLogDirsRequest) -> AlterReplicaLogDirsResponse:
    rows: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for place in request.dirs:
        for topic in place.topics:
            for index in topic.partitions:
                code = _one(context, place.path, topic.name, index)
                row = AlterReplicaLogDirPartitionResult(partition_index=index, error_code=code)
                rows.setdefault(topic.name, []).append(row)
    results = [AlterReplicaLogDirTopicResult(topic_name=name, partitions=some) for name, some in rows.items()]
    return AlterReplicaLogDirsResponse(results=results)


def _one(context: RequestContext, path: str, name: str, index: int) -> int:
    node = context.broker.node_id
    try:
        scripted = context.refused(34, name, index)
        if scripted is not None:
            raise BrokerError(scripted)
        disks = context.cluster.settings.directories(node)
        if path not in disks:
            raise BrokerError(codes.LOG_DIR_NOT_FOUND)
        context.cluster.moves.to_disk(context.cluster.topics.partition(name, index), node, disks.index(path))
    except BrokerError as refused:
        return refused.code.number
    return 0
