"""Classic groups: joining, assigning, staying, leaving, committing."""

from __future__ import annotations

import asyncio
from typing import Any

from kcli import codes
from kcli.proto.messages.delete_groups import DeleteGroupsRequest
from kcli.proto.messages.describe_groups import DescribeGroupsRequest
from kcli.proto.messages.find_coordinator import FindCoordinatorRequest
from kcli.proto.messages.heartbeat import HeartbeatRequest
from kcli.proto.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from kcli.proto.messages.leave_group import LeaveGroupRequest, MemberIdentity
from kcli.proto.messages.list_groups import ListGroupsRequest
from kcli.proto.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kcli.proto.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kcli.proto.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kcli.proto.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from kcli.sandbox import Sandbox
from tests.sandbox.client import Peer

SUBSCRIPTION = b"\0\1" + b"\0\0\0\1" + b"\0\1t" + b"\0\0\0\0" + b"\0\0\0\0"


class Joiner:
    """One member of group g, on a connection of its own."""

    def __init__(self, peer: Peer, *, instance: str | None = None, session_ms: int = 5000, rebalance_ms: int = 5000,
                 protocols: tuple[str, ...] = ("range",)) -> None:  # fmt: skip
        self.peer = peer
        self.id = ""
        self.instance = instance
        self.session_ms, self.rebalance_ms, self.protocols = session_ms, rebalance_ms, protocols
        self.generation = -1
        self.protocol = ""

    async def join(self, version: int = 9) -> JoinGroupResponse:
        request = JoinGroupRequest(
            group_id="g", session_timeout_ms=self.session_ms, rebalance_timeout_ms=self.rebalance_ms,
            member_id=self.id, group_instance_id=self.instance, protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name=name, metadata=SUBSCRIPTION) for name in self.protocols],
        )  # fmt: skip
        answer: JoinGroupResponse = await self.peer.ask(request, version)
        if answer.error_code == codes.MEMBER_ID_REQUIRED.number:
            self.id = answer.member_id
            return await self.join(version)
        if not answer.error_code:
            self.id, self.generation = answer.member_id, answer.generation_id
            self.protocol = answer.protocol_name or ""
        return answer

    async def sync(self, parts: dict[str, bytes] | None = None) -> Any:
        return await self.peer.ask(
            SyncGroupRequest(
                group_id="g", generation_id=self.generation, member_id=self.id, group_instance_id=self.instance,
                protocol_type="consumer", protocol_name=self.protocol,
                assignments=[SyncGroupRequestAssignment(member_id=m, assignment=a) for m, a in (parts or {}).items()],
            )
        )  # fmt: skip

    async def beat(self) -> int:
        answer = await self.peer.ask(
            HeartbeatRequest(
                group_id="g", generation_id=self.generation, member_id=self.id, group_instance_id=self.instance
            )
        )
        code: int = answer.error_code
        return code

    async def commit(self, offset: int, generation: int | None = None, member: str | None = None) -> int:
        position = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset, committed_metadata="m")
        answer = await self.peer.ask(
            OffsetCommitRequest(
                group_id="g", generation_id_or_member_epoch=self.generation if generation is None else generation,
                member_id=self.id if member is None else member,
                topics=[OffsetCommitRequestTopic(name="t", partitions=[position])],
            ), 9,
        )  # fmt: skip
        code: int = answer.topics[0].partitions[0].error_code
        return code


async def stable(*joiners: Joiner) -> Joiner:
    """Bring them into one generation; returns the leader."""
    answers = await asyncio.gather(*(one.join() for one in joiners))
    leader = next(one for one, answer in zip(joiners, answers, strict=True) if answer.leader == one.id)
    parts = {one.id: one.id.encode() for one in joiners}
    synced = await asyncio.gather(*(one.sync(parts if one is leader else None) for one in joiners))
    assert [answer.assignment for answer in synced] == [one.id.encode() for one in joiners]
    return leader


async def test_E45_a_new_member_is_sent_back_with_an_id_and_gets_its_part() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        one = Joiner(peer)
        request = JoinGroupRequest(group_id="g", session_timeout_ms=5000, protocol_type="consumer",
                                   protocols=[JoinGroupRequestProtocol(name="range")])  # fmt: skip
        first = await peer.ask(request)
        assert first.error_code == codes.MEMBER_ID_REQUIRED.number
        assert first.member_id.startswith("peer-")
        one.id = first.member_id
        answer = await one.join()
        assert (answer.generation_id, answer.protocol_name, answer.leader) == (1, "range", one.id)
        assert [member.metadata for member in answer.members] == [SUBSCRIPTION]
        assert (await one.sync({one.id: b"all"})).assignment == b"all"
        assert await one.beat() == 0


async def test_E46_a_second_member_makes_the_first_join_again() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as a, Peer(sandbox) as b:
        one, two = Joiner(a), Joiner(b)
        await stable(one)
        entering = asyncio.ensure_future(two.join())
        await asyncio.sleep(0.05)
        assert await one.beat() == codes.REBALANCE_IN_PROGRESS.number
        assert not entering.done()
        again = await one.join()
        assert (await entering).generation_id == again.generation_id == 2
        assert len(again.members) == 2
        assert {one.id, two.id} == {member.member_id for member in again.members}


async def test_the_protocol_is_one_that_all_know() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as a, Peer(sandbox) as b, Peer(sandbox) as c:
        first, second = Joiner(a, protocols=("sticky", "range")), Joiner(b, protocols=("range",))
        answers = await asyncio.gather(first.join(), second.join())
        assert {answer.protocol_name for answer in answers} == {"range"}
        stranger = await Joiner(c, protocols=("roundrobin",)).join()
        assert stranger.error_code == codes.INCONSISTENT_GROUP_PROTOCOL.number


async def test_a_silent_member_is_gone_after_its_session_timeout() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as a, Peer(sandbox) as b:
        one, two = Joiner(a), Joiner(b, session_ms=100)
        await stable(one, two)
        await asyncio.sleep(0.15)
        assert await one.beat() == codes.REBALANCE_IN_PROGRESS.number
        assert await two.beat() == codes.UNKNOWN_MEMBER_ID.number
        assert len((await one.join()).members) == 1


async def test_a_member_that_does_not_rejoin_in_time_is_left_behind() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as a, Peer(sandbox) as b:
        one, two = Joiner(a, rebalance_ms=100), Joiner(b, rebalance_ms=100)
        await stable(one, two)
        sandbox.faults.cluster.rebalance("g")
        assert len((await one.join()).members or [0]) == 1
        assert await two.beat() == codes.UNKNOWN_MEMBER_ID.number


async def test_a_leaving_member_frees_its_part_and_the_last_one_empties_the_group() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as a, Peer(sandbox) as b:
        one, two = Joiner(a), Joiner(b)
        await stable(one, two)
        left = await b.ask(LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id=two.id)]))
        assert left.members[0].error_code == 0
        assert await one.beat() == codes.REBALANCE_IN_PROGRESS.number
        await one.join()
        await a.ask(LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id=one.id)]))
        assert sandbox.cluster.groups.existing("g").state == "Empty"


async def test_E48_a_static_member_returns_without_a_rebalance_and_its_old_self_is_fenced() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as a, Peer(sandbox) as b, Peer(sandbox) as c:
        one, two = Joiner(a, instance="i1"), Joiner(b, instance="i2")
        await stable(one, two)
        back = Joiner(c, instance="i2")
        answer = await back.join()
        assert (answer.generation_id, back.id == two.id) == (1, False)
        assert (await back.sync()).assignment == two.id.encode()
        assert await one.beat() == 0
        assert await two.beat() == codes.FENCED_INSTANCE_ID.number


async def test_E48_a_returning_static_leader_skips_the_assignment() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as a, Peer(sandbox) as b:
        await stable(Joiner(a, instance="i1"))
        answer = await Joiner(b, instance="i1").join()
        assert answer.skip_assignment
        assert answer.leader == answer.member_id
        older = await Joiner(b, instance="i1").join(version=8)
        assert older.leader != older.member_id


async def test_commits_count_only_from_the_current_generation() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        one = Joiner(peer)
        assert await one.commit(1) == 0  # an empty group: from outside
        await stable(one)
        assert await one.commit(2) == 0
        assert await one.commit(3, generation=9) == codes.ILLEGAL_GENERATION.number
        assert await one.commit(3, member="nobody") == codes.UNKNOWN_MEMBER_ID.number
        assert await one.commit(3, generation=-1, member="") == codes.UNKNOWN_MEMBER_ID.number
        for version in (1, 5, 7):
            answer = await peer.ask(OffsetFetchRequest(group_id="g", topics=[_topic0()]), version)
            assert [p.committed_offset for p in answer.topics[0].partitions] == [2, -1]
        topics = OffsetFetchRequestTopics(topic_id=sandbox.topics.by_name["t"].id, partition_indexes=[0, 7])
        for asked in (None, [topics]):
            group = OffsetFetchRequestGroup(group_id="g", topics=asked)
            found = (await peer.ask(OffsetFetchRequest(groups=[group]), 10)).groups[0].topics[0].partitions
            assert (found[0].committed_offset, found[0].metadata) == (2, "m")


def _topic0() -> Any:
    from kcli.proto.messages.offset_fetch import OffsetFetchRequestTopic

    return OffsetFetchRequestTopic(name="t", partition_indexes=[0, 7])


async def test_C15_a_coordinator_moves_and_keeps_the_group() -> None:
    async with Sandbox(brokers=2, topics={"t": 1}) as sandbox, Peer(sandbox, 1) as a, Peer(sandbox, 2) as b:
        sandbox.faults.cluster.move_coordinator("g", 1)
        one = Joiner(a)
        await stable(one)
        sandbox.faults.cluster.move_coordinator("g", 2)
        assert await one.beat() == codes.NOT_COORDINATOR.number
        found = await a.ask(FindCoordinatorRequest(coordinator_keys=["g"]))
        assert (found.coordinators[0].node_id, found.coordinators[0].port) == (2, sandbox.brokers[1].port)
        one.peer = b
        assert await one.beat() == 0


async def test_an_expelled_member_is_unknown() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        one = Joiner(peer)
        await stable(one)
        sandbox.faults.cluster.expel("g", one.id)
        assert await one.beat() == codes.UNKNOWN_MEMBER_ID.number


async def test_groups_are_listed_described_and_deleted_when_empty() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        one = Joiner(peer)
        await stable(one)
        await one.commit(5)
        listed = (await peer.ask(ListGroupsRequest())).groups
        assert [(g.group_id, g.group_state, g.group_type) for g in listed] == [("g", "Stable", "classic")]
        assert (await peer.ask(ListGroupsRequest(states_filter=["Empty"]))).groups == []
        [described, missing] = (await peer.ask(DescribeGroupsRequest(groups=["g", "none"]))).groups
        assert (described.group_state, described.protocol_data, len(described.members)) == ("Stable", "range", 1)
        assert described.members[0].client_host == "/127.0.0.1"
        assert missing.error_code == codes.GROUP_ID_NOT_FOUND.number
        position = OffsetDeleteRequestTopic(name="t", partitions=[OffsetDeleteRequestPartition()])
        forget = OffsetDeleteRequest(group_id="g", topics=[position])
        kept = (await peer.ask(forget)).topics[0].partitions[0]
        assert kept.error_code == codes.GROUP_SUBSCRIBED_TO_TOPIC.number
        asked = DeleteGroupsRequest(groups_names=["g", "none"])
        codes_of = [row.error_code for row in (await peer.ask(asked)).results]
        assert codes_of == [codes.NON_EMPTY_GROUP.number, codes.GROUP_ID_NOT_FOUND.number]
        await peer.ask(LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id=one.id)]))
        assert (await peer.ask(forget)).topics[0].partitions[0].error_code == 0
        assert sandbox.cluster.groups.offsets.of("g") == {}
        assert (await peer.ask(DeleteGroupsRequest(groups_names=["g"]))).results[0].error_code == 0
