"""ElectLeaders (API key 43): versions 0-2."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Request, Response, Struct, at


class TopicPartitions(Struct):
    topic: str = ""
    partitions: list[Int32] = at(factory=list)


class ElectLeadersRequest(Request["ElectLeadersResponse"], key=43, versions="0-2", flexible="2+"):
    """Elect leaders: the preferred ones, or whoever is left."""

    election_type: Int8 = at("1+", default=0)
    topic_partitions: list[TopicPartitions] | None = at(null="0+", factory=list)
    timeout_ms: Int32 = 60000


class PartitionResult(Struct):
    partition_id: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")


class ReplicaElectionResult(Struct):
    topic: str = ""
    partition_result: list[PartitionResult] = at(factory=list)


class ElectLeadersResponse(Response, key=43, versions="0-2", flexible="2+"):
    """The answer to ElectLeadersRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = at("1+", default=0)
    replica_election_results: list[ReplicaElectionResult] = at(factory=list)
