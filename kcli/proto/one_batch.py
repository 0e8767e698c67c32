"""Fast path for a Produce request with one batch and its successful response, which is the common case with one record
per batch.

In the version of current brokers both are handled without creating any of their parts; anything else, including unusual
bytes, takes the general path. Parts are created on access.
"""

from __future__ import annotations

from struct import Struct as Layout

from kcli.proto import core
from kcli.proto.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from kcli.model import TopicPartition
    from kcli.proto.buffer import Buffer

VERSION = 13
_TOLD = Layout(">b16sbihqqqbbbbib")
COPIED = 64 * 1024  # bytes of records that are worth copying, so that everything is written in one piece


class OneBatchRequest(ProduceRequest):
    """The parts are created on access."""

    __slots__ = ("at", "records", "topic_id")

    def __init__(
        self,
        at: TopicPartition,
        topic_id: bytes,
        records: Buffer,
        acks: int,
        timeout_ms: int,
        transactional_id: str | None = None,
    ) -> None:
        self.at = at
        self.topic_id = topic_id
        self.records = records
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.transactional_id = transactional_id

    @classmethod
    def response(cls) -> type[OneBatchResponse]:
        return OneBatchResponse

    if not TYPE_CHECKING:  # replaces the declared field

        @property
        def topic_data(self):
            name, index = self.at
            parts = [PartitionProduceData(index=index, records=self.records)]
            return [TopicProduceData(name=name, topic_id=self.topic_id, partition_data=parts)]

    def frame(self, version: int, correlation_id: int, header: bytes) -> bytes | None:
        """See `Request.frame`."""
        if version != VERSION or self.transactional_id is not None or len(self.records) >= COPIED:
            return None
        try:
            return core.produce_frame(
                correlation_id, header, self.acks, self.timeout_ms, self.topic_id, self.at[1], self.records
            )
        except ValueError:
            return None  # the general path reports the error


class OneBatchResponse(ProduceResponse):
    """The batch is stored, and the response has nothing else. Other responses are read as `ProduceResponse`."""

    __slots__ = ("base_offset", "index", "log_append_time_ms", "log_start_offset", "topic_id")

    def __init__(self, topic_id: bytes, index: int, base: int, append_time: int, start: int, throttle: int) -> None:
        self.topic_id = topic_id
        self.index = index
        self.base_offset = base
        self.log_append_time_ms = append_time
        self.log_start_offset = start
        self.throttle_time_ms = throttle

    if not TYPE_CHECKING:  # replace the declared fields

        @property
        def responses(self):
            told = PartitionProduceResponse(
                index=self.index,
                base_offset=self.base_offset,
                log_append_time_ms=self.log_append_time_ms,
                log_start_offset=self.log_start_offset,
            )
            return [TopicProduceResponse(topic_id=self.topic_id, partition_responses=[told])]

        @property
        def node_endpoints(self):
            return []

    @classmethod
    def decode(cls, version: int, data: Buffer) -> Self:
        """See `Message.decode`."""
        if version == VERSION and len(data) == _TOLD.size:
            (topics, topic_id, parts, index, code, base, append, start, errors, message, tags, more, quiet, last) = (
                _TOLD.unpack(data)
            )
            if topics == parts == 2 and errors == 1 and not (code or message or tags or more or last):
                return cls(topic_id, index, base, append, start, quiet)
        return ProduceResponse.decode(version, data)  # type: ignore[return-value]
