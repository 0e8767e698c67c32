"""Commits from outside a group: each partition has its outcome, and what nobody can say is unknown."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kcli import codes
from kcli.admin.cluster.brokers import fenced_brokers
from kcli.admin.groups.commits import committed_offsets, delete_commits, write_commits
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.errors import BrokerError, ConnectError, DeadlineExceeded, DecodeError, KcliError, UnknownOutcome
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.proto.messages.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kcli.sandbox.sandbox import Sandbox
from kcli.settings import ClientSettings, parse_bootstrap

ZERO, ONE = TopicPartition("orders", 0), TopicPartition("orders", 1)
BOTH = {ZERO: OffsetAndMetadata(offset=0, leader_epoch=0, metadata="mine"), ONE: OffsetAndMetadata(offset=0)}


class World:
    def __init__(self, sandbox: Sandbox, client: Client) -> None:
        self.faults = sandbox.faults
        self.settings = ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))
        self.coordinators = Coordinators(client.cluster)

    async def committed(self) -> object:
        return (await committed_offsets(self.coordinators, ["g"]))["g"]


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Sandbox(brokers=2, topics={"orders": 2}, auto_create=False) as sandbox:
        settings = ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap), request_timeout=0.3)
        async with Client(settings) as client:
            yield World(sandbox, client)
        assert sandbox.violations == []


async def test_E43_what_is_committed_from_outside_is_read_back_with_epoch_and_metadata(world: World) -> None:
    assert await write_commits(world.coordinators, "g", BOTH) == {ZERO: True, ONE: True}
    assert await world.committed() == BOTH
    assert await delete_commits(world.coordinators, "g", [ONE]) == {ONE: True}
    assert await world.committed() == {ZERO: BOTH[ZERO]}
    assert await delete_commits(world.coordinators, "g", [ONE]) == {ONE: True}


@pytest.mark.parametrize("highest", [5, 7])
async def test_E43_stable_offsets_are_read_from_brokers_that_know_no_unstable_ones(world: World, highest: int) -> None:
    """Kafka 2.1 speaks OffsetFetch 5; `require_stable` is of version 7 (Kafka 2.5)."""
    assert await write_commits(world.coordinators, "g", BOTH) == {ZERO: True, ONE: True}
    for broker in (1, 2):
        world.faults.wire.speak_only("OffsetFetch", 1, highest, broker=broker)
    async with Client(world.settings) as client:
        assert (await committed_offsets(Coordinators(client.cluster), ["g"], stable=True))["g"] == BOTH


@pytest.mark.parametrize("highest", [0, 1])
async def test_brokers_that_list_no_fenced_ones_are_no_error(world: World, highest: int) -> None:
    """DescribeCluster 2 is of Kafka 4.0; a Kafka 3 speaks it without."""
    for broker in (1, 2):
        world.faults.wire.speak_only("DescribeCluster", 0, highest, broker=broker)
    async with Client(world.settings) as client:
        assert await fenced_brokers(client.cluster) == []


async def test_E40_a_coordinator_that_moves_is_found_again(world: World) -> None:
    for code in (codes.NOT_COORDINATOR, codes.COORDINATOR_LOAD_IN_PROGRESS, codes.COORDINATOR_NOT_AVAILABLE):
        world.faults.error("OffsetCommit", code)
    assert await write_commits(world.coordinators, "g", BOTH) == {ZERO: True, ONE: True}
    world.faults.error("OffsetDelete", codes.NOT_COORDINATOR)
    assert await delete_commits(world.coordinators, "g", BOTH) == {ZERO: True, ONE: True}


async def test_D22_a_lost_answer_is_asked_for_again_and_unknown_if_none_ever_comes(world: World) -> None:
    world.faults.wire.lose_answer("OffsetCommit")
    assert await write_commits(world.coordinators, "g", BOTH) == {ZERO: True, ONE: True}
    world.faults.wire.lose_answer("OffsetCommit", times=99)
    done = await write_commits(world.coordinators, "g", BOTH, patience=0.2)
    assert {type(one) for one in done.values()} == {UnknownOutcome}
    assert "g: orders [0]: it is unknown whether the offset was changed" in str(done[ZERO])
    world.faults.clear()
    world.faults.wire.never_answer("OffsetDelete", times=99)
    assert isinstance((await delete_commits(world.coordinators, "g", [ONE], patience=0.2))[ONE], UnknownOutcome)


async def test_D22_brokers_that_did_not_finish_in_time_leave_it_unknown(world: World) -> None:
    world.faults.error("OffsetCommit", codes.REQUEST_TIMED_OUT, times=99)
    done = await write_commits(world.coordinators, "g", {ZERO: BOTH[ZERO]}, patience=0.2)
    assert isinstance(done[ZERO], UnknownOutcome)


class Script:
    """A coordinator that answers by a script."""

    node_id = 1

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.forgotten: list[str] = []

    async def locate(self, groups: list[str]) -> tuple[list[tuple[Script, list[str]]], dict[str, KcliError]]:
        return [(self, groups)], {}

    def forget(self, group: str) -> None:
        self.forgotten.append(group)

    async def ask(self, request: object, **_: object) -> object:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        part = OffsetCommitResponsePartition(partition_index=0, error_code=answer)  # type: ignore[arg-type]
        return OffsetCommitResponse(topics=[OffsetCommitResponseTopic(name="orders", partitions=[part])])


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        ((ConnectError("lost", sent=True), 25), UnknownOutcome),  # perhaps made, and then refused
        ((ConnectError("lost", sent=False), 25), BrokerError),
        ((ConnectError("lost", sent=True), 0), bool),
        ((16, 25), BrokerError),
        ((DeadlineExceeded("late", sent=True), 25), UnknownOutcome),
        ((DeadlineExceeded("late", sent=True), 0), bool),
        ((DecodeError("what?"),), UnknownOutcome),
    ],
)
async def test_D22_only_a_word_about_every_try_is_a_refusal(answers: tuple[object, ...], kind: type) -> None:
    script = Script(*answers)
    done = await write_commits(script, "g", {ZERO: BOTH[ZERO]})  # type: ignore[arg-type]
    assert type(done[ZERO]) is kind
    assert script.forgotten == ["g"] * (len(answers) - 1)
