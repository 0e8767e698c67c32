"""Positions committed in a transaction: KIP-98, 447 and 890."""

from __future__ import annotations

from typing import Any

import pytest

from kcli import codes
from kcli.sandbox import Sandbox
from tests.sandbox.client import Peer
from tests.sandbox.groups.test_classic_group import Joiner, stable
from tests.sandbox.transacting import V1, V2, Producer, position_of, ready

PROTOCOLS = pytest.mark.parametrize("protocol", [V1, V2], ids=["v1", "v2"])
UNSTABLE = codes.UNSTABLE_OFFSET_COMMIT.number


@PROTOCOLS
async def test_E20_positions_are_seen_when_the_transaction_commits(protocol: tuple[int, int, int]) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer, protocol=protocol)
        await ready(producer)
        for commit, offset, seen in ((True, 5, 5), (False, 9, 5), (True, 7, 7)):
            before = await position_of(peer)
            assert protocol is V2 or await producer.add_group() == 0
            assert await producer.position(offset) == 0
            assert await position_of(peer) == before
            assert await position_of(peer, stable=True) == (UNSTABLE, -1)
            assert await producer.end(commit=commit) == 0
            assert await position_of(peer, stable=True) == (0, seen)


@pytest.mark.parametrize(("version", "code"), [(4, codes.TRANSACTION_ABORTABLE), (3, codes.INVALID_TXN_STATE)])
async def test_D36_a_group_must_be_added_before_its_positions(version: int, code: codes.ErrorCode) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer, protocol=(11, 4, version))
        await ready(producer)
        assert await producer.position(1) == code.number
        assert await producer.add_group() == 0
        assert await producer.position(1) == 0
        assert await producer.position(1, group="other") == code.number
        assert await producer.commit() == 0
        assert await position_of(peer) == (0, 1)


@PROTOCOLS
async def test_D40_only_the_current_generation_commits(protocol: tuple[int, int, int]) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer, Peer(sandbox) as other:
        producer = Producer(peer, protocol=protocol)
        await ready(producer)
        assert protocol is V2 or await producer.add_group() == 0
        assert await producer.position(1, generation=3, member="m") == codes.ILLEGAL_GENERATION.number
        one = Joiner(other, instance="static")
        await stable(one)
        good: dict[str, Any] = {"generation": one.generation, "member": one.id, "instance": "static"}
        assert await producer.position(2, **(good | {"generation": 9})) == codes.ILLEGAL_GENERATION.number
        assert await producer.position(2, **(good | {"member": "x"})) == codes.FENCED_INSTANCE_ID.number
        assert await producer.position(2, generation=1, member="x") == codes.UNKNOWN_MEMBER_ID.number
        assert await producer.position(3, **good) == 0
        assert await producer.commit() == 0
        assert await position_of(peer) == (0, 3)


async def test_a_later_commit_from_outside_is_what_counts() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer)
        await ready(producer)
        assert await producer.position(5) == 0
        assert await Joiner(peer).commit(8, generation=-1, member="") == 0
        assert await position_of(peer, stable=True) == (UNSTABLE, -1)
        assert await producer.commit() == 0
        assert await position_of(peer, stable=True) == (0, 8)


async def test_positions_of_what_does_not_exist_are_refused() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer)
        await ready(producer)
        assert await producer.position(1) == codes.UNKNOWN_TOPIC_OR_PARTITION.number
        assert await producer.position(1, group="") == codes.INVALID_GROUP_ID.number
        sandbox.topics.create("t")
        assert await producer.position(1) == 0
        sandbox.topics.delete(sandbox.topics.by_name["t"])
        assert await producer.commit() == 0
        assert sandbox.cluster.groups.offsets.by_group.get("g", {}) == {}
