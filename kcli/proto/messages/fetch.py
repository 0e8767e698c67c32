"""Fetch (API key 1): versions 4-18."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int8, Int16, Int32, Int64, Records, Request, Response, Struct, Uuid, at


class ReplicaState(Struct):
    replica_id: Int32 = at("15+", default=-1)
    replica_epoch: Int64 = at("15+", default=-1)


class FetchPartition(Struct):
    partition: Int32 = 0
    current_leader_epoch: Int32 = at("9+", ignorable=True, default=-1)
    fetch_offset: Int64 = 0
    last_fetched_epoch: Int32 = at("12+", default=-1)
    log_start_offset: Int64 = at("5+", ignorable=True, default=-1)
    partition_max_bytes: Int32 = 0
    replica_directory_id: Uuid = at("17+", tag=0, ignorable=True, default=NO_ID)
    high_watermark: Int64 = at("18+", tag=1, ignorable=True, default=9223372036854775807)


class FetchTopic(Struct):
    topic: str = at("0-12", ignorable=True, default="")
    topic_id: Uuid = at("13+", ignorable=True, default=NO_ID)
    partitions: list[FetchPartition] = at(factory=list)


class ForgottenTopic(Struct):
    topic: str = at("7-12", ignorable=True, default="")
    topic_id: Uuid = at("13+", ignorable=True, default=NO_ID)
    partitions: list[Int32] = at("7+", factory=list)


class FetchRequest(Request["FetchResponse"], key=1, versions="4-18", flexible="12+"):
    """Read record batches from given offsets, within a fetch session if wanted (KIP-227)."""

    cluster_id: str | None = at("12+", null="12+", tag=0, ignorable=True, default=None)
    replica_id: Int32 = at("0-14", default=-1)
    replica_state: ReplicaState = at("15+", tag=1, factory=ReplicaState)
    max_wait_ms: Int32 = 0
    min_bytes: Int32 = 0
    max_bytes: Int32 = at("3+", ignorable=True, default=2147483647)
    isolation_level: Int8 = at("4+", ignorable=True, default=0)
    session_id: Int32 = at("7+", ignorable=True, default=0)
    session_epoch: Int32 = at("7+", ignorable=True, default=-1)
    topics: list[FetchTopic] = at(factory=list)
    forgotten_topics_data: list[ForgottenTopic] = at("7+", factory=list)
    rack_id: str = at("11+", ignorable=True, default="")


class EpochEndOffset(Struct):
    epoch: Int32 = at("12+", default=-1)
    end_offset: Int64 = at("12+", default=-1)


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = at("12+", default=-1)
    leader_epoch: Int32 = at("12+", default=-1)


class SnapshotId(Struct):
    end_offset: Int64 = -1
    epoch: Int32 = -1


class AbortedTransaction(Struct):
    producer_id: Int64 = at("4+", default=0)
    first_offset: Int64 = at("4+", default=0)


class PartitionData(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    high_watermark: Int64 = 0
    last_stable_offset: Int64 = at("4+", ignorable=True, default=-1)
    log_start_offset: Int64 = at("5+", ignorable=True, default=-1)
    diverging_epoch: EpochEndOffset = at("12+", tag=0, factory=EpochEndOffset)
    current_leader: LeaderIdAndEpoch = at("12+", tag=1, factory=LeaderIdAndEpoch)
    snapshot_id: SnapshotId = at("12+", tag=2, factory=SnapshotId)
    aborted_transactions: list[AbortedTransaction] | None = at("4+", null="4+", ignorable=True, factory=list)
    preferred_read_replica: Int32 = at("11+", default=-1)
    records: Records | None = at(null="0+", default=None)


class FetchableTopicResponse(Struct):
    topic: str = at("0-12", ignorable=True, default="")
    topic_id: Uuid = at("13+", ignorable=True, default=NO_ID)
    partitions: list[PartitionData] = at(factory=list)


class NodeEndpoint(Struct):
    node_id: Int32 = at("16+", default=0)
    host: str = at("16+", default="")
    port: Int32 = at("16+", default=0)
    rack: str | None = at("16+", null="16+", default=None)


class FetchResponse(Response, key=1, versions="4-18", flexible="12+"):
    """The answer to FetchRequest."""

    throttle_time_ms: Int32 = at("1+", ignorable=True, default=0)
    error_code: Int16 = at("7+", ignorable=True, default=0)
    session_id: Int32 = at("7+", default=0)
    responses: list[FetchableTopicResponse] = at(factory=list)
    node_endpoints: list[NodeEndpoint] = at("16+", tag=0, factory=list)
