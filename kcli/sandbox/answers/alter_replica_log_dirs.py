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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.wire.broker import Call


async def answer(call: Call, request: AlterReplicaLogDirsRequest) -> AlterReplicaLogDirsResponse:
    found: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for place in request.dirs:
        for topic in place.topics:
            for index in topic.partitions:
                code = _one(call, place.path, topic.name, index)
                row = AlterReplicaLogDirPartitionResult(partition_index=index, error_code=code)
                found.setdefault(topic.name, []).append(row)
    results = [AlterReplicaLogDirTopicResult(topic_name=name, partitions=some) for name, some in found.items()]
    return AlterReplicaLogDirsResponse(results=results)


def _one(call: Call, path: str, name: str, index: int) -> int:
    node = call.broker.node_id
    try:
        scripted = call.refused(34, name, index)
        if scripted is not None:
            raise BrokerError(scripted)
        disks = call.sandbox.settings.directories(node)
        if path not in disks:
            raise BrokerError(codes.LOG_DIR_NOT_FOUND)
        call.sandbox.moves.to_disk(call.sandbox.topics.partition(name, index), node, disks.index(path))
    except BrokerError as refused:
        return refused.code.number
    return 0
