"""Metadata (API key 3): versions 0-13."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int16, Int32, Request, Response, Struct, Uuid, at


class MetadataRequestTopic(Struct):
    topic_id: Uuid = at("10+", ignorable=True, default=NO_ID)
    name: str | None = at(null="10+", default="")


class MetadataRequest(Request["MetadataResponse"], key=3, versions="0-13", flexible="9+"):
    """Which brokers are there, and which of them leads which partition? Null topics means all; v0 said it with none."""

    topics: list[MetadataRequestTopic] | None = at(null="1+", factory=list)
    allow_auto_topic_creation: bool = at("4+", default=True)
    include_cluster_authorized_operations: bool = at("8-10", default=False)
    include_topic_authorized_operations: bool = at("8+", default=False)


class MetadataResponseBroker(Struct):
    node_id: Int32 = 0
    host: str = ""
    port: Int32 = 0
    rack: str | None = at("1+", null="1+", ignorable=True, default=None)


class MetadataResponsePartition(Struct):
    error_code: Int16 = 0
    partition_index: Int32 = 0
    leader_id: Int32 = 0
    leader_epoch: Int32 = at("7+", ignorable=True, default=-1)
    replica_nodes: list[Int32] = at(factory=list)
    isr_nodes: list[Int32] = at(factory=list)
    offline_replicas: list[Int32] = at("5+", ignorable=True, factory=list)


class MetadataResponseTopic(Struct):
    error_code: Int16 = 0
    name: str | None = at(null="12+", default="")
    topic_id: Uuid = at("10+", ignorable=True, default=NO_ID)
    is_internal: bool = at("1+", ignorable=True, default=False)
    partitions: list[MetadataResponsePartition] = at(factory=list)
    topic_authorized_operations: Int32 = at("8+", default=-2147483648)


class MetadataResponse(Response, key=3, versions="0-13", flexible="9+"):
    """The answer to MetadataRequest."""

    throttle_time_ms: Int32 = at("3+", ignorable=True, default=0)
    brokers: list[MetadataResponseBroker] = at(factory=list)
    cluster_id: str | None = at("2+", null="2+", ignorable=True, default=None)
    controller_id: Int32 = at("1+", ignorable=True, default=-1)
    topics: list[MetadataResponseTopic] = at(factory=list)
    cluster_authorized_operations: Int32 = at("8-10", default=-2147483648)
    error_code: Int16 = at("13+", ignorable=True, default=0)
