"""CreatePartitions (API key 37): versions 0-3."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Request, Response, Struct, at


class CreatePartitionsAssignment(Struct):
    broker_ids: list[Int32] = at(factory=list)


class CreatePartitionsTopic(Struct):
    name: str = ""
    count: Int32 = 0
    assignments: list[CreatePartitionsAssignment] | None = at(null="0+", factory=list)


class CreatePartitionsRequest(Request["CreatePartitionsResponse"], key=37, versions="0-3", flexible="2+"):
    """Add partitions to topics."""

    topics: list[CreatePartitionsTopic] = at(factory=list)
    timeout_ms: Int32 = 0
    validate_only: bool = False


class CreatePartitionsTopicResult(Struct):
    name: str = ""
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)


class CreatePartitionsResponse(Response, key=37, versions="0-3", flexible="2+"):
    """The answer to CreatePartitionsRequest."""

    throttle_time_ms: Int32 = 0
    results: list[CreatePartitionsTopicResult] = at(factory=list)
