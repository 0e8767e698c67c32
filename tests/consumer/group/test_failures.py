"""A group's member when things break in the middle: what was owned is told, commits keep their order, ends come."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Any

import pytest

from kcli import codes
from kcli.consumer.classic.member import GroupSession
from kcli.errors import BrokerError, Closed, ConnectError, DeadlineExceeded, DecodeError
from kcli.model import OffsetAndMetadata
from kcli.model import TopicPartition as TP
from tests.consumer.group.fakes import FakeKafka, Reader
from tests.consumer.group.test_group import COOPERATIVE, FAST, member, until

ALL = {TP("t", n) for n in range(4)}


@pytest.mark.parametrize("api", ["JoinGroup", "SyncGroup"])
async def test_E53_a_join_that_fails_for_good_tells_a_cooperative_member_that_all_is_lost(api: str) -> None:
    kafka = FakeKafka()
    async with member(kafka, COOPERATIVE) as (session, reader):
        await until(lambda: reader.owned == ALL)
        kafka.errors[api] = deque([codes.GROUP_AUTHORIZATION_FAILED])
        kafka.rebalance()
        await until(lambda: "lost" in kafka.log and session.failed is not None)
        assert not reader.owned
        with pytest.raises(BrokerError, match="GROUP_AUTHORIZATION_FAILED"):
            session.polled()


async def test_E53_a_bug_in_the_middle_of_a_join_tells_a_cooperative_member_that_all_is_lost() -> None:
    kafka = FakeKafka()
    async with member(kafka, COOPERATIVE) as (session, reader):
        await until(lambda: reader.owned == ALL)
        kafka.errors["JoinGroup"] = deque([RuntimeError("a bug")])
        kafka.rebalance()
        await until(lambda: "lost" in kafka.log)
        assert isinstance(session.failed, RuntimeError)
    assert kafka.log.count("lost") == 1


async def test_E53_a_heartbeat_that_fails_for_good_during_a_join_tells_what_is_lost() -> None:
    kafka = FakeKafka()
    async with member(kafka, COOPERATIVE) as (session, reader):
        await until(lambda: reader.owned == ALL)
        never = asyncio.Event()
        kafka.errors["SyncGroup"] = deque([never])
        kafka.rebalance()
        await until(lambda: kafka.errors["SyncGroup"] == deque())
        kafka.errors["Heartbeat"] = deque([codes.FENCED_INSTANCE_ID] * 9)
        await until(lambda: session.failed is not None or session._member.error is not None)
        never.set()
        await until(lambda: "lost" in kafka.log)
        assert not reader.owned


@pytest.mark.parametrize("problem", [Closed("the seed broker was closed"), DecodeError("nonsense")])
@pytest.mark.parametrize("api", ["JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit", "OffsetFetch", "Metadata"])
async def test_C15_a_connection_that_was_closed_or_spoke_nonsense_is_a_way_that_was_lost(
    api: str, problem: Exception
) -> None:
    kafka = FakeKafka()
    kafka.errors[api] = deque([problem])
    async with member(kafka) as (session, reader):
        await until(lambda: reader.owned == ALL)
        await session.commit({TP("t", 0): OffsetAndMetadata(3)})
        assert (await session.committed([TP("t", 0)]))[TP("t", 0)] == OffsetAndMetadata(3)
        await until(lambda: not kafka.errors[api])
        assert session.failed is None


async def test_B30_a_client_that_was_closed_under_a_member_ends_it_at_once() -> None:
    kafka = FakeKafka()
    async with member(kafka) as (session, reader):
        await until(lambda: reader.owned == ALL)

        async def coordinator(of: Any) -> Any:
            raise Closed("the client was closed")

        kafka.coordinator = coordinator  # type: ignore[method-assign]
        await until(lambda: session.failed is not None)
        with pytest.raises(Closed):
            session.polled()


async def test_E39_E42_a_join_does_not_overtake_a_commit_made_by_hand() -> None:
    kafka = FakeKafka()
    async with member(kafka) as (session, reader):
        await until(lambda: reader.owned == ALL)
        gate = asyncio.Event()
        kafka.errors["OffsetCommit"] = deque([gate])
        committing = asyncio.create_task(session.commit({TP("t", 0): OffsetAndMetadata(9)}))
        await until(lambda: "OffsetCommit" in kafka.log)
        del kafka.log[:]
        kafka.rebalance()
        await until(lambda: "settled" in kafka.log)
        await asyncio.sleep(0.03)
        assert not {"revoked", "JoinGroup"} & set(kafka.log)
        gate.set()
        await committing
        await until(lambda: reader.owned == ALL and kafka.generation == 2)
        assert kafka.committed[TP("t", 0)].offset == 9
        assert kafka.log.index("revoked") < kafka.log.index("JoinGroup")


async def test_E39_a_commit_that_is_never_answered_does_not_hold_up_the_group_for_ever() -> None:
    kafka = FakeKafka()
    async with member(kafka, FAST.replace(rebalance_timeout=0.1)) as (session, reader):
        await until(lambda: reader.owned == ALL)
        kafka.errors["OffsetCommit"] = deque([asyncio.Event()])
        committing = asyncio.create_task(session.commit({TP("t", 0): OffsetAndMetadata(9)}, timeout=5))
        await until(lambda: "OffsetCommit" in kafka.log)
        kafka.rebalance()
        await until(lambda: kafka.generation == 2 and reader.owned == ALL)
        committing.cancel()
        await asyncio.wait({committing})


@pytest.mark.parametrize(("session_timeout", "lost"), [(10.0, False), (0.1, True)])
async def test_E46_E53_a_member_that_stood_still_reads_nothing_before_it_has_heard_its_coordinator(
    monkeypatch: pytest.MonkeyPatch, session_timeout: float, lost: bool
) -> None:
    monkeypatch.setattr("kcli.consumer.group.session.OVERDUE", 0.05)
    kafka = FakeKafka()
    async with member(kafka, FAST.replace(session_timeout=session_timeout)) as (session, reader):
        await until(lambda: session.assignment == ALL and session._standstill._pulse is None)
        time.sleep(0.15)  # noqa: ASYNC251 - nothing runs, as in a process that is stopped
        session.polled()
        assert session.assignment == frozenset()
        await until(lambda: session.assignment == reader.owned == ALL)
        assert ("lost" in kafka.log) is lost


async def test_E46_a_member_that_stood_still_reads_nothing_while_its_first_heartbeat_is_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kcli.consumer.group.session.OVERDUE", 0.05)
    kafka = FakeKafka()
    async with member(kafka) as (session, reader):
        await until(lambda: session.assignment == ALL and session._standstill._pulse is None)
        answer = asyncio.Event()
        trusted: list[bool] = []
        session.on_trusted = lambda: trusted.append(True)  # a poll that waits looks again
        kafka.errors["Heartbeat"] = deque([answer])
        time.sleep(0.15)  # noqa: ASYNC251 - nothing runs, as in a process that is stopped
        await until(lambda: session._standstill._pulse is not None)
        session.polled()
        assert session.assignment == frozenset()
        assert not trusted
        answer.set()
        await until(lambda: trusted == [True])
        await until(lambda: session.assignment == reader.owned == ALL)


async def test_E46_a_heartbeat_that_was_under_way_when_the_process_stood_still_says_nothing_of_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kcli.consumer.group.session.OVERDUE", 0.05)
    monkeypatch.setattr("kcli.consumer.group.session.PULSE", 0.01)
    kafka = FakeKafka()
    async with member(kafka) as (session, reader):
        await until(lambda: session.assignment == ALL)
        old, new = asyncio.Event(), asyncio.Event()
        kafka.errors["Heartbeat"] = deque([old, new])
        await until(lambda: session._standstill._pulse is not None)
        beats = kafka.log.count("Heartbeat")
        time.sleep(0.15)  # noqa: ASYNC251 - nothing runs, as in a process that is stopped
        old.set()
        session.polled()
        assert session.assignment == frozenset()
        await until(lambda: kafka.log.count("Heartbeat") > beats)
        assert session.assignment == frozenset()
        new.set()
        await until(lambda: session.assignment == reader.owned == ALL)


async def test_E46_a_member_that_stood_still_just_before_its_heartbeat_reads_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kcli.consumer.group.session.OVERDUE", 0.05)
    kafka = FakeKafka()
    async with member(kafka) as (session, reader):
        await until(lambda: session.assignment == ALL and session._standstill._pulse is None)
        answer, waiting = asyncio.Event(), asyncio.Event()

        def wait(*_: object) -> float:
            waiting.set()
            return 0.01

        monkeypatch.setattr(type(session._floor), "wait", wait)
        kafka.errors["Heartbeat"] = deque([answer])
        await waiting.wait()  # the heartbeat was due in time, and is held back for a moment
        time.sleep(0.15)  # noqa: ASYNC251 - nothing runs, as in a process that is stopped
        await until(lambda: session._standstill._pulse is not None)
        assert session.assignment == frozenset()
        answer.set()
        await until(lambda: session.assignment == reader.owned == ALL)


@pytest.mark.parametrize(
    ("first", "unsure"),
    [
        (ConnectError("the connection broke", sent=True), True),
        (ConnectError("nobody is there", sent=False), False),
        (codes.COORDINATOR_NOT_AVAILABLE, True),  # what it says too when the replicas were too slow
        (codes.COORDINATOR_LOAD_IN_PROGRESS, False),
    ],
)
async def test_E40_a_refusal_after_a_try_that_was_not_answered_does_not_say_that_nothing_was_committed(
    first: Any, unsure: bool
) -> None:
    kafka = FakeKafka()
    async with member(kafka) as (session, reader):
        await until(lambda: reader.owned == ALL)
        kafka.errors["OffsetCommit"] = deque([first, codes.ILLEGAL_GENERATION])
        with pytest.raises(BrokerError, match="ILLEGAL_GENERATION") as refused:
            await session.commit({TP("t", 0): OffsetAndMetadata(9)})
        assert refused.value.sent is unsure
        assert ("the commit may have succeeded" in str(refused.value)) is unsure


async def test_E40_a_commit_whose_time_ends_before_its_answer_may_have_been_made() -> None:
    kafka = FakeKafka()
    async with member(kafka) as (session, reader):
        await until(lambda: reader.owned == ALL)
        kafka.errors["OffsetCommit"] = deque([asyncio.Event()])
        with pytest.raises(DeadlineExceeded) as late:
            await session.commit({TP("t", 0): OffsetAndMetadata(9)}, timeout=0.1)
        assert late.value.sent


@pytest.mark.usefixtures("leaping_clock")
@pytest.mark.parametrize("apis", [("OffsetCommit",), ("LeaveGroup",), ("OffsetCommit", "LeaveGroup", "Heartbeat")])
async def test_E44_close_ends_within_its_deadline_whatever_the_coordinator_does_not_answer(
    apis: tuple[str, ...],
) -> None:
    kafka = FakeKafka()
    reader = Reader(kafka.log)
    session = GroupSession(kafka, FAST.replace(auto_commit=True), reader, reader)  # type: ignore[arg-type]
    await session.start(["t"])
    await until(lambda: reader.owned == ALL)
    reader.positions = {TP("t", 0): OffsetAndMetadata(4)}
    for api in apis:
        kafka.errors[api] = deque([asyncio.Event()] * 50)
    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        await session.close(timeout=15)
    except DeadlineExceeded:
        assert "OffsetCommit" in apis
    assert loop.time() - began < 20
    assert [task for task in asyncio.all_tasks() if "kcli group" in task.get_name()] == []
