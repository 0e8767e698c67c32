"""The smallest client that can ask one broker of a sandbox, and batches to send it."""

from __future__ import annotations

import asyncio
import struct
from typing import Any, Self

from kcli.proto.messages.api_versions import ApiVersionsRequest
from kcli.proto.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from kcli.proto.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from kcli.proto.session import ClientSession
from kcli.sandbox import Sandbox
from kcli.sandbox.log.batches import LAYOUT, checksum

VERSIONS = ApiVersionsRequest(client_software_name="peer", client_software_version="1")
"""What a client asks first; a broker refuses one without the name of its software."""


def batch(
    count: int = 1, *, producer: int = -1, epoch: int = -1, sequence: int = -1, attributes: int = 0,
    value: bytes = b"v", timestamp: int = 1000,
) -> bytes:  # fmt: skip
    """A record batch v2 of `count` records, one millisecond apart."""
    records = b""
    for n in range(count):
        record = b"\0" + bytes([2 * n, 2 * n, 1, 2 * len(value)]) + value + b"\0"
        records += bytes([2 * len(record)]) + record
    last = timestamp + count - 1
    head = struct.pack(">hiqqqhii", attributes, count - 1, timestamp, last, producer, epoch, sequence, count)
    return LAYOUT.pack(
        0, 49 + len(records), -1, 2, checksum(head + records), attributes, count - 1, timestamp, last, producer, epoch,
        sequence, count,
    ) + records  # fmt: skip


class Peer:
    """One connection to one broker of a sandbox, or to a port of this machine. `ask` raises EOFError when the broker
    closed it."""

    def __init__(self, sandbox: Sandbox | int, node: int = 1, client_id: str = "peer") -> None:
        if isinstance(sandbox, int):
            self._port = sandbox
        else:
            self._port = next(one.port for one in sandbox.brokers if one.node_id == node)
        self._session = ClientSession(client_id)

    async def __aenter__(self) -> Self:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 26)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def ask(self, request: Any, version: int | None = None) -> Any:
        version = type(request).versions.last if version is None else version
        self.writer.writelines(bytes(part) for part in self._session.send(request, version))
        size = int.from_bytes(await self.reader.readexactly(4), "big")
        return self._session.receive(await self.reader.readexactly(size))[1]

    async def produce(
        self, data: bytes, topic: str = "t", partition: int = 0, version: int = 12, acks: int = -1
    ) -> PartitionProduceResponse:
        request = ProduceRequest(
            acks=acks,
            topic_data=[
                TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=partition, records=data)])
            ],
        )
        answer = await self.ask(request, version)
        row: PartitionProduceResponse = answer.responses[0].partition_responses[0]
        return row

    async def fetch(
        self, offset: int = 0, topic: str = "t", partition: int = 0, version: int = 12, *, wait_ms: int = 0,
        limit: int = 1 << 20, isolation: int = 0, **asked: Any,
    ) -> PartitionData:  # fmt: skip
        request = FetchRequest(
            max_wait_ms=wait_ms, min_bytes=1, max_bytes=1 << 30, isolation_level=isolation,
            topics=[FetchTopic(topic=topic, partitions=[
                FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=limit, **asked)
            ])],
        )  # fmt: skip
        row: PartitionData = (await self.ask(request, version)).responses[0].partitions[0]
        return row
