"""The running member against a coordinator in memory."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kcli import codes
from kcli.consumer.classic.member import GroupSession
from kcli.errors import BrokerError, Closed, ConnectError, DeadlineExceeded
from kcli.model import OffsetAndMetadata
from kcli.model import TopicPartition as TP
from kcli.settings import GroupSettings
from tests.consumer.group.fakes import FakeKafka, Reader

pytestmark = pytest.mark.usefixtures("leaping_clock")

FAST = GroupSettings(group="g", heartbeat_interval=0.01, session_timeout=2.0, rebalance_timeout=2.0, auto_commit=False)
COOPERATIVE = FAST.replace(assignors=("cooperative-sticky",))


async def until(condition: Callable[[], object], within: float = 3.0) -> None:
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110 - the fake has no events for everything
            await asyncio.sleep(0.002)


@asynccontextmanager
async def member(
    kafka: FakeKafka, settings: GroupSettings = FAST, topics: Any = ("t",), name: str = "", **options: Any
) -> AsyncIterator[tuple[GroupSession, Reader]]:
    reader = Reader(kafka.log, name)
    session = GroupSession(
        kafka, settings, reader, reader, retry_backoff=0.002, retry_backoff_max=0.01, request_timeout=1.0, **options
    )
    await session.start(topics)
    try:
        yield session, reader
    finally:
        await session.close(timeout=1.0)


async def test_E45_a_member_id_is_asked_for_and_used() -> None:
    kafka = FakeKafka()
    async with member(kafka) as (session, reader):
        await until(lambda: reader.owned)
        assert kafka.count("JoinGroup") == 2
        assert reader.owned == session.assignment == {TP("t", n) for n in range(4)}
        assert (session.member_id, session.generation, session.rejoining) == ("m1", 1, False)
    assert kafka.log[-2:] == ["revoked", "LeaveGroup"]
    assert not reader.owned
    with pytest.raises(Closed):
        session.polled()


async def test_E46_heartbeats_go_on_while_a_callback_or_a_handler_is_busy() -> None:
    kafka = FakeKafka()
    async with member(kafka) as (_, reader):
        await until(lambda: reader.owned)
        reader.settled.clear()
        kafka.rebalance()
        await until(lambda: "settling" in kafka.log)
        before = kafka.count("Heartbeat")
        await until(lambda: kafka.count("Heartbeat") > before + 3)
        assert kafka.count("JoinGroup") == 2
        assert kafka.moves == 0
        reader.settled.set()
        await until(lambda: kafka.generation == 2 and reader.owned)


async def test_E39_handlers_commit_callback_join_in_that_order() -> None:
    kafka = FakeKafka()
    async with member(kafka, FAST.replace(auto_commit=True)) as (_, reader):
        await until(lambda: reader.owned)
        reader.positions = {TP("t", 1): OffsetAndMetadata(7, 3, "x")}
        reader.settled.clear()
        del kafka.log[:]
        kafka.rebalance()
        await until(lambda: "settling" in kafka.log)
        await asyncio.sleep(0.02)
        reader.settled.set()
        await until(lambda: kafka.generation == 2 and reader.owned)
        order = [step for step in kafka.log if step != "Heartbeat"]
        assert order[:6] == ["settling", "settled", "OffsetCommit", "revoked", "JoinGroup", "Metadata"]
        assert kafka.committed == {TP("t", 1): OffsetAndMetadata(7, 3, "x")}


async def test_E36_a_handler_that_hangs_does_not_keep_the_group_waiting_for_ever() -> None:
    kafka = FakeKafka()
    async with member(kafka, FAST.replace(rebalance_timeout=0.1)) as (_, reader):
        await until(lambda: reader.owned)
        reader.settled.clear()
        del kafka.log[:]
        began = asyncio.get_running_loop().time()
        kafka.rebalance()
        await until(lambda: "JoinGroup" in kafka.log)
        assert asyncio.get_running_loop().time() - began > 0.05, "half of the timeout at least"
        await until(lambda: kafka.generation == 2 and reader.owned)
        order = [one for one in kafka.log if one not in ("Heartbeat", "refresh", "Metadata")]
        assert order[:3] == ["settling", "revoked", "JoinGroup"]
        assert "settled" not in kafka.log


async def test_E53_a_generation_that_goes_during_a_revocation_is_lost_and_not_committed() -> None:
    kafka = FakeKafka()
    async with member(kafka, FAST.replace(auto_commit=True)) as (session, reader):
        await until(lambda: reader.owned)
        reader.positions = {TP("t", 0): OffsetAndMetadata(5)}
        reader.settled.clear()
        kafka.rebalance()
        await until(lambda: "settling" in kafka.log)
        kafka.fence(session.member_id)
        await until(lambda: session.generation < 0)
        reader.settled.set()
        await until(lambda: reader.owned and session.generation > 0)
        assert "lost" in kafka.log
        assert "revoked" not in kafka.log
        assert "OffsetCommit" not in kafka.log


async def test_E53_a_user_is_not_waited_for_when_the_generation_has_gone() -> None:
    kafka = FakeKafka()
    async with member(kafka, FAST.replace(rebalance_timeout=600.0)) as (session, reader):
        await until(lambda: reader.owned)
        reader.settled.clear()
        kafka.rebalance()
        await until(lambda: "settling" in kafka.log)
        kafka.fence(session.member_id)
        await until(lambda: reader.owned and session.generation > 1, within=60)
        assert "lost" in kafka.log
        assert "settled" not in kafka.log


@pytest.mark.parametrize("code", [codes.ILLEGAL_GENERATION, codes.UNKNOWN_MEMBER_ID])
async def test_E53_a_lost_generation_is_lost_not_revoked_and_not_committed(code: codes.ErrorCode) -> None:
    kafka = FakeKafka()
    async with member(kafka, FAST.replace(auto_commit=True)) as (session, reader):
        await until(lambda: reader.owned)
        reader.positions = {TP("t", 0): OffsetAndMetadata(5)}
        before = session.member_id
        kafka.errors["Heartbeat"] = deque([code])
        if code == codes.UNKNOWN_MEMBER_ID:
            kafka.fence(before)
        await until(lambda: "lost" in kafka.log and kafka.generation == 2 and reader.owned)
        assert "revoked" not in kafka.log
        assert "OffsetCommit" not in kafka.log
        assert (session.member_id == before) == (code == codes.ILLEGAL_GENERATION)  # E40: the id is kept


@pytest.mark.parametrize("api", ["JoinGroup", "SyncGroup", "Heartbeat"])
@pytest.mark.parametrize("name", ["NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS"])
async def test_C15_the_coordinator_is_found_again_at_every_step(api: str, name: str) -> None:
    kafka = FakeKafka()
    kafka.errors[api] = deque([getattr(codes, name), getattr(codes, name)])
    async with member(kafka) as (_, reader):
        await until(lambda: reader.owned and not kafka.errors[api])
        assert (kafka.moves > 0) == (name != "COORDINATOR_LOAD_IN_PROGRESS")
        assert "lost" not in kafka.log


@pytest.mark.parametrize("api", ["JoinGroup", "SyncGroup", "Heartbeat", "Metadata"])
@pytest.mark.parametrize("error", [ConnectError("gone", sent=True), DeadlineExceeded("slow", sent=True)])
async def test_C15_a_broken_connection_at_every_step_is_survived(api: str, error: Exception) -> None:
    kafka = FakeKafka()
    kafka.errors[api] = deque([error, error])
    async with member(kafka) as (_, reader):
        await until(lambda: reader.owned and not kafka.errors[api])
        assert "lost" not in kafka.log


@pytest.mark.parametrize("step", ["JoinGroup", "SyncGroup"])
@pytest.mark.parametrize("name", ["REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"])
async def test_E40_a_join_that_meets_a_rebalance_starts_over(step: str, name: str) -> None:
    kafka = FakeKafka()
    kafka.errors[step] = deque([getattr(codes, name)])
    async with member(kafka) as (_, reader):
        await until(lambda: reader.owned)


@pytest.mark.parametrize("api", ["JoinGroup", "SyncGroup", "Heartbeat"])
@pytest.mark.parametrize("name", ["FENCED_INSTANCE_ID", "GROUP_AUTHORIZATION_FAILED", "INVALID_GROUP_ID"])
async def test_E40_fatal_errors_end_the_session_and_wake_who_waits(api: str, name: str) -> None:
    kafka = FakeKafka()
    kafka.errors[api] = deque([getattr(codes, name)])
    async with member(kafka) as (session, reader):
        told: list[BaseException] = []
        session.on_failed = told.append
        await until(lambda: session.failed)
        with pytest.raises(BrokerError, match=name):
            session.polled()
        with pytest.raises(BrokerError, match=name):
            await session.commit({TP("t", 0): OffsetAndMetadata(1)})
        assert told == [session.failed]
        assert session.assignment == frozenset()
        await until(lambda: not reader.owned)
        assert "LeaveGroup" not in kafka.log


async def test_B29_a_callback_that_raises_ends_the_session() -> None:
    kafka = FakeKafka()
    reader = Reader(kafka.log)

    async def broken(partitions: set[TP]) -> None:
        reader.owned |= partitions
        raise RuntimeError("the user's own")

    reader.on_assigned = broken  # type: ignore[method-assign]
    session = GroupSession(kafka, FAST, reader, reader)  # type: ignore[arg-type]
    await session.start(["t"])
    await until(lambda: session.failed)
    with pytest.raises(RuntimeError, match="the user's own"):
        session.check()
    await session.close()
    assert kafka.count("lost") == 1
    assert not reader.owned


async def test_E47_not_polled_means_leave_and_lost_and_the_next_poll_joins_again() -> None:
    kafka = FakeKafka()
    async with member(kafka, FAST.replace(max_poll_interval=0.05)) as (session, reader):
        await until(lambda: reader.owned)
        await until(lambda: "LeaveGroup" in kafka.log and "lost" in kafka.log)
        joins = kafka.count("JoinGroup")
        await asyncio.sleep(0.05)
        assert kafka.count("JoinGroup") == joins
        session.polled()
        await until(lambda: reader.owned)


async def test_E48_a_static_member_does_not_leave_and_comes_back_without_a_rebalance() -> None:
    kafka = FakeKafka()
    static = FAST.replace(instance_id="i1")
    async with member(kafka, static) as (_, reader):
        await until(lambda: reader.owned)
    assert "LeaveGroup" not in kafka.log
    kafka.skip_assignment = True
    async with member(kafka, static) as (session, reader):
        await until(lambda: reader.owned)
        assert kafka.generation == session.generation == 1
        sync = next(one for one in reversed(kafka.asked) if type(one).__name__ == "SyncGroupRequest")
        assert sync.assignments == []  # KIP-814
        assert sync.group_instance_id == "i1"
        await session.commit({TP("t", 0): OffsetAndMetadata(1)})
        assert kafka.asked[-1].group_instance_id == "i1"


async def test_E52_partitions_that_stay_are_never_given_up_in_a_cooperative_rebalance() -> None:
    kafka = FakeKafka()
    async with member(kafka, COOPERATIVE, name="a:") as (first, a):
        await until(lambda: len(a.owned) == 4)
        stayed = set(a.owned)

        async def shrink() -> None:
            while len(a.owned) > 2:
                stayed.intersection_update(a.owned)
                await asyncio.sleep(0)

        watching = asyncio.create_task(shrink())
        async with member(kafka, COOPERATIVE, name="b:") as (_, b):
            await until(lambda: len(a.owned) == len(b.owned) == 2 and not first.rejoining)
            assert not a.owned & b.owned
            assert len(stayed) >= 2
            assert kafka.log.count("a:revoked") == 1
        await watching
        await until(lambda: len(a.owned) == 4)
        assert kafka.log.count("a:revoked") == 1


async def test_E52_revoked_partitions_are_committed_before_the_second_join() -> None:
    kafka = FakeKafka()
    async with member(kafka, COOPERATIVE.replace(auto_commit=True), name="a:") as (_, a):
        await until(lambda: len(a.owned) == 4)
        a.positions = {at: OffsetAndMetadata(9) for at in a.owned}
        async with member(kafka, COOPERATIVE, name="b:") as (_, b):
            await until(lambda: len(b.owned) == 2)
            assert set(kafka.committed) == b.owned


async def test_two_eager_members_share_and_take_over() -> None:
    kafka = FakeKafka()
    async with member(kafka, name="a:") as (_, a):
        async with member(kafka, name="b:") as (_, b):
            await until(lambda: len(a.owned) == len(b.owned) == 2)
            assert not a.owned & b.owned
        await until(lambda: len(a.owned) == 4)


async def test_E54_a_changed_subscription_joins_again() -> None:
    kafka = FakeKafka({"t": 2, "u": 1})
    async with member(kafka) as (session, reader):
        await until(lambda: len(reader.owned) == 2)
        await session.start(["u"])
        await until(lambda: reader.owned == {TP("u", 0)})


async def test_E54_a_new_topic_that_matches_and_new_partitions_join_again() -> None:
    kafka = FakeKafka({"logs-a": 1, "other": 1})
    async with member(kafka, topics="logs-.*", metadata_max_age=0.01) as (_, reader):
        await until(lambda: reader.owned == {TP("logs-a", 0)})
        kafka.counts["logs-b"] = 1
        await until(lambda: reader.owned == {TP("logs-a", 0), TP("logs-b", 0)})
        kafka.counts["logs-b"] = 2
        await until(lambda: len(reader.owned) == 3)


async def test_E49_the_leader_watches_topics_it_does_not_read() -> None:
    kafka = FakeKafka({"t": 1, "u": 1})
    async with member(kafka, name="a:", metadata_max_age=0.01) as (_, a):
        await until(lambda: a.owned)
        async with member(kafka, topics=["u"], name="b:") as (_, b):
            await until(lambda: b.owned == {TP("u", 0)})
            kafka.counts["u"] = 3
            await until(lambda: len(b.owned) == 3)


async def test_E49_a_malformed_member_gets_nothing_and_hurts_nobody() -> None:
    kafka = FakeKafka()
    async with member(kafka) as (_, reader):
        await until(lambda: reader.owned)
        from tests.consumer.group.fakes import Member

        stranger = kafka.members["stranger"] = Member({"range": b"\x00\x03\xff\xff", "x": b""}, None)
        stranger.joining = asyncio.get_running_loop().create_future()
        kafka.rebalance()
        await until(lambda: kafka.generation == 2 and len(reader.owned) == 4)


@pytest.mark.parametrize(
    "name", ["COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR", "UNKNOWN_TOPIC_OR_PARTITION", "REQUEST_TIMED_OUT"]
)
async def test_C15_E40_a_commit_is_retried_over_a_moving_coordinator(name: str) -> None:
    kafka = FakeKafka()
    async with member(kafka) as (session, reader):
        await until(lambda: reader.owned)
        kafka.errors["OffsetCommit"] = deque([getattr(codes, name), ConnectError("gone", sent=True)])
        await session.commit({TP("t", 0): OffsetAndMetadata(3)})
        assert kafka.committed[TP("t", 0)].offset == 3
        assert kafka.count("OffsetCommit") == 3


@pytest.mark.parametrize(
    ("name", "rejoins"),
    [
        ("REBALANCE_IN_PROGRESS", True),
        ("ILLEGAL_GENERATION", True),
        ("UNKNOWN_MEMBER_ID", True),
        ("OFFSET_METADATA_TOO_LARGE", False),
        ("TOPIC_AUTHORIZATION_FAILED", False),
    ],
)
async def test_E40_a_commit_that_cannot_be_mended_is_the_callers(name: str, rejoins: bool) -> None:
    kafka = FakeKafka()
    async with member(kafka) as (session, reader):
        await until(lambda: reader.owned)
        joins = kafka.count("JoinGroup")
        kafka.errors["OffsetCommit"] = deque([getattr(codes, name)])
        with pytest.raises(BrokerError, match=name):
            await session.commit({TP("t", 0): OffsetAndMetadata(3)})
        assert session.rejoining == rejoins
        if rejoins:
            kafka.rebalance()
            await until(lambda: kafka.count("JoinGroup") > joins and reader.owned)


async def test_E42_an_older_commit_never_overtakes_a_newer_one() -> None:
    kafka = FakeKafka()
    async with member(kafka) as (session, reader):
        await until(lambda: reader.owned)
        gate = asyncio.Event()
        kafka.errors["OffsetCommit"] = deque([gate])
        old = asyncio.create_task(session.commit({TP("t", 0): OffsetAndMetadata(100)}))
        await asyncio.sleep(0)
        new = asyncio.create_task(session.commit({TP("t", 0): OffsetAndMetadata(200)}))
        await asyncio.sleep(0.01)
        gate.set()
        await asyncio.gather(old, new)
        assert kafka.committed[TP("t", 0)].offset == 200


async def test_E41_an_answer_to_an_old_generation_changes_nothing() -> None:
    kafka = FakeKafka()
    async with member(kafka) as (session, reader):
        await until(lambda: reader.owned)
        gate = asyncio.Event()
        kafka.errors["OffsetCommit"] = deque([gate])
        late = asyncio.create_task(session.commit({TP("t", 0): OffsetAndMetadata(1)}))
        await asyncio.sleep(0.01)
        kafka.rebalance()
        await until(lambda: kafka.generation == 2 and reader.owned)
        joins = kafka.count("JoinGroup")
        gate.set()
        with pytest.raises(BrokerError, match="ILLEGAL_GENERATION"):
            await late
        assert not session.rejoining
        await asyncio.sleep(0.03)
        assert kafka.count("JoinGroup") == joins


async def test_E38_a_partition_that_is_not_ours_is_not_committed() -> None:
    kafka = FakeKafka()
    async with member(kafka) as (session, reader):
        await until(lambda: reader.owned)
        with pytest.raises(BrokerError, match="not assigned to this member"):
            await session.commit({TP("x", 0): OffsetAndMetadata(1)})
        assert "OffsetCommit" not in kafka.log


async def test_E38_auto_commit_sends_what_changed_and_only_that() -> None:
    kafka = FakeKafka()
    async with member(kafka, FAST.replace(auto_commit=True, auto_commit_interval=0.01)) as (_, reader):
        await until(lambda: reader.owned)
        reader.positions = {TP("t", 0): OffsetAndMetadata(4)}
        await until(lambda: kafka.committed)
        await asyncio.sleep(0.03)
        assert kafka.count("OffsetCommit") == 1
        reader.positions = {TP("t", 0): OffsetAndMetadata(4), TP("t", 1): OffsetAndMetadata(2)}
        await until(lambda: TP("t", 1) in kafka.committed)
        last = next(one for one in reversed(kafka.asked) if type(one).__name__ == "OffsetCommitRequest")
        assert [len(topic.partitions) for topic in last.topics] == [1]


@pytest.mark.parametrize("highest", [{}, {8: 9, 9: 9}, {8: 7, 9: 7}, {8: 5, 9: 5}])
async def test_E19_E20_offsets_are_read_until_certain_in_every_version(highest: dict[int, int]) -> None:
    kafka = FakeKafka(highest=highest)
    reader = Reader(kafka.log)
    session = GroupSession(kafka, FAST, reader, reader, retry_backoff=0.001)  # type: ignore[arg-type]
    await session.commit({TP("t", 2): OffsetAndMetadata(42, 5, "here")})
    kafka.errors["OffsetFetch"] = deque(
        [DeadlineExceeded("slow"), codes.UNSTABLE_OFFSET_COMMIT, codes.NOT_COORDINATOR, ConnectError("gone")]
    )
    found = await session.committed([TP("t", 2), TP("t", 3)])
    assert found[TP("t", 3)] is None
    stored = found[TP("t", 2)]
    assert stored is not None
    assert stored.offset == 42
    assert kafka.count("OffsetFetch") == 5
    version = highest.get(9, 10)
    assert kafka.asked[-1].require_stable == (version >= 7)
    await session.close()


async def test_E19_a_fetch_that_never_succeeds_raises_instead_of_guessing() -> None:
    kafka = FakeKafka()
    reader = Reader(kafka.log)
    session = GroupSession(kafka, FAST, reader, reader, retry_backoff=0.001)  # type: ignore[arg-type]
    kafka.errors["OffsetFetch"] = deque([codes.UNSTABLE_OFFSET_COMMIT] * 10_000)
    with pytest.raises(BrokerError, match="UNSTABLE_OFFSET_COMMIT"):
        await session.committed([TP("t", 0)], timeout=0.05)
    await session.close()


async def test_E44_close_keeps_its_deadline_when_the_coordinator_is_dead() -> None:
    kafka = FakeKafka()
    reader = Reader(kafka.log)
    session = GroupSession(kafka, FAST.replace(auto_commit=True), reader, reader)  # type: ignore[arg-type]
    await session.start(["t"])
    await until(lambda: reader.owned)
    reader.positions = {TP("t", 0): OffsetAndMetadata(4)}
    never = asyncio.Event()
    for api in ("OffsetCommit", "LeaveGroup", "Heartbeat"):
        kafka.errors[api] = deque([never] * 100)
    began = asyncio.get_running_loop().time()
    await session.close(timeout=0.1)
    assert asyncio.get_running_loop().time() - began < 0.5
    assert len([task for task in asyncio.all_tasks() if "kcli group" in task.get_name()]) == 0


async def test_E44_close_in_the_middle_of_a_rebalance_does_not_wait_for_the_handler() -> None:
    kafka = FakeKafka()
    async with member(kafka) as (session, reader):
        await until(lambda: reader.owned)
        reader.settled.clear()
        kafka.rebalance()
        await until(lambda: "settling" in kafka.log)
        await session.close(timeout=1.0)
        assert "LeaveGroup" in kafka.log
        assert not reader.owned


async def test_B29_close_at_any_moment_of_the_join_leaves_nothing_behind() -> None:
    for steps in range(40):
        kafka = FakeKafka()
        reader = Reader(kafka.log)
        session = GroupSession(kafka, FAST, reader, reader)  # type: ignore[arg-type]
        await session.start(["t"])
        for _ in range(steps):
            await asyncio.sleep(0)
        await session.close(timeout=1.0)
        assert not reader.owned
        assert len(asyncio.all_tasks()) == 1
        assert not kafka.members or "LeaveGroup" not in kafka.log


async def test_the_session_expires_by_our_own_clock_when_nobody_answers() -> None:
    kafka = FakeKafka()
    async with member(kafka, FAST.replace(session_timeout=0.06)) as (_, reader):
        await until(lambda: reader.owned)
        kafka.errors["Heartbeat"] = deque([ConnectError("gone")] * 1000)
        await until(lambda: "lost" in kafka.log)
        kafka.errors.clear()
        await until(lambda: reader.owned)
        assert "revoked" not in kafka.log


async def test_E45_a_group_of_another_kind_is_refused() -> None:
    kafka = FakeKafka()
    async with member(kafka) as (session, reader):
        await until(lambda: reader.owned)

        def joined(name: str, *, skip: bool = False) -> Any:
            answer = FakeKafka._joined(kafka, name, skip=skip)
            answer.protocol_type = "connect"
            return answer

        kafka._joined = joined  # type: ignore[method-assign]
        kafka.rebalance()
        await until(lambda: session.failed)
        with pytest.raises(BrokerError, match="connect"):
            session.check()
