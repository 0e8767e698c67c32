"""Produce (API key 0): versions 3-13."""

from __future__ import annotations

from struct import Struct as Layout
from struct import error as out_of_range

from kcli.proto.schema import NO_ID, Int16, Int32, Int64, Records, Request, Response, Struct, Uuid, at
from kcli.proto.varint import encode_unsigned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from kcli.proto.buffer import Buffer

ONE_PARTITION = 13
"""The version that has a short way for a request and a response of one partition: what a producer sends most where each
record is a batch. All else takes the general way, and so do bytes that are in any way unusual."""
_ASKED = Layout(">bhib16sbi")  # no transactional id, acks, timeout, one topic, its id, one partition, its index
_TAGS = b"\0\0\0"  # none, of partition, topic and request
_TOLD = Layout(">b16sbihqqqbbbbib")


class PartitionProduceData(Struct):
    index: Int32 = 0
    records: Records | None = at(null="0+", default=None)


class TopicProduceData(Struct):
    name: str = at("0-12", ignorable=True, default="")
    topic_id: Uuid = at("13+", ignorable=True, default=NO_ID)
    partition_data: list[PartitionProduceData] = at(factory=list)


class ProduceRequest(Request["ProduceResponse"], key=0, versions="3-13", flexible="9+"):
    """Append record batches, at most one per partition."""

    transactional_id: str | None = at("3+", null="3+", default=None)
    acks: Int16 = 0
    timeout_ms: Int32 = 0
    topic_data: list[TopicProduceData] = at(factory=list)

    def encode(self, version: int) -> list[Buffer]:
        """See `Message.encode`."""
        if version == ONE_PARTITION and self.transactional_id is None and len(self.topic_data) == 1:
            (topic,) = self.topic_data
            if len(topic.partition_data) == 1 and len(topic.topic_id) == 16:
                (part,) = topic.partition_data
                if part.records is not None:
                    try:
                        head = _ASKED.pack(0, self.acks, self.timeout_ms, 2, topic.topic_id, 2, part.index)
                    except out_of_range:
                        return super().encode(version)
                    return [head + encode_unsigned(len(part.records) + 1), part.records, _TAGS]
        return super().encode(version)


class BatchIndexAndErrorMessage(Struct):
    batch_index: Int32 = at("8+", default=0)
    batch_index_error_message: str | None = at("8+", null="8+", default=None)


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = at("10+", default=-1)
    leader_epoch: Int32 = at("10+", default=-1)


class PartitionProduceResponse(Struct):
    index: Int32 = 0
    error_code: Int16 = 0
    base_offset: Int64 = 0
    log_append_time_ms: Int64 = at("2+", ignorable=True, default=-1)
    log_start_offset: Int64 = at("5+", ignorable=True, default=-1)
    record_errors: list[BatchIndexAndErrorMessage] = at("8+", ignorable=True, factory=list)
    error_message: str | None = at("8+", null="8+", ignorable=True, default=None)
    current_leader: LeaderIdAndEpoch = at("10+", tag=0, factory=LeaderIdAndEpoch)


class TopicProduceResponse(Struct):
    name: str = at("0-12", ignorable=True, default="")
    topic_id: Uuid = at("13+", ignorable=True, default=NO_ID)
    partition_responses: list[PartitionProduceResponse] = at(factory=list)


class NodeEndpoint(Struct):
    node_id: Int32 = at("10+", default=0)
    host: str = at("10+", default="")
    port: Int32 = at("10+", default=0)
    rack: str | None = at("10+", null="10+", default=None)


class ProduceResponse(Response, key=0, versions="3-13", flexible="9+"):
    """The answer to ProduceRequest."""

    responses: list[TopicProduceResponse] = at(factory=list)
    throttle_time_ms: Int32 = at("1+", ignorable=True, default=0)
    node_endpoints: list[NodeEndpoint] = at("10+", tag=0, factory=list)

    @classmethod
    def decode(cls, version: int, data: Buffer) -> Self:
        """See `Message.decode`."""
        if version == ONE_PARTITION and len(data) == _TOLD.size:
            (topics, topic_id, parts, index, code, base, append, start, errors, message, tags, more, quiet, last) = (
                _TOLD.unpack(data)
            )
            if topics == parts == 2 and errors == 1 and not (message or tags or more or last):
                told = PartitionProduceResponse(
                    index=index,
                    error_code=code,
                    base_offset=base,
                    log_append_time_ms=append,
                    log_start_offset=start,
                )
                answer = TopicProduceResponse(topic_id=topic_id, partition_responses=[told])
                return cls(responses=[answer], throttle_time_ms=quiet)
        return super().decode(version, data)
