"""Workers that outlive the rebalance timeout, on a clock that jumps: the partition is lost, the member stays (E36, E53,
A3.13). tests/kafka/group/test_slow_workers.py does the same to a real Kafka."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from kcli import codes
from kcli.consumer.consumer import Consumer
from kcli.consumer.poll import Fetched
from kcli.consumer.workers import Workers
from kcli.model import TopicPartition
from kcli.settings import ConsumerSettings, GroupSettings
from tests.consumer.group.fake_848 import Fake848
from tests.consumer.group.fakes import FakeKafka
from tests.consumer.log import FakeCluster, Log
from tests.producer.world import now, play

T = 60.0  # the rebalance timeout
SLOW = TopicPartition("t", 0)
PROTOCOLS = ("classic", "consumer")


class World(FakeCluster):  # type: ignore[misc]
    """Logs, and a group whose coordinator keeps to the rebalance timeout."""

    def __init__(self, protocol: str) -> None:
        super().__init__({TopicPartition("t", n): Log().fill(40) for n in range(4)})  # type: ignore[no-untyped-call]
        self.group = Fake848() if protocol == "consumer" else FakeKafka()
        self.group.interval = 3000  # type: ignore[attr-defined]  # ms between KIP-848 heartbeats
        self.ids = {"t": self.group.topic_id("t")}
        self.thrown_out: list[str] = []

    async def coordinator(self, of: Any) -> Any:
        return self.group

    def __getattr__(self, name: str) -> Any:
        return getattr(self.group, name)

    def rebalance(self) -> None:
        """Take partition 0 away; classic members have to give up all and join again."""
        if isinstance(self.group, Fake848):
            self.group.want(1, 2, 3)
        else:
            self.group.rebalance()
        asyncio.get_running_loop().call_later(T, self._time_is_up)

    def _time_is_up(self) -> None:
        if isinstance(self.group, Fake848):
            late = list(self.group.members) if self.group.owned - self.group.target else []
        else:
            late = [n for n, one in self.group.members.items() if self.group.state == "preparing" and not one.joining]
        self.thrown_out += late
        for name in late:
            self.group.fence(name)

    def give_back(self) -> None:
        if isinstance(self.group, Fake848):
            self.group.want(0, 1, 2, 3)

    def given_up(self) -> bool:
        """Whether the member told the coordinator that it has given up what it had to."""
        if isinstance(self.group, Fake848):
            return self.group.owned <= self.group.target
        return self.group.state != "preparing"


class Books:
    """What the workers did, and how the slow one behaves in its second call."""

    def __init__(self, slowness: str) -> None:
        self.slowness = slowness
        self.calls: dict[TopicPartition, int] = {}
        self.busy: set[TopicPartition] = set()
        self.finished: dict[TopicPartition, int] = {}
        self.told: list[tuple[TopicPartition, float]] = []

    async def work(self, fetched: Fetched, stop: asyncio.Event) -> None:
        at = TopicPartition(fetched.topic, fetched.partition)
        assert at not in self.busy, "two calls for one partition"
        self.busy.add(at)
        try:
            self.calls[at] = self.calls.get(at, 0) + 1
            if at == SLOW and self.calls[at] == 2:
                await self._dawdle(at, stop)
            self.finished[at] = fetched.next_offset
        finally:
            self.busy.discard(at)

    async def _dawdle(self, at: TopicPartition, stop: asyncio.Event) -> None:
        ears = asyncio.create_task(stop.wait())
        ears.add_done_callback(lambda ended: None if ended.cancelled() else self.told.append((at, now())))
        try:
            if self.slowness == "obeys":
                await asyncio.wait({ears})
            else:
                await asyncio.sleep(3 * T)
        except asyncio.CancelledError:
            if self.slowness != "deaf":
                raise
            await asyncio.sleep(2 * T)  # it goes on although it is cancelled
        finally:
            ears.cancel()


def scene(
    protocol: str, slowness: str, act: Callable[..., Any], *, commit_interval: float = 5.0, **changes: Any
) -> None:
    async def run() -> None:
        world, books, notices = World(protocol), Books(slowness), []
        settings = GroupSettings(group="g", protocol=protocol, rebalance_timeout=T, auto_commit=False).replace(
            **changes
        )
        async with Consumer(world, ConsumerSettings(partition_max_bytes=100), settings) as consumer:  # type: ignore[arg-type]
            consumer.on_notice = notices.append
            workers = Workers(consumer, books.work, commit_interval=commit_interval)
            running = asyncio.create_task(workers.run(["t"]))
            await until(lambda: SLOW in books.busy and books.calls[SLOW] == 2 and len(books.calls) == 4)
            await act(world, books, consumer, notices)
            await until(lambda: len(books.finished) == 4 and set(books.finished.values()) == {40})
            assert not running.done(), "run() goes on"
            workers.stop()
            await running
        assert {at: place.offset for at, place in world.group.committed.items()} == dict.fromkeys(world.logs, 40)

    play(run())


async def until(holds: Callable[[], object], within: float = 10 * T) -> None:
    async with asyncio.timeout(within):
        while not holds():  # noqa: ASYNC110 - the fakes set no events
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("slowness", ["obeys", "sleeps", "deaf"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_E36_A3_13_a_worker_that_takes_three_times_the_timeout_loses_its_partition_and_nothing_else(
    protocol: str, slowness: str
) -> None:
    async def act(world: World, books: Books, consumer: Consumer, notices: list[str]) -> None:
        name = consumer.group_metadata().member_id
        world.rebalance()
        began = now()
        await until(world.given_up)
        assert T / 2 < now() - began < T * 0.95, "the revocation waits, and not too long"
        assert [at for at, _ in books.told] == [SLOW], "the slow worker was told, and no other"
        assert any("t[0]: lost" in one for one in notices), notices
        assert world.group.committed[SLOW].offset == 10, "what it had finished"
        world.give_back()
        if slowness != "deaf":
            await until(lambda: books.finished[SLOW] == 40, within=T / 2)  # it was cancelled, and begun again
        await asyncio.sleep(T)  # the coordinator looks who is late
        assert not world.thrown_out
        assert consumer.group_metadata().member_id == name
        if slowness == "deaf":  # the partition came back, and its old call goes on
            assert SLOW in consumer.assignment
            assert books.calls[SLOW] == 2
            assert world.group.committed[SLOW].offset == 10

    scene(protocol, slowness, act)


def test_E36_a_member_that_hears_late_of_a_rebalance_has_less_time() -> None:
    async def act(world: World, books: Books, consumer: Consumer, notices: list[str]) -> None:
        beats = world.group.count("Heartbeat")
        await until(lambda: world.group.count("Heartbeat") > beats)  # the next one is 20 s away
        world.rebalance()
        await asyncio.sleep(T + 1)
        assert not world.thrown_out
        assert [at for at, _ in books.told] == [SLOW]

    scene("classic", "sleeps", act, heartbeat_interval=20.0, session_timeout=4 * T)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_E36_a_commit_that_is_not_answered_does_not_use_up_the_timeout(protocol: str) -> None:
    async def act(world: World, books: Books, consumer: Consumer, notices: list[str]) -> None:
        lost = asyncio.Event()
        world.group.errors["OffsetCommit"] = deque([lost] * 100)
        world.rebalance()
        await asyncio.sleep(T + 1)
        assert not world.thrown_out
        world.group.errors.clear()
        lost.set()
        world.give_back()

    scene(protocol, "sleeps", act)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_E53_a_membership_that_ends_while_workers_are_waited_for_is_a_loss_and_commits_nothing(protocol: str) -> None:
    async def act(world: World, books: Books, consumer: Consumer, notices: list[str]) -> None:
        world.rebalance()
        await asyncio.sleep(T / 4)
        assert not books.told
        del world.group.log[:]
        if protocol == "consumer":
            world.group.errors["ConsumerGroupHeartbeat"] = deque([codes.UNKNOWN_MEMBER_ID])
        else:
            world.group.fence(consumer.group_metadata().member_id)
        began = now()
        await until(lambda: books.told)
        assert now() - began < T / 4, "what is lost is not waited for"
        world.give_back()
        await until(lambda: len(consumer.assignment) == 4)
        assert "OffsetCommit" not in world.group.log
        assert any("t[0]: lost, this member lost its place in the group" in one for one in notices), notices

    scene(protocol, "obeys", act, commit_interval=10 * T)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_E36_a_rebalance_while_the_last_work_is_done_is_no_failure(protocol: str) -> None:
    """`stop` was called, one worker is slow: the member stays until it is done, or until the group needs the rest."""

    async def run() -> None:
        world, books = World(protocol), Books("obeys")
        settings = GroupSettings(
            group="g", protocol=protocol, rebalance_timeout=T, auto_commit=False, max_poll_interval=T
        )
        async with Consumer(world, ConsumerSettings(partition_max_bytes=100), settings) as consumer:  # type: ignore[arg-type]
            workers = Workers(consumer, books.work)
            running = asyncio.create_task(workers.run(["t"]))
            await until(lambda: SLOW in books.busy and books.calls[SLOW] == 2)
            workers.stop()
            await asyncio.sleep(2 * T)  # longer than a member may be silent
            assert len(consumer.assignment) == 4
            world.rebalance()
            await running
            assert world.group.committed[SLOW].offset == 10
        assert not world.thrown_out

    play(run())


def test_A3_03_a_partition_is_paused_at_half_of_the_queue_and_resumed_at_a_quarter() -> None:
    """The other partitions go on: the poller waits for nobody."""

    async def run() -> None:
        world, calls, turn = World("classic"), 0, asyncio.Semaphore(0)
        world.logs[SLOW].fill(160)
        done: dict[TopicPartition, int] = {}

        async def work(fetched: Fetched, stop: asyncio.Event) -> None:
            nonlocal calls
            at = TopicPartition(fetched.topic, fetched.partition)
            if at == SLOW:
                calls += 1
                await turn.acquire()
            done[at] = fetched.next_offset

        settings = GroupSettings(group="g", auto_commit=False)
        async with Consumer(world, ConsumerSettings(partition_max_bytes=100), settings) as consumer:
            workers = Workers(consumer, work, size=8)
            running = asyncio.create_task(workers.run(["t"]))
            await until(lambda: sum(end == 40 for end in done.values()) == 3)
            await asyncio.sleep(5)
            seen = []
            for _ in range(12):
                queue = workers._workers[SLOW].queue
                seen.append((len(queue), SLOW in consumer.paused))
                before = calls
                turn.release()
                await until(lambda before=before: calls > before)  # type: ignore[misc]
                state = len(queue), SLOW in consumer.paused  # at once, before the poller comes by
                assert state[1] == (state[0] > 1), f"{state}: 2 waited when the call ended, and one of them was begun"
                await asyncio.sleep(5)
            assert seen == [(4, True), (3, True), (2, True)] * 4, "worked down to 2, resumed, and filled up to 4 again"
            assert consumer.paused == {SLOW}
            for _ in range(20):
                turn.release()
            await until(lambda: done[SLOW] == 200)
            await until(lambda: not consumer.paused)
            workers.stop()
            await running

    play(run())
