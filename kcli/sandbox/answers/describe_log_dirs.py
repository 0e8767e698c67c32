"""DescribeLogDirs 1-5 (KIP-113). All replicas are as large as the one log that there is, but for those that are being
filled."""

from __future__ import annotations

from kcli import codes
from kcli.acls import CLUSTER
from kcli.proto.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from kcli.sandbox.cluster.topics import Partition
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    if not context.may("describe", "cluster", CLUSTER):
        return DescribeLogDirsResponse(error_code=codes.CLUSTER_AUTHORIZATION_FAILED.number)
    node = context.broker.node_id
    asked = None if request.topics is None else {topic.topic: set(topic.partitions) for topic in request.topics}
    results = [DescribeLogDirsResult(log_dir=path) for path in context.cluster.settings.directories(node)]
    for name, topic in sorted(context.cluster.topics.by_name.items()):
        if asked is not None and name not in asked:
            continue
        for disk, result in enumerate(results):
            here = [
                row
                for index, partition in enumerate(topic.partitions)
                if node in partition.replicas and (asked is None or index in asked[name])
                for row in _rows(context, partition, node, disk)
            ]
            if here:
                result.topics.append(DescribeLogDirsTopic(name=name, partitions=here))
    return DescribeLogDirsResponse(results=results)


def _rows(context: RequestContext, partition: Partition, node: int, disk: int) -> list[DescribeLogDirsPartition]:
    """The replica, or the one that will take its place, as far as it is on this disk."""
    rows, moves = [], context.cluster.moves
    if partition.disks.get(node, 0) == disk:
        move = moves.by_partition.get(partition)
        size = partition.log.size
        if move is not None and node in move.copied:
            size = min(int(move.copied[node]), size)
        rows.append(DescribeLogDirsPartition(partition_index=partition.index, partition_size=size))
    future = moves.disks.get((partition, node))
    if future is not None and future.to == disk:
        size = min(int(future.copied), partition.log.size)
        rows.append(DescribeLogDirsPartition(partition_index=partition.index, partition_size=size, is_future_key=True))
    return rows
