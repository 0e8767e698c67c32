"""AlterReplicaLogDirs (API key 34): versions 1-2."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Request, Response, Struct, at


class AlterReplicaLogDirTopic(Struct):
    name: str = ""
    partitions: list[Int32] = at(factory=list)


class AlterReplicaLogDir(Struct):
    path: str = ""
    topics: list[AlterReplicaLogDirTopic] = at(factory=list)


class AlterReplicaLogDirsRequest(Request["AlterReplicaLogDirsResponse"], key=34, versions="1-2", flexible="2+"):
    """Move replicas between the disks of a broker."""

    dirs: list[AlterReplicaLogDir] = at(factory=list)


class AlterReplicaLogDirPartitionResult(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0


class AlterReplicaLogDirTopicResult(Struct):
    topic_name: str = ""
    partitions: list[AlterReplicaLogDirPartitionResult] = at(factory=list)


class AlterReplicaLogDirsResponse(Response, key=34, versions="1-2", flexible="2+"):
    """The answer to AlterReplicaLogDirsRequest."""

    throttle_time_ms: Int32 = 0
    results: list[AlterReplicaLogDirTopicResult] = at(factory=list)
