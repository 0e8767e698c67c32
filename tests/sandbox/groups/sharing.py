"""What a share group gets of a cluster, a sandbox or a real Kafka: how much an answer has, and what isolation hides."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable
from typing import Any

import kcli
from kcli import codes
from kcli.model import Group
from kcli.proto.messages.share_fetch import FetchPartition, FetchTopic, PartitionData, ShareFetchRequest
from kcli.proto.messages.share_group_heartbeat import ShareGroupHeartbeatRequest

PARTITIONS = 3


class Member:
    """A member that fetches by hand."""

    def __init__(self, client: kcli.Client, group: str, topic: str) -> None:
        self._client, self._group, self._topic = client, group, topic
        self._id, self._epoch = str(uuid.uuid4()), 0

    async def join(self) -> None:
        request = ShareGroupHeartbeatRequest(
            group_id=self._group, member_id=self._id, member_epoch=0, subscribed_topic_names=[self._topic]
        )
        cluster = self._client.cluster
        async with asyncio.timeout(30):
            while (answer := await (await cluster.coordinator(Group(self._group))).ask(request)).error_code:
                assert codes.of(answer.error_code).retriable, answer
                cluster.coordinator_moved(Group(self._group))
                await asyncio.sleep(0.2)

    async def fetch(self, max_bytes: int, wait: float = 0.5) -> list[PartitionData]:
        """The partitions of one answer that have records."""
        broker = await self._client.cluster.leader(kcli.TopicPartition(self._topic, 0))
        named = FetchTopic(
            topic_id=self._client.cluster.topic_id(self._topic),
            partitions=[FetchPartition(partition_index=number) for number in range(PARTITIONS)],
        )
        answer = await broker.ask(
            ShareFetchRequest(
                group_id=self._group,
                member_id=self._id,
                share_session_epoch=self._epoch,
                max_wait_ms=int(wait * 1000),
                min_bytes=1,
                max_bytes=max_bytes,
                max_records=500,
                batch_size=500,
                topics=[named] if self._epoch == 0 else [],
            )
        )
        assert answer.error_code == 0, answer
        self._epoch += 1
        return [row for topic in answer.responses for row in topic.partitions if row.acquired_records]


async def configure(client: kcli.Client, group: str, **configs: str) -> None:
    rows = {"share.auto.offset.reset": "earliest", **configs}
    operations = [kcli.Operation(name=name.replace("_", "."), value=value) for name, value in rows.items()]
    await client.admin.alter_configs({kcli.Resource("group", group): operations})


async def answers(bootstrap: str, topic: str, *, most: int = 1) -> list[int]:
    """Records in every partition, read by one member: nothing comes with max_bytes=0, at `most` so many partitions with
    an answer. The partitions in the order in which they came."""
    async with kcli.Client(bootstrap) as client:
        await client.admin.create_topics([kcli.NewTopic(topic=topic, partitions=PARTITIONS)])
        await configure(client, topic)
        async with client.producer() as producer:
            for number in range(PARTITIONS):
                await producer.send(topic, b"v" * 1000, partition=number)
        member = Member(client, topic, topic)
        await member.join()
        for _ in range(3):
            assert await member.fetch(0) == []
        came: list[int] = []
        async with asyncio.timeout(30):
            while len(came) < PARTITIONS:
                rows = await member.fetch(1_000_000)
                assert len(rows) <= most
                came += [row.partition_index for row in rows]
        return came


async def delivered(bootstrap: str, topic: str, isolation: str) -> list[bytes]:
    """What a share group is given of records of which some were aborted, and some are of an open transaction."""
    async with kcli.Client(bootstrap) as client:
        await client.admin.create_topics([kcli.NewTopic(topic=topic, partitions=1)])
        await configure(client, topic, **{"share.isolation.level": isolation})
        async with client.producer(kcli.ProducerSettings(transactional_id=topic)) as producer:
            for value in (b"committed", b"aborted", b"again"):
                await producer.begin()
                for number in range(2):
                    await producer.send(topic, value + b"%d" % number)
                    await producer.flush()
                await (producer.abort() if value == b"aborted" else producer.commit())
            await producer.begin()
            await producer.send(topic, b"open")
            await producer.flush()
            got: list[bytes] = []
            wanted = 4 if isolation == "read_committed" else 7
            share = kcli.ShareSettings(group=topic)
            async with client.share_consumer(kcli.ConsumerSettings(), share) as consumer:
                await consumer.subscribe([topic])
                async with asyncio.timeout(40):
                    while len(got) < wanted:
                        got += values(await consumer.poll(1.0))
                got += values(await consumer.poll(1.0))
            return got


def values(fetched: Iterable[Any]) -> list[bytes]:
    return [record.value for piece in fetched for batch in piece.batches for record in batch]


GIVEN = {
    "read_committed": [b"committed0", b"committed1", b"again0", b"again1"],
    "read_uncommitted": [b"committed0", b"committed1", b"aborted0", b"aborted1", b"again0", b"again1", b"open"],
}
