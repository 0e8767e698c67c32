"""DescribeLogDirs 1-5 (KIP-113). Each node has one directory; all its replicas are as large as the one log that
there is."""

from __future__ import annotations

from kcli.proto.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.broker import Call


async def answer(call: Call, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    node = call.broker.node_id
    asked = None if request.topics is None else {one.topic: set(one.partitions) for one in request.topics}
    result = DescribeLogDirsResult(log_dir=f"{call.sandbox.place}/{node}")
    for name, topic in sorted(call.sandbox.topics.by_name.items()):
        if asked is not None and name not in asked:
            continue
        here = [
            DescribeLogDirsPartition(partition_index=index, partition_size=partition.log.size)
            for index, partition in enumerate(topic.partitions)
            if node in partition.replicas and (asked is None or index in asked[name])
        ]
        if here:
            result.topics.append(DescribeLogDirsTopic(name=name, partitions=here))
    return DescribeLogDirsResponse(results=[result])
