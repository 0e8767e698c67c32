"""The running KIP-848 member against a coordinator in memory."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kcli import codes
from kcli.config.properties.merged import read_properties
from kcli.consumer.kip848 import ConsumerGroupSession
from kcli.errors import BrokerError, ConnectError, UnsupportedVersion, UsageError
from kcli.model import OffsetAndMetadata
from kcli.model import TopicPartition as TP
from kcli.settings import GroupSettings
from tests.consumer.group.fake_848 import Fake848, places
from tests.consumer.group.fakes import Reader
from tests.consumer.group.test_group import until

FAST = GroupSettings(group="g", protocol="consumer", rebalance_timeout=2.0, auto_commit=False)


@asynccontextmanager
async def member(
    kafka: Fake848, settings: GroupSettings = FAST, topics: Any = ("t",)
) -> AsyncIterator[tuple[ConsumerGroupSession, Reader]]:
    reader = Reader(kafka.log)
    session = ConsumerGroupSession(
        kafka, settings, reader, reader, retry_backoff=0.002, retry_backoff_max=0.01, request_timeout=1.0
    )
    await session.start(topics)
    try:
        yield session, reader
    finally:
        await session.close(timeout=1.0)


def steps(kafka: Fake848) -> list[str]:
    return [one for one in kafka.log if one not in ("ConsumerGroupHeartbeat", "refresh")]


async def test_E55_joins_with_an_id_of_its_own_owns_what_it_is_told_and_leaves() -> None:
    kafka = Fake848()
    async with member(kafka) as (session, reader):
        await until(lambda: kafka.owned == places(0, 1, 2, 3))
        assert reader.owned == session.assignment == {TP("t", n) for n in range(4)}
        assert (session.generation, session.rejoining) == (1, False)
        name = session.member_id
    assert {one.member_id for one in kafka.beats} == {name}
    assert [kafka.beats[0].member_epoch, kafka.beats[-1].member_epoch] == [0, -1]
    assert not reader.owned


async def test_E55_a_static_member_says_that_it_comes_back() -> None:
    kafka = Fake848()
    async with member(kafka, FAST.replace(instance_id="i")) as (_, reader):
        await until(lambda: reader.owned)
    assert (kafka.beats[-1].member_epoch, kafka.beats[-1].instance_id) == (-2, "i")


async def test_E58_E39_finish_commit_revoke_tell_then_take() -> None:
    kafka = Fake848()
    kafka.target = places(0, 1)
    async with member(kafka, FAST.replace(auto_commit=True)) as (session, reader):
        await until(lambda: kafka.owned == places(0, 1))
        reader.positions = {TP("t", 0): OffsetAndMetadata(7)}
        reader.settled.clear()
        kafka.log.clear()
        kafka.want(1, 2)
        await until(lambda: "settling" in kafka.log)
        assert session.assignment == {TP("t", 1)}
        before = len(kafka.beats)
        await until(lambda: len(kafka.beats) > before + 3)  # heartbeats go on, and say nothing new
        assert all(one.topic_partitions is None for one in kafka.beats[before:])
        reader.settled.set()
        await until(lambda: kafka.owned == places(1, 2))
        order = ["settling", "settled", "OffsetCommit", "revoked", "owns [1]"]
        assert steps(kafka)[:5] == order
        assert sorted(steps(kafka)[5:]) == ["assigned", "owns [1, 2]"]
        assert kafka.committed == {TP("t", 0): OffsetAndMetadata(7)}


async def test_E57_partitions_of_a_topic_we_have_not_seen_are_taken_when_it_has_a_name() -> None:
    kafka = Fake848()
    kafka.target = places(0) | places(5, topic="later")
    async with member(kafka) as (_, reader):
        await until(lambda: kafka.owned == places(0))  # the topic does not exist here yet
        assert reader.owned == {TP("t", 0)}
        kafka.counts["later"] = 6
        kafka.hidden.add("later")  # the client's metadata never sees it; asked by id the cluster tells its name
        await until(lambda: reader.owned == {TP("t", 0), TP("later", 5)})
        await until(lambda: kafka.owned == kafka.target)
        assert "refresh" in kafka.log
        assert sum(one.member_epoch == 0 for one in kafka.beats) == 1


@pytest.mark.parametrize("code", [codes.FENCED_MEMBER_EPOCH, codes.UNKNOWN_MEMBER_ID])
async def test_E53_E59_a_fenced_member_loses_all_and_joins_again_with_the_same_id(code: codes.ErrorCode) -> None:
    kafka = Fake848()
    async with member(kafka, FAST.replace(auto_commit=True)) as (session, reader):
        await until(lambda: kafka.owned)
        reader.positions = {TP("t", 0): OffsetAndMetadata(7)}
        name = session.member_id
        kafka.errors["ConsumerGroupHeartbeat"] = deque([code])
        await until(lambda: "lost" in kafka.log and session.generation == 2 and reader.owned)
        assert session.member_id == name
        assert "revoked" not in kafka.log
        assert "OffsetCommit" not in kafka.log


async def test_E53_an_epoch_that_is_fenced_during_a_revocation_is_lost_and_not_committed() -> None:
    kafka = Fake848()
    async with member(kafka, FAST.replace(auto_commit=True)) as (session, reader):
        await until(lambda: kafka.owned)
        reader.positions = {TP("t", 0): OffsetAndMetadata(5)}
        reader.settled.clear()
        kafka.want(1, 2, 3)
        await until(lambda: "settling" in kafka.log)
        kafka.errors["ConsumerGroupHeartbeat"] = deque([codes.FENCED_MEMBER_EPOCH])
        await until(lambda: session.generation < 0)
        reader.settled.set()
        await until(lambda: reader.owned == {TP("t", n) for n in (1, 2, 3)} and session.generation > 0)
        assert "lost" in kafka.log
        assert "revoked" not in kafka.log
        assert "OffsetCommit" not in kafka.log


@pytest.mark.parametrize(
    "trouble",
    [codes.NOT_COORDINATOR, codes.COORDINATOR_LOAD_IN_PROGRESS, ConnectError("gone", sent=True)],
    ids=["NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS", "connection lost"],
)
async def test_C15_E56_a_coordinator_in_trouble_is_asked_again_in_full(trouble: Any) -> None:
    kafka = Fake848()
    async with member(kafka) as (session, reader):
        await until(lambda: kafka.owned)
        before = len(kafka.beats)
        kafka.errors["ConsumerGroupHeartbeat"] = deque([trouble, trouble])
        await until(lambda: any(one.subscribed_topic_names == ["t"] for one in kafka.beats[before:]))
        assert session.generation == 1
        assert reader.owned
        assert "lost" not in kafka.log
        assert (kafka.moves > 0) == (trouble is not codes.COORDINATOR_LOAD_IN_PROGRESS)


@pytest.mark.parametrize("trouble", [codes.UNSUPPORTED_VERSION, UnsupportedVersion("68")], ids=["code", "not spoken"])
async def test_E59_a_broker_without_the_protocol_is_told_and_classic_is_offered(trouble: Any) -> None:
    kafka = Fake848()
    kafka.errors["ConsumerGroupHeartbeat"] = deque([trouble])
    async with member(kafka) as (session, _):
        await until(lambda: session.failed)
        with pytest.raises(UnsupportedVersion, match=r"KIP-848 .* group\.protocol=classic"):
            session.polled()


async def test_E62_what_the_server_says_of_a_pattern_is_shown() -> None:
    kafka = Fake848()
    kafka.message = "SubscribedTopicRegex `(` is not a valid regular expression: missing closing )"
    kafka.errors["ConsumerGroupHeartbeat"] = deque([codes.INVALID_REGULAR_EXPRESSION])
    async with member(kafka, topics="(") as (session, _):
        await until(lambda: session.failed)
        with pytest.raises(BrokerError, match="missing closing"):
            session.polled()


async def test_E60_commits_and_fetches_name_member_and_epoch_and_a_stale_one_goes_again() -> None:
    kafka = Fake848()
    async with member(kafka) as (session, _):
        await until(lambda: kafka.owned)
        kafka.interval = 60_000
        await asyncio.sleep(0.03)
        kafka.generation = 9  # nobody told us
        await session.commit({TP("t", 1): OffsetAndMetadata(5)})
        assert kafka.committed == {TP("t", 1): OffsetAndMetadata(5)}
        epochs = [one.generation_id_or_member_epoch for one in kafka.asked if type(one).__name__.startswith("OffsetC")]
        assert (epochs[0], epochs[-1]) == (1, 9)
        found = await session.committed([TP("t", 1)])
        assert found[TP("t", 1)] == OffsetAndMetadata(5)
        group = kafka.asked[-1].groups[0]
        assert (group.member_id, group.member_epoch) == (session.member_id, 9)


async def test_E38_a_partition_that_is_not_owned_is_not_committed() -> None:
    kafka = Fake848()
    kafka.target = places(0)
    async with member(kafka) as (session, _):
        await until(lambda: kafka.owned)
        with pytest.raises(BrokerError, match="not assigned to this member"):
            await session.commit({TP("t", 3): OffsetAndMetadata(5)})
        assert "OffsetCommit" not in kafka.log


async def test_E47_not_polled_means_leave_and_lost_and_the_next_poll_joins_again() -> None:
    kafka = Fake848()
    async with member(kafka, FAST.replace(max_poll_interval=0.05)) as (session, reader):
        await until(lambda: any(one.member_epoch == -1 for one in kafka.beats) and "lost" in kafka.log)
        count = len(kafka.beats)
        await asyncio.sleep(0.03)
        assert len(kafka.beats) == count
        session.polled()
        await until(lambda: reader.owned)


async def test_B29_a_callback_that_raises_ends_the_session() -> None:
    kafka = Fake848()
    reader = Reader(kafka.log)

    async def broken(partitions: set[TP]) -> None:
        reader.owned |= partitions
        raise RuntimeError("the user's own")

    reader.on_assigned = broken  # type: ignore[method-assign]
    session = ConsumerGroupSession(kafka, FAST, reader, reader)  # type: ignore[arg-type]
    await session.start(["t"])
    await until(lambda: session.failed)
    with pytest.raises(RuntimeError, match="the user's own"):
        session.check()
    await session.close()
    assert kafka.count("lost") == 1
    assert not reader.owned


@pytest.mark.parametrize(
    "said", ["session.timeout.ms=6000", "heartbeat.interval.ms=3000", "partition.assignment.strategy=range"]
)
def test_E61_what_the_coordinator_decides_may_not_be_set(said: str) -> None:
    with pytest.raises(UsageError, match=said.partition("=")[0]):
        read_properties(None, ["group.protocol=consumer", said]).member()
    assert read_properties(None, ["group.protocol=classic", said]).member()
    with pytest.raises(UsageError, match=r"group\.protocol=consumer"):
        read_properties(None, ["group.remote.assignor=range"]).member()


async def test_E61_nor_by_a_program() -> None:
    kafka = Fake848()
    reader = Reader(kafka.log)
    for changes in ({"session_timeout": 6.0}, {"heartbeat_interval": 1.0}, {"assignors": ("sticky",)}):
        with pytest.raises(UsageError, match=r"cannot be used with group\.protocol=consumer"):
            ConsumerGroupSession(kafka, FAST.replace(**changes), reader, reader)  # type: ignore[arg-type]
