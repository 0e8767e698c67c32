"""A KIP-848 coordinator in memory: it wants what a test wants."""

from __future__ import annotations

from typing import Any

from kcli import codes
from kcli.proto.messages import consumer_group_heartbeat as kip848
from kcli.proto.messages import metadata
from tests.consumer.group.fakes import FakeKafka, Member

Place = tuple[bytes, int]


def places(*partitions: int, topic: str = "t") -> frozenset[Place]:
    return frozenset((topic.encode().rjust(16, b"_"), one) for one in partitions)


class Fake848(FakeKafka):
    """`target` is what its member shall own; `beats` are the heartbeats as they came, `owned` what the last report
    said. Topics in `hidden` are not known to the client before it asks for them by id."""

    def __init__(self, topics: dict[str, int] | None = None) -> None:
        super().__init__(topics)
        self.target = places(0, 1, 2, 3)
        self.told: frozenset[Place] | None = None
        self.owned: frozenset[Place] = frozenset()
        self.beats: list[kip848.ConsumerGroupHeartbeatRequest] = []
        self.hidden: set[str] = set()
        self.interval = 10
        self.message: str | None = None

    def topic_name(self, topic_id: bytes) -> str | None:
        name = topic_id.lstrip(b"_").decode()
        return name if name in self.counts and name not in self.hidden else None

    def want(self, *partitions: int) -> None:
        """Another target, in another epoch."""
        self.target, self.generation = places(*partitions), self.generation + 1

    def _judge(self, member_id: str, generation: int) -> int:
        if member_id not in self.members:
            return codes.UNKNOWN_MEMBER_ID.number
        return 0 if generation == self.generation else codes.STALE_MEMBER_EPOCH.number

    async def _ConsumerGroupHeartbeat(self, r: kip848.ConsumerGroupHeartbeatRequest, code: int) -> Any:
        self.beats.append(r)
        if code:
            return kip848.ConsumerGroupHeartbeatResponse(error_code=code, error_message=self.message)
        if r.member_epoch < 0:
            self.members.pop(r.member_id, None)
            return kip848.ConsumerGroupHeartbeatResponse(member_id=r.member_id, member_epoch=r.member_epoch)
        if r.member_epoch == 0:
            assert r.topic_partitions == []
            assert r.rebalance_timeout_ms > 0
            self.members[r.member_id] = Member({}, r.instance_id)
            self.generation += 1
            self.told = None
        if r.topic_partitions is not None:
            self.owned = frozenset((one.topic_id, number) for one in r.topic_partitions for number in one.partitions)
            self.log.append(f"owns {sorted(number for _, number in self.owned)}")
        assignment = None
        if self.told != self.target:
            self.told = self.target
            topics: dict[bytes, list[int]] = {}
            for topic_id, number in sorted(self.target):
                topics.setdefault(topic_id, []).append(number)
            assignment = kip848.Assignment(
                topic_partitions=[kip848.TopicPartitions(topic_id=one, partitions=own) for one, own in topics.items()]
            )
        return kip848.ConsumerGroupHeartbeatResponse(
            member_id=r.member_id, member_epoch=self.generation, heartbeat_interval_ms=self.interval,
            assignment=assignment,
        )  # fmt: skip

    async def _Metadata(self, r: metadata.MetadataRequest, code: int) -> Any:
        if r.topics and r.topics[0].name is None:
            rows = []
            for asked in r.topics:
                name = asked.topic_id.lstrip(b"_").decode()
                there = name in self.counts
                rows.append(
                    metadata.MetadataResponseTopic(
                        error_code=0 if there else codes.UNKNOWN_TOPIC_ID.number, name=name if there else None,
                        topic_id=asked.topic_id,
                    )
                )  # fmt: skip
            return metadata.MetadataResponse(topics=rows)
        return await super()._Metadata(r, code)
