"""DescribeLogDirs (API key 35): versions 1-5."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Int64, Request, Response, Struct, at


class DescribableLogDirTopic(Struct):
    topic: str = ""
    partitions: list[Int32] = at(factory=list)


class DescribeLogDirsRequest(Request["DescribeLogDirsResponse"], key=35, versions="1-5", flexible="2+"):
    """Sizes of replicas on the disks of a broker."""

    topics: list[DescribableLogDirTopic] | None = at(null="0+", factory=list)


class DescribeLogDirsPartition(Struct):
    partition_index: Int32 = 0
    partition_size: Int64 = 0
    offset_lag: Int64 = 0
    is_future_key: bool = False


class DescribeLogDirsTopic(Struct):
    name: str = ""
    partitions: list[DescribeLogDirsPartition] = at(factory=list)


class DescribeLogDirsResult(Struct):
    error_code: Int16 = 0
    log_dir: str = ""
    topics: list[DescribeLogDirsTopic] = at(factory=list)
    total_bytes: Int64 = at("4+", ignorable=True, default=-1)
    usable_bytes: Int64 = at("4+", ignorable=True, default=-1)
    is_cordoned: bool = at("5+", ignorable=True, default=False)


class DescribeLogDirsResponse(Response, key=35, versions="1-5", flexible="2+"):
    """The answer to DescribeLogDirsRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = at("3+", ignorable=True, default=0)
    results: list[DescribeLogDirsResult] = at(factory=list)
