"""A share group (KIP-932): its members, which may have the same partitions, and the group's state of each partition.

The coordinator's part is short: the members, and their partitions by Kafka's simple assignor. No member gives up
partitions first.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kcli.sandbox.cluster.topics import Partition, Topics
from kcli.sandbox.configs.named_configs import EARLIEST, GroupConfigs, started
from kcli.sandbox.groups.consumer.group import HEARTBEAT, SESSION
from kcli.sandbox.groups.share.partition import SharePartition
from kcli.sandbox.groups.states import DEAD, EMPTY, STABLE
from kcli.sandbox.log.log import offset_at

Place = tuple[bytes, int]

__all__ = ["HEARTBEAT", "ShareGroup", "ShareMember"]
ASSIGNOR = "simple"
COMMITTED = "read_committed"
JOIN, LEAVE = 0, -1
LONGEST_MEMBER = 36  # a UUID in hexadecimal


def check_member(request: ShareGroupHeartbeatRequest) -> None:
    """Raises BrokerError INVALID_REQUEST for a heartbeat that no group takes."""
    if not 0 < len(request.member_id) <= LONGEST_MEMBER:
        raise BrokerError(codes.INVALID_REQUEST, message=f"MemberId has 1 to {LONGEST_MEMBER} characters.")
    if request.member_epoch < LEAVE:
        raise BrokerError(codes.INVALID_REQUEST, message=f"MemberEpoch {request.member_epoch} is no epoch.")
    if request.member_epoch == JOIN and not request.subscribed_topic_names:
        raise BrokerError(codes.INVALID_REQUEST, message="SubscribedTopicNames must be set to join.")


class ShareMember:
    """`sent_assignment` is the assignment of the last response, None before it."""

    def __init__(self, member_id: str, client_id: str, host: str) -> None:
        self.id, self.client_id, self.host = member_id, client_id, host
        self.rack: str | None = None
        self.topics: list[str] = []
        self.epoch = self.previous = 0
        self.sent_assignment: set[Place] | None = None
        self.timer: asyncio.TimerHandle | None = None

    def stop_timers(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class ShareGroup:
    """Members by id, their targets, and the partitions by topic id and number."""

    kind = protocol_type = "share"
    assignor = ASSIGNOR

    def __init__(
        self, name: str, topics: Topics, configs: GroupConfigs, note: Callable[[str, dict[str, Any]], None]
    ) -> None:
        self.name = name
        self.members: dict[str, ShareMember] = {}
        self.epoch = 1  # the first member makes it 2, as in Kafka
        self.target: dict[str, set[Place]] = {}
        self.partitions: dict[Place, SharePartition] = {}
        self._topics = topics
        self._configs = configs
        self._write = note
        self._source: object = None
        self._closed = False

    @property
    def state(self) -> str:
        return DEAD if self._closed else STABLE if self.members else EMPTY

    # -- heartbeats -------------------------------------------------------------------------------------------------

    def heartbeat(self, request: ShareGroupHeartbeatRequest, client_id: str, host: str) -> ShareMember | None:
        """The member as it is now, None when it left. Raises BrokerError."""
        if request.member_epoch == LEAVE:
            self.remove(self._known(request.member_id))
            return None
        if request.member_epoch == JOIN:
            member = self.members.setdefault(request.member_id, ShareMember(request.member_id, client_id, host))
            member.sent_assignment = None
        else:
            member = self._known(request.member_id)
            if request.member_epoch not in (member.epoch, member.previous):
                raise BrokerError(codes.FENCED_MEMBER_EPOCH)
        if request.subscribed_topic_names is not None:
            member.topics = list(dict.fromkeys(request.subscribed_topic_names))
        member.rack = request.rack_id or member.rack
        self._look()
        if member.epoch != self.epoch:
            member.previous, member.epoch = member.epoch, self.epoch
        self.beat(member)
        return member

    def _known(self, member_id: str) -> ShareMember:
        if member_id not in self.members:
            raise BrokerError(codes.UNKNOWN_MEMBER_ID)
        return self.members[member_id]

    def _look(self) -> None:
        """Another epoch and other targets when the members, or what they read, have changed."""
        there = self._topics.by_name
        wanted = {each.id: sorted(name for name in each.topics if name in there) for each in self.members.values()}
        counts = {name: (there[name].id, len(there[name].partitions)) for some in wanted.values() for name in some}
        if (wanted, counts) == self._source:
            return
        self._source = (wanted, counts)
        self.epoch += 1
        self.target = {member: set() for member in wanted}
        for name, (topic_id, count) in counts.items():
            readers = sorted(member for member, topics in wanted.items() if name in topics)
            for turn in range(max(len(readers), count)):  # every member gets a partition, every partition gets a member
                self.target[readers[turn % len(readers)]].add((topic_id, turn % count))

    def beat(self, member: ShareMember) -> None:
        """A heartbeat of a member: its session starts again."""
        member.stop_timers()
        member.timer = asyncio.get_running_loop().call_later(SESSION, self.remove, member)

    def remove(self, member: ShareMember) -> None:
        """Gone. What it acquired is free when its locks run out, or when its connection ends."""
        if self.members.get(member.id) is member:
            del self.members[member.id]
            self.target.pop(member.id, None)
            member.stop_timers()
            self._look()

    def prepare(self) -> None:
        """A fault: every member's epoch is stale."""
        for member in self.members.values():
            member.epoch += 10
            member.previous = member.epoch

    def member_of(self, member_id: str, instance_id: str | None, generation: int) -> ShareMember:
        """Always raises BrokerError: a share group has no committed offsets."""
        raise BrokerError(codes.GROUP_ID_NOT_FOUND, message=f"Group {self.name} is a share group.")

    def subscribes(self, topic: str) -> bool:
        return any(topic in each.topics for each in self.members.values())

    # -- records ----------------------------------------------------------------------------------------------------

    def partition(self, partition: Partition) -> SharePartition:
        """The group's state of a partition, created at its first read, at the start or the end of the log."""
        place = (partition.topic.id, partition.index)
        share_partition = self.partitions.get(place)
        if share_partition is None:
            share_partition = self._create(partition, self._first(partition))
            self._note(share_partition)
        return share_partition

    def _first(self, partition: Partition) -> int:
        """Where a group without a state begins, by share.auto.offset.reset."""
        reset = self.config("share.auto.offset.reset")
        age = started(reset)
        if age is not None:
            offset, _, _ = offset_at(partition, int(time.time() * 1000) - age, committed=False)
            return offset if offset >= 0 else partition.log.end
        return partition.log.start if reset == EARLIEST else partition.log.end

    def _create(self, partition: Partition, start: int) -> SharePartition:
        share_partition = self.partitions[partition.topic.id, partition.index] = SharePartition(
            partition,
            start,
            lambda: int(self.config("share.record.lock.duration.ms")) / 1000,
            lambda: int(self.config("share.delivery.count.limit")),
            lambda: self.config("share.isolation.level") == COMMITTED,
            self._note,
        )
        return share_partition

    def config(self, name: str) -> str:
        return self._configs.value(self.name, name)

    def move(self, partition: Partition, start: int) -> None:
        """Begin here, whatever was before (AlterShareGroupOffsets)."""
        old = self.partitions.pop((partition.topic.id, partition.index), None)
        if old is not None:
            old.close()
        self._note(self._create(partition, start))

    def forget(self, topic_id: bytes) -> bool:
        """Nothing was ever read of this topic; whether there was anything to forget."""
        places = [place for place in self.partitions if place[0] == topic_id]
        for place in places:
            self.partitions.pop(place).close()
            gone = {"group": self.name, "id": place[0].hex(), "partition": place[1], "start": None}
            self._write("share", gone)
        return bool(places)

    def topic_deleted(self, topic: str) -> None:
        """Drop the state of a deleted topic."""
        topics = {each.partition.topic for each in self.partitions.values()}
        for each in topics:
            if each.name == topic:
                self.forget(each.id)

    def release(self, member_id: str, node: int) -> None:
        """Whatever the member has of partitions that this broker leads is free."""
        for each in list(self.partitions.values()):
            if each.partition.leader == node:
                each.release(member_id)

    def _note(self, state: SharePartition) -> None:
        facts = {
            "group": self.name,
            "id": state.partition.topic.id.hex(),
            "partition": state.partition.index,
            "start": state.start,
            "done": state.done(),
        }
        self._write("share", facts)

    def restore(self, facts: dict[str, Any]) -> None:
        """One partition as the journal knows it."""
        topic = self._topics.by_id.get(bytes.fromhex(facts["id"]))
        if topic is not None and facts["partition"] < len(topic.partitions):
            self._create(topic.partitions[facts["partition"]], 0).restore(facts["start"], facts["done"])

    def close(self) -> None:
        self._closed = True
        for member in self.members.values():
            member.stop_timers()
        for each in self.partitions.values():
            each.close()
