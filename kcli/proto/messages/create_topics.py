"""CreateTopics (API key 19): versions 2-7."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int8, Int16, Int32, Request, Response, Struct, Uuid, at


class CreatableReplicaAssignment(Struct):
    partition_index: Int32 = 0
    broker_ids: list[Int32] = at(factory=list)


class CreatableTopicConfig(Struct):
    name: str = ""
    value: str | None = at(null="0+", default="")


class CreatableTopic(Struct):
    name: str = ""
    num_partitions: Int32 = 0
    replication_factor: Int16 = 0
    assignments: list[CreatableReplicaAssignment] = at(factory=list)
    configs: list[CreatableTopicConfig] = at(factory=list)


class CreateTopicsRequest(Request["CreateTopicsResponse"], key=19, versions="2-7", flexible="5+"):
    """Create topics."""

    topics: list[CreatableTopic] = at(factory=list)
    timeout_ms: Int32 = 60000
    validate_only: bool = at("1+", default=False)


class CreatableTopicConfigs(Struct):
    name: str = at("5+", default="")
    value: str | None = at("5+", null="5+", default="")
    read_only: bool = at("5+", default=False)
    config_source: Int8 = at("5+", ignorable=True, default=-1)
    is_sensitive: bool = at("5+", default=False)


class CreatableTopicResult(Struct):
    name: str = ""
    topic_id: Uuid = at("7+", ignorable=True, default=NO_ID)
    error_code: Int16 = 0
    error_message: str | None = at("1+", null="0+", ignorable=True, default="")
    topic_config_error_code: Int16 = at("5+", tag=0, ignorable=True, default=0)
    num_partitions: Int32 = at("5+", ignorable=True, default=-1)
    replication_factor: Int16 = at("5+", ignorable=True, default=-1)
    configs: list[CreatableTopicConfigs] | None = at("5+", null="5+", ignorable=True, factory=list)


class CreateTopicsResponse(Response, key=19, versions="2-7", flexible="5+"):
    """The answer to CreateTopicsRequest."""

    throttle_time_ms: Int32 = at("2+", ignorable=True, default=0)
    topics: list[CreatableTopicResult] = at(factory=list)
