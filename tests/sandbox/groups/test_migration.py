"""A group moves between the classic protocol and KIP-848 while it has members, request by request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kcli import codes
from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.proto.consumer_protocol import Subscription, decode_assignment, encode_assignment, encode_subscription
from kcli.proto.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from kcli.proto.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from kcli.proto.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kcli.proto.messages.heartbeat import HeartbeatRequest
from kcli.proto.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kcli.proto.messages.leave_group import LeaveGroupRequest, MemberIdentity
from kcli.proto.messages.list_groups import ListGroupsRequest
from kcli.proto.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from kcli.sandbox import Sandbox
from kcli.sandbox.settings import SandboxSettings
from tests.sandbox.client import Peer

NONE, UNKNOWN, STALE, AGAIN = 0, 25, 22, 27  # UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS
NOT_FOUND = codes.GROUP_ID_NOT_FOUND.number
BROKER = 4


class Group:
    """Group g, and what its members ask. A classic member keeps its generation and what it owns."""

    def __init__(self, sandbox: Sandbox, peer: Peer) -> None:
        self.sandbox, self._peer = sandbox, peer
        self.generation: dict[str, int] = {}
        self.owned: dict[str, list[TopicPartition]] = {}

    async def join(self, name: str, *, eager: bool = True, session: int = 30_000, rebalance: int = 30_000) -> int:
        """JoinGroup of a static member of that name, whose id becomes its name's value; returns the code."""
        owned = [] if eager else self.owned.get(name, [])
        metadata = encode_subscription(Subscription(topics=["t"], owned=owned))
        answer = await self._peer.ask(
            JoinGroupRequest(
                group_id="g", session_timeout_ms=session, rebalance_timeout_ms=rebalance, member_id=name,
                protocol_type="consumer", protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
            ), 3,
        )  # fmt: skip
        self.generation[name] = answer.generation_id
        code: int = answer.error_code
        return code

    async def first(self, **timeouts: int) -> str:
        """The first member of a classic group, with all partitions; its id."""
        metadata = encode_subscription(Subscription(topics=["t"]))
        protocols = [JoinGroupRequestProtocol(name="range", metadata=metadata)]
        request = JoinGroupRequest(
            group_id="g", session_timeout_ms=timeouts.get("session", 30_000), protocol_type="consumer",
            rebalance_timeout_ms=timeouts.get("rebalance", 30_000), protocols=protocols,
        )  # fmt: skip
        answer = await self._peer.ask(request, 3)
        name: str = answer.member_id
        self.generation[name] = answer.generation_id
        everything = [TopicPartition("t", number) for number in range(4)]
        given = SyncGroupRequestAssignment(member_id=name, assignment=encode_assignment(everything))
        assert await self.sync(name, given) == NONE
        return name

    async def sync(self, name: str, *assignments: SyncGroupRequestAssignment) -> int:
        answer = await self._peer.ask(
            SyncGroupRequest(
                group_id="g", member_id=name, generation_id=self.generation[name], assignments=list(assignments)
            ), 4,
        )  # fmt: skip
        if not answer.error_code:
            self.owned[name] = sorted(decode_assignment(answer.assignment))
        code: int = answer.error_code
        return code

    async def beat(self, name: str) -> int:
        request = HeartbeatRequest(group_id="g", member_id=name, generation_id=self.generation[name])
        code: int = (await self._peer.ask(request)).error_code
        return code

    async def is_asked_to_rejoin(self, name: str) -> None:
        for _ in range(1000):
            if await self.beat(name) == AGAIN:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"{name} is not asked to rejoin")

    async def leave(self, name: str) -> int:
        request = LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id=name)])
        code: int = (await self._peer.ask(request)).members[0].error_code
        return code

    async def modern(self, name: str, epoch: int, **more: Any) -> Any:
        """A heartbeat of KIP-848; with epoch 0 the member joins."""
        if epoch == 0:
            more = {"subscribed_topic_names": ["t"], "rebalance_timeout_ms": 60_000, "topic_partitions": []} | more
        return await self._peer.ask(
            ConsumerGroupHeartbeatRequest(group_id="g", member_id=name, member_epoch=epoch, **more)
        )

    async def says_it_owns(self, name: str, epoch: int, numbers: list[int]) -> Any:
        rows = [TopicPartitions(topic_id=self.sandbox.topics.by_name["t"].id, partitions=numbers)] if numbers else []
        return await self.modern(name, epoch, topic_partitions=rows)

    async def kind(self) -> str:
        (listed,) = (await self._peer.ask(ListGroupsRequest())).groups
        return f"{listed.group_type} {listed.group_state}"


@asynccontextmanager
async def running(policy: str = "bidirectional") -> AsyncIterator[Group]:
    settings = SandboxSettings(topics={"t": 4}, rebalance_delay=0.0, migration_policy=policy)
    async with Sandbox(settings) as sandbox, Peer(sandbox) as peer:
        yield Group(sandbox, peer)


async def test_a_partition_of_a_classic_member_moves_when_it_has_joined_without_it() -> None:
    async with running() as group:
        old = await group.first()
        joined = await group.modern("new", 0)
        assert (joined.error_code, joined.member_epoch, joined.assignment.topic_partitions) == (NONE, 2, [])
        assert await group.kind() == "consumer Reconciling"
        assert await group.beat(old) == AGAIN
        assert await group.sync(old) == AGAIN  # it has to join first
        assert await group.join(old, eager=False) == NONE
        assert group.generation[old] == 1  # it still has to give up
        assert await group.sync(old) == NONE
        assert len(group.owned[old]) == 2
        assert (await group.modern("new", 2)).assignment is None
        assert await group.beat(old) == AGAIN  # to say what it gave up
        assert await group.join(old, eager=False) == NONE
        assert group.generation[old] == 2
        assert await group.sync(old) == NONE
        assert await group.beat(old) == NONE
        (row,) = (await group.modern("new", 2)).assignment.topic_partitions
        assert {*row.partitions, *(each.partition for each in group.owned[old])} == {0, 1, 2, 3}
        assert await group.kind() == "consumer Stable"


async def test_a_classic_member_joins_again_when_what_it_misses_is_free() -> None:
    async with running() as group:
        joined = await group.modern("new", 0)
        (row,) = joined.assignment.topic_partitions
        await group.says_it_owns("new", joined.member_epoch, row.partitions)
        assert await group.join("old") == NONE
        assert await group.sync("old") == NONE
        assert group.owned["old"] == []
        assert await group.beat("old") == NONE  # nothing is free yet
        moved = await group.modern("new", joined.member_epoch)
        kept = moved.assignment.topic_partitions[0].partitions
        assert len(kept) == 2
        assert await group.beat("old") == NONE
        await group.says_it_owns("new", joined.member_epoch, kept)
        assert await group.beat("old") == AGAIN
        assert await group.join("old", eager=False) == NONE
        assert await group.sync("old") == NONE
        assert [each.partition for each in group.owned["old"]] == sorted({0, 1, 2, 3} - set(kept))
        assert await group.beat("old") == NONE


async def test_members_that_wait_in_a_rebalance_are_asked_to_join_the_upgraded_group() -> None:
    async with running() as group, Peer(group.sandbox) as peer:
        old = await group.first()
        another = Group(group.sandbox, peer)
        waiting = asyncio.ensure_future(another.first())
        await group.is_asked_to_rejoin(old)
        assert (await group.modern("new", 0)).error_code == NONE
        with pytest.raises(AssertionError):  # its JoinGroup is refused, so its SyncGroup is
            await waiting
        assert set(another.generation.values()) == {-1}
        assert await group.kind() == "consumer Reconciling"


@pytest.mark.parametrize("policy", ["disabled", "downgrade"])
async def test_a_policy_without_upgrades_refuses_the_heartbeat(policy: str) -> None:
    async with running(policy) as group:
        old = await group.first()
        refused = await group.modern("new", 0)
        assert refused.error_code == NOT_FOUND
        assert "online upgrade is disabled" in refused.error_message
        assert await group.beat(old) == NONE
        assert await group.kind() == "classic Stable"


@pytest.mark.parametrize(
    ("policy", "kind"),
    [
        ("bidirectional", "classic PreparingRebalance"),
        ("downgrade", "classic PreparingRebalance"),
        ("upgrade", "consumer Assigning"),
        ("disabled", "consumer Assigning"),
    ],
)
async def test_a_policy_says_whether_the_group_is_classic_again(policy: str, kind: str) -> None:
    async with running(policy) as group:
        await group.modern("new", 0)
        assert await group.join("old") == NONE
        assert await group.sync("old") == NONE
        await group.modern("new", -1)
        assert await group.kind() == kind
        assert await group.join("old") == NONE
        everything = [TopicPartition("t", number) for number in range(4)]
        given = SyncGroupRequestAssignment(member_id="old", assignment=encode_assignment(everything))
        assert await group.sync("old", given) == NONE
        assert group.owned["old"] == everything
        assert await group.beat("old") == NONE
        assert await group.kind() == f"{kind.split()[0]} Stable"


@pytest.mark.usefixtures("leaping_clock")
async def test_a_session_that_ends_downgrades_the_group() -> None:
    async with running() as group:
        await group.modern("new", 0)
        assert await group.join("old") == NONE
        assert await group.sync("old") == NONE
        for _ in range(10):  # 50 seconds: the session of the other is 45
            if (await group.kind()).startswith("consumer"):
                assert await group.beat("old") == NONE
                await asyncio.sleep(5)
        assert await group.kind() == "classic PreparingRebalance"
        assert await group.beat("old") == AGAIN
        assert await group.join("old") == NONE


@pytest.mark.usefixtures("leaping_clock")
@pytest.mark.parametrize("step", ["session", "join", "sync"])
async def test_a_classic_member_that_is_silent_is_removed(step: str) -> None:
    """Its session ends; it does not join again in time; it joins and does not sync in time."""
    session, rebalance = (5_000, 60_000) if step == "session" else (60_000, 5_000)
    async with running() as group:
        joined = await group.modern("new", 0)
        assert await group.join("old", session=session, rebalance=rebalance) == NONE
        if step != "sync":
            assert await group.sync("old") == NONE
        if step == "join":
            (row,) = joined.assignment.topic_partitions
            await group.modern("new", joined.member_epoch)
            await group.says_it_owns("new", joined.member_epoch, row.partitions[:2])
            assert await group.beat("old") == AGAIN
        await asyncio.sleep(10)
        assert await group.beat("old") == UNKNOWN
        assert (await group.kind()).startswith("consumer")


async def test_a_member_leaves_and_the_rest_of_its_partitions_is_taken_over() -> None:
    async with running() as group:
        old = await group.first()
        joined = await group.modern("new", 0)
        assert await group.leave(old) == NONE
        assert await group.leave(old) == UNKNOWN
        again = await group.modern("new", joined.member_epoch)
        assert again.assignment.topic_partitions[0].partitions == [0, 1, 2, 3]


async def test_describe_says_which_protocol_a_member_uses() -> None:
    async with running() as group, Peer(group.sandbox) as peer:
        old = await group.first()
        await group.modern("new", 0)
        (described,) = (await peer.ask(ConsumerGroupDescribeRequest(group_ids=["g"]))).groups
        assert {member.member_id: member.member_type for member in described.members} == {old: 0, "new": 1}


async def test_an_assignment_is_written_in_the_version_of_the_subscription() -> None:
    """A client of long ago reads version 0, and nothing else."""
    async with running() as group, Peer(group.sandbox) as peer:
        await group.modern("new", 0)
        metadata = b"\0\0" + b"\0\0\0\1" + b"\0\1t" + b"\xff\xff\xff\xff"
        joined = await peer.ask(
            JoinGroupRequest(
                group_id="g", session_timeout_ms=30_000, rebalance_timeout_ms=30_000, protocol_type="consumer",
                protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
            ), 3,
        )  # fmt: skip
        request = SyncGroupRequest(
            group_id="g", member_id=joined.member_id, generation_id=joined.generation_id, assignments=[]
        )
        assert (await peer.ask(request, 4)).assignment == b"\0\0" + b"\0\0\0\0" + b"\xff\xff\xff\xff"


async def test_a_static_member_that_comes_back_is_no_change_of_the_group() -> None:
    async with running() as group:
        first = await group.modern("one", 0, instance_id="i")
        await group.modern("one", -2, instance_id="i")
        again = await group.modern("two", 0, instance_id="i")
        assert again.member_epoch == first.member_epoch
        assert again.assignment == first.assignment


async def test_the_policy_is_a_config_of_the_broker() -> None:
    async with running("upgrade") as group, Peer(group.sandbox) as peer:
        name = "group.consumer.migration.policy"
        asked = DescribeConfigsResource(resource_type=BROKER, resource_name="1", configuration_keys=[name])
        (result,) = (await peer.ask(DescribeConfigsRequest(resources=[asked]))).results
        assert [row.value for row in result.configs] == ["upgrade"]


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown migration policy maybe"):
        SandboxSettings(migration_policy="maybe").check()
