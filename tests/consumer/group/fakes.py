"""A classic coordinator in memory: Cluster and Broker in one, with scripted errors. Every message is encoded and
decoded at the version both sides know, so what cannot be said on the wire cannot pass here either."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from kcli import codes
from kcli.model import Node, OffsetAndMetadata, TopicPartition
from kcli.proto.messages import heartbeat, join_group, leave_group, metadata, offset_commit, offset_fetch, sync_group


class Member:
    def __init__(self, metadata: dict[str, bytes], instance: str | None) -> None:
        self.metadata = metadata
        self.instance = instance
        self.joining: asyncio.Future[None] | None = None


class FakeKafka:
    """One broker that coordinates one group. `errors["JoinGroup"]` is a queue of codes to answer first; an exception
    in it is raised, an asyncio.Event is waited for before the real answer. `log` is what was asked, in order."""

    def __init__(self, topics: dict[str, int] | None = None, *, highest: dict[int, int] | None = None) -> None:
        self.counts = {"t": 4} if topics is None else topics
        self.highest = highest or {}
        self.errors: dict[str, deque[Any]] = {}
        self.log: list[str] = []
        self.asked: list[Any] = []
        self.members: dict[str, Member] = {}
        self.generation = 0
        self.state = "empty"
        self.leader = ""
        self.protocol = ""
        self.shares: dict[str, bytes] = {}
        self.synced = asyncio.Event()
        self.committed: dict[TopicPartition, OffsetAndMetadata] = {}
        self.moves = 0
        self.skip_assignment = False
        self._next = 0

    # -- Cluster ---

    async def coordinator(self, of: Any) -> Any:
        return self

    async def anyone(self) -> Any:
        return self

    def coordinator_moved(self, of: Any) -> None:
        self.moves += 1

    def topic_id(self, topic: str) -> bytes:
        return topic.encode().rjust(16, b"_")

    async def refresh(self, topics: Any = None) -> None:
        self.log.append("refresh")

    async def nodes(self) -> list[Node]:
        return [Node(0, "h", 1, None)]

    # -- Broker ---

    async def versions(self) -> dict[int, tuple[int, int]]:
        return {key: (0, self.highest.get(key, 30)) for key in range(100)}

    async def ask(self, request: Any, *, timeout: float | None = None, lane: str | None = None) -> Any:
        name = type(request).__name__.removesuffix("Request")
        kind = type(request)
        version = min(kind.versions.last, self.highest.get(request.api_key, 30))
        request = kind.decode(version, b"".join(bytes(part) for part in request.encode(version)))
        self.log.append(name)
        self.asked.append(request)
        scripted = self.errors.get(name)
        code = 0
        if scripted:
            step = scripted.popleft()
            if isinstance(step, Exception):
                raise step
            if isinstance(step, asyncio.Event):
                await step.wait()
            else:
                code = step.number
                if step == codes.UNKNOWN_MEMBER_ID:
                    self.members.pop(getattr(request, "member_id", ""), None)
        await asyncio.sleep(0)
        answer = await getattr(self, f"_{name}")(request, code)
        return type(answer).decode(version, b"".join(bytes(part) for part in answer.encode(version)))

    # -- the group ---

    def rebalance(self) -> None:
        """Everybody has to join again."""
        if self.state in ("stable", "syncing"):
            self.state = "preparing"
            self.synced.set()

    def count(self, name: str) -> int:
        return self.log.count(name)

    def fence(self, member_id: str) -> None:
        """Forget a member, as when its session ended."""
        self._forget(member_id)
        self.rebalance()

    def _forget(self, member_id: str) -> None:
        """Also a join that waits is answered, as a broker does."""
        gone = self.members.pop(member_id, None)
        if gone is not None and gone.joining is not None and not gone.joining.done():
            gone.joining.set_result(None)

    async def _JoinGroup(self, r: join_group.JoinGroupRequest, code: int) -> Any:
        if code == codes.MEMBER_ID_REQUIRED.number or (not r.member_id and r.group_instance_id is None and not code):
            self._next += 1
            return join_group.JoinGroupResponse(
                error_code=codes.MEMBER_ID_REQUIRED.number, member_id=f"m{self._next}", protocol_name=None
            )
        protocols = {one.name: one.metadata for one in r.protocols}
        if not code and r.group_instance_id is not None and not r.member_id:
            old = [name for name, one in self.members.items() if one.instance == r.group_instance_id]
            self._next += 1
            name = f"{r.group_instance_id}-{self._next}"
            if old and self.state == "stable":
                self.members[name] = self.members.pop(old[0])
                self.shares[name] = self.shares.pop(old[0], b"")
                self.leader = name if self.leader == old[0] else self.leader
                return self._joined(name, skip=True)
            r.member_id = name
        known = r.member_id in self.members or r.member_id == f"m{self._next}" or r.group_instance_id is not None
        if not code and not known:
            code = codes.UNKNOWN_MEMBER_ID.number
        if code:
            return join_group.JoinGroupResponse(error_code=code, member_id=r.member_id, protocol_name=None)
        member = self.members.setdefault(r.member_id, Member(protocols, r.group_instance_id))
        member.metadata = protocols
        self.state = "preparing"
        self.synced.set()
        joining = member.joining = asyncio.get_running_loop().create_future()
        self._maybe_complete()
        await joining
        return self._joined(r.member_id)

    def _maybe_complete(self) -> None:
        if self.state != "preparing" or not self.members or any(m.joining is None for m in self.members.values()):
            return
        self.generation += 1
        self.state = "syncing"
        self.synced = asyncio.Event()
        if self.leader not in self.members:
            self.leader = next(iter(self.members))
        common = [set(m.metadata) for m in self.members.values()]
        self.protocol = next(n for n in next(iter(self.members.values())).metadata if all(n in c for c in common))
        for m in self.members.values():
            assert m.joining is not None
            if not m.joining.done():  # who asked may have been cancelled
                m.joining.set_result(None)
            m.joining = None

    def _joined(self, name: str, *, skip: bool = False) -> Any:
        if name not in self.members:
            return join_group.JoinGroupResponse(
                error_code=codes.UNKNOWN_MEMBER_ID.number, member_id=name, protocol_name=None
            )
        leads = name == self.leader
        members = [
            join_group.JoinGroupResponseMember(
                member_id=one, metadata=m.metadata[self.protocol], group_instance_id=m.instance
            )
            for one, m in self.members.items()
        ]
        return join_group.JoinGroupResponse(
            generation_id=self.generation, protocol_type="consumer", protocol_name=self.protocol, leader=self.leader,
            member_id=name, members=members if leads else [], skip_assignment=skip and leads,
        )  # fmt: skip

    def _judge(self, member_id: str, generation: int) -> int:
        if member_id not in self.members:
            return codes.UNKNOWN_MEMBER_ID.number
        return 0 if generation == self.generation else codes.ILLEGAL_GENERATION.number

    async def _SyncGroup(self, r: sync_group.SyncGroupRequest, code: int) -> Any:
        code = code or self._judge(r.member_id, r.generation_id)
        if not code and self.state == "syncing":
            if r.member_id == self.leader:
                self.shares = {one.member_id: bytes(one.assignment) for one in r.assignments}
                self.state = "stable"
                self.synced.set()
            await self.synced.wait()
        if not code and self.state == "preparing":
            code = codes.REBALANCE_IN_PROGRESS.number
        share = b"" if code else self.shares.get(r.member_id, b"")
        return sync_group.SyncGroupResponse(
            error_code=code, protocol_type="consumer", protocol_name=self.protocol, assignment=share
        )

    async def _Heartbeat(self, r: heartbeat.HeartbeatRequest, code: int) -> Any:
        code = code or self._judge(r.member_id, r.generation_id)
        if not code and self.state == "preparing":
            code = codes.REBALANCE_IN_PROGRESS.number
        return heartbeat.HeartbeatResponse(error_code=code)

    async def _LeaveGroup(self, r: leave_group.LeaveGroupRequest, code: int) -> Any:
        names = [one.member_id for one in r.members] or [r.member_id]
        for name in names:
            self._forget(name)
        self.rebalance()
        self._maybe_complete()
        return leave_group.LeaveGroupResponse(error_code=code)

    async def _OffsetCommit(self, r: offset_commit.OffsetCommitRequest, code: int) -> Any:
        if r.member_id or r.generation_id_or_member_epoch >= 0:
            code = code or self._judge(r.member_id, r.generation_id_or_member_epoch)
        topics = []
        for topic in r.topics:
            name = topic.name or topic.topic_id.lstrip(b"_").decode()
            for one in topic.partitions:
                if not code:
                    place = OffsetAndMetadata(
                        one.committed_offset, one.committed_leader_epoch, one.committed_metadata or ""
                    )
                    self.committed[TopicPartition(name, one.partition_index)] = place
            parts = [
                offset_commit.OffsetCommitResponsePartition(partition_index=one.partition_index, error_code=code)
                for one in topic.partitions
            ]
            topics.append(
                offset_commit.OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=parts)
            )
        return offset_commit.OffsetCommitResponse(topics=topics)

    async def _OffsetFetch(self, r: offset_fetch.OffsetFetchRequest, code: int) -> Any:
        if not r.groups:
            old = []
            for topic in r.topics or ():
                parts = [
                    offset_fetch.OffsetFetchResponsePartition(
                        partition_index=n, error_code=code, committed_offset=self._offset(topic.name, n).offset
                    )
                    for n in topic.partition_indexes
                ]
                old.append(offset_fetch.OffsetFetchResponseTopic(name=topic.name, partitions=parts))
            return offset_fetch.OffsetFetchResponse(topics=old)
        topics = []
        for one in r.groups[0].topics or ():
            name = one.name or one.topic_id.lstrip(b"_").decode()
            grouped = [
                offset_fetch.OffsetFetchResponsePartitions(
                    partition_index=n, error_code=code, committed_offset=self._offset(name, n).offset,
                    committed_leader_epoch=self._offset(name, n).leader_epoch, metadata=self._offset(name, n).metadata,
                )
                for n in one.partition_indexes
            ]  # fmt: skip
            topics.append(
                offset_fetch.OffsetFetchResponseTopics(name=one.name, topic_id=one.topic_id, partitions=grouped)
            )
        return offset_fetch.OffsetFetchResponse(
            groups=[offset_fetch.OffsetFetchResponseGroup(group_id=r.groups[0].group_id, topics=topics)]
        )

    def _offset(self, topic: str, number: int) -> OffsetAndMetadata:
        return self.committed.get(TopicPartition(topic, number), OffsetAndMetadata(-1))

    async def _Metadata(self, r: metadata.MetadataRequest, code: int) -> Any:
        names = list(self.counts) if r.topics is None else [one.name or "" for one in r.topics]
        topics = []
        for name in names:
            count = self.counts.get(name, 0)
            parts = [
                metadata.MetadataResponsePartition(partition_index=n, leader_id=0, replica_nodes=[0])
                for n in range(count)
            ]
            wrong = 0 if count else codes.UNKNOWN_TOPIC_OR_PARTITION.number
            topics.append(metadata.MetadataResponseTopic(error_code=code or wrong, name=name, partitions=parts))
        return metadata.MetadataResponse(
            brokers=[metadata.MetadataResponseBroker(node_id=0, host="h", port=1, rack="r0")], topics=topics
        )


class Reader:
    """Callbacks and positions of a test; `log` shares the broker's list, so one order shows all."""

    def __init__(self, log: list[str], name: str = "") -> None:
        self.log = log
        self.name = name
        self.owned: set[TopicPartition] = set()
        self.positions: dict[TopicPartition, OffsetAndMetadata] = {}
        self.settled = asyncio.Event()
        self.settled.set()
        self.changed = asyncio.Event()
        self.running = 0

    async def _called(self, what: str, partitions: set[TopicPartition]) -> None:
        assert not self.running, "callbacks overlap"
        self.running += 1
        self.log.append(f"{self.name}{what}")
        await asyncio.sleep(0)
        self.running -= 1
        self.changed.set()

    async def on_assigned(self, partitions: set[TopicPartition]) -> None:
        assert not self.owned & partitions
        self.owned |= partitions
        await self._called("assigned", partitions)

    async def on_revoked(self, partitions: set[TopicPartition]) -> None:
        assert partitions <= self.owned
        self.owned -= partitions
        await self._called("revoked", partitions)

    async def on_lost(self, partitions: set[TopicPartition]) -> None:
        assert partitions <= self.owned
        self.owned -= partitions
        await self._called("lost", partitions)

    def to_commit(self, partitions: set[TopicPartition] | None) -> dict[TopicPartition, OffsetAndMetadata]:
        return {at: offset for at, offset in self.positions.items() if partitions is None or at in partitions}

    async def settle(self, partitions: set[TopicPartition]) -> None:
        self.log.append(f"{self.name}settling")
        await self.settled.wait()
        self.log.append(f"{self.name}settled")
