"""The seed issue: partitions that stop being consumed. Random interleavings (tests/consumer/schedules.py) and the lost
wake-ups, on purpose."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kcli.consumer.consumer import Consumer
from kcli.errors import ConnectError
from kcli.model import TopicPartition
from kcli.proto.messages.fetch import FetchRequest
from kcli.settings import ConsumerSettings
from tests.consumer import schedules
from tests.consumer.log import FakeCluster, Log, until

TPS = [TopicPartition("t", n) for n in range(4)]
SETTINGS = ConsumerSettings(fetch_max_wait=0.001, partition_max_bytes=600)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 120, 20))
def test_A3_08_E27_E33_after_any_interleaving_every_owned_unpaused_partition_is_fetched(first):
    for seed in range(first, first + 20):
        schedules.run(seed)


def test_the_interleavings_are_of_every_kind_of_membership():
    assert {schedules.Schedule(seed).protocol for seed in range(120)} == set(schedules.PROTOCOLS)


def test_a_commit_is_not_repeated_after_its_partition_was_taken_away_and_given_back() -> None:
    schedules.run(9897)  # type: ignore[no-untyped-call]


SEEDS = {"none": 2, "range": 1, "cooperative-sticky": 5, "consumer": 0}


@pytest.mark.parametrize("protocol", schedules.PROTOCOLS)
def test_an_interleaving_is_the_same_every_time(protocol):
    one, two = (schedules.run(SEEDS[protocol]) for _ in range(2))
    assert one.protocol == protocol
    assert len(one.trace) > 50
    assert one.trace == two.trace


@pytest.mark.process
def test_an_interleaving_is_the_same_in_every_process():
    """Sets of words are walked in another order in each."""
    program = (
        f"from tests.consumer import schedules\nfor seed in {list(SEEDS.values())}: print(schedules.run(seed).trace)"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, cwd=Path(__file__).parents[2],
            env=os.environ | {"PYTHONHASHSEED": str(number)},
        ).stdout
        for number in (1, 2)
    ]  # fmt: skip
    assert len(told[0]) > 10_000
    assert told[0] == told[1]


async def test_E12_two_full_fetchers_do_not_wake_one_another_for_ever():
    """What one poll did not take yet keeps both from asking for more; whoever looks sees the other's partition."""
    cluster = FakeCluster({at: Log().fill(200) for at in TPS}, brokers=2)
    async with Consumer(cluster, SETTINGS) as consumer:
        consumer.assign(dict.fromkeys(TPS, 0))
        fetchers = consumer._reader.fetchers
        await until(lambda: len(fetchers) == 2 and all(one.full and one.idle for one in fetchers.values()))
        looks, look = [], consumer._reader.work
        consumer._reader.work = lambda node, now: (looks.append(node), look(node, now))[1]
        await asyncio.sleep(0.05)
        assert len(looks) <= 2, "the user does nothing, so nobody has to look"
        read = dict.fromkeys(TPS, 0)
        async with asyncio.timeout(5):
            while min(read.values()) < 200:
                for fetched in await consumer.poll(1):
                    read[TopicPartition(fetched.topic, fetched.partition)] = fetched.next_offset


async def test_E12_A3_06_what_a_paused_partition_holds_does_not_keep_the_others_from_being_fetched():
    """The pause comes after the fetcher saw that it is full: somebody has to tell it."""
    slow, quiet = TPS[0], TPS[1]
    logs = {slow: Log().fill(200), quiet: Log()}
    cluster = FakeCluster(logs)
    async with Consumer(cluster, SETTINGS) as consumer:
        consumer.assign(dict.fromkeys(logs, 0))
        await consumer.poll(1)
        await until(lambda: consumer._reader.fetchers and consumer._reader.fetchers[0].full)
        consumer.pause(slow)
        logs[quiet].fill(10)
        (fetched,) = await consumer.poll(2)
        assert (fetched.partition, fetched.next_offset) == (quiet.partition, 10)


async def test_A3_09_an_assignment_between_saw_nothing_and_went_idle_is_fetched():
    cluster = FakeCluster({at: Log().fill(100) for at in TPS})
    async with Consumer(cluster, SETTINGS) as consumer:
        consumer.assign({TPS[0]: 0})
        consumer.pause(TPS[0])
        reader = consumer._reader
        look, fired = reader.work, []

        def work(node, now):
            seen = look(node, now)
            if not seen[0] and not fired:
                fired.append(True)
                consumer.assign({TPS[1]: 0})  # exactly after it saw nothing
            return seen

        reader.work = work
        reader.changed()
        (fetched,) = await consumer.poll(5)
        assert fired
        assert fetched.partition == 1


async def test_A3_09_a_leader_that_somebody_else_looked_up_is_fetched_from():
    """The connection is lost, the leader is forgotten; before our pause is over a producer on the same cluster knows
    it again. Nothing is left to look up, and the fetcher sleeps."""
    cluster = FakeCluster({TPS[0]: Log().fill(100)})

    async def hang_up(request):
        if isinstance(request, FetchRequest):
            cluster.brokers[0].hook = None
            asyncio.get_running_loop().call_later(0.02, cluster.forgotten.clear)
            raise ConnectError("the broker closed the connection", sent=True)

    async with Consumer(cluster, SETTINGS) as consumer:
        cluster.brokers[0].hook = hang_up
        consumer.assign({TPS[0]: 0})
        (fetched,) = await consumer.poll(5)
        assert (fetched.partition, fetched.error) == (0, None)
        assert cluster.lookups == 0, "nobody had to look for the leader"


async def test_A3_10_pausing_disturbs_no_fetch_under_way():
    cluster = FakeCluster({at: Log().fill(100) for at in TPS})
    async with Consumer(cluster, SETTINGS) as consumer:
        consumer.assign(dict.fromkeys(TPS, 0))
        for _ in range(100):
            consumer.pause(*TPS)
            await asyncio.sleep(0)
            consumer.resume(*TPS)
            await consumer.poll(0.001)
        assert sum(one.session_epoch == 0 for one in cluster.brokers[0].fetches) == 1


async def test_E29_A3_05_resuming_what_is_not_paused_is_nothing_at_all():
    cluster = FakeCluster({TPS[0]: Log().fill(100)})
    async with Consumer(cluster, SETTINGS) as consumer:
        consumer.assign({TPS[0]: 0})
        (first,) = await consumer.poll(1)
        cursor = consumer._reader.cursors[TPS[0]]
        await until(lambda: cursor.fetch_at == 100)  # all the rest is buffered
        chunks = list(cursor.chunks)
        place = cursor.generation, cursor.fetch_at, consumer.position(TPS[0])
        woken, consumer._reader.changed = [], lambda: woken.append(True)
        for _ in range(3):
            consumer.resume(TPS[0])
            consumer.resume("t")
        del consumer._reader.changed
        assert (cursor.generation, cursor.fetch_at, consumer.position(TPS[0])) == place
        assert list(cursor.chunks) == chunks, "what is buffered stays"
        assert not woken, "nobody has to look"
        read = [record.offset for one in first.batches for record in one]
        async with asyncio.timeout(5):
            while len(read) < 100:
                read += [record.offset for got in await consumer.poll(1) for one in got.batches for record in one]
        assert read == list(range(100))
        asked = [part.fetch_offset for one in cluster.brokers[0].fetches for t in one.topics for part in t.partitions]
        assert asked == sorted(asked), "nothing is asked for again"
        assert all(one.session_epoch > 0 for one in cluster.brokers[0].fetches[1:])


async def test_E31_A3_07_a_partition_that_is_assigned_again_starts_unpaused():
    cluster = FakeCluster({at: Log().fill(100) for at in TPS})
    async with Consumer(cluster, SETTINGS) as consumer:
        link = consumer._link
        consumer._reader.stored = lambda ats: asyncio.sleep(0, dict.fromkeys(ats))
        await link.on_assigned({TPS[0], TPS[1]})
        consumer.pause(*TPS[:2])
        await link.on_revoked({TPS[0]})
        await link.on_assigned({TPS[0]})
        assert consumer.paused == {TPS[1]}


async def test_E36_E38_A3_18_a_revocation_waits_for_what_was_handed_out_and_then_may_commit_it():
    cluster = FakeCluster({TPS[0]: Log().fill(100)})
    async with Consumer(cluster, SETTINGS) as consumer:
        consumer.assign({TPS[0]: 0})
        (fetched,) = await consumer.poll(1)
        link = consumer._link
        assert link.to_commit({TPS[0]}) == {}
        settled = asyncio.ensure_future(link.settle({TPS[0]}))
        await asyncio.sleep(0.01)
        assert not settled.done()
        assert await consumer.poll(0.01) == []
        await asyncio.wait_for(settled, 10)
        assert link.to_commit({TPS[0]})[TPS[0]].offset == fetched.next_offset
        await link.on_lost({TPS[0]})
        assert link.to_commit({TPS[0]}) == {}


@pytest.mark.parametrize("topic_paused", [False, True])
@pytest.mark.parametrize("partition_paused", [False, True])
async def test_A3_11_a_pause_of_a_topic_and_one_of_a_partition_do_not_undo_one_another(topic_paused, partition_paused):
    other = TopicPartition("u", 0)
    cluster = FakeCluster({at: Log().fill(100) for at in (TPS[0], TPS[1], other)})
    async with Consumer(cluster, SETTINGS) as consumer:
        consumer.assign({TPS[0]: 0, other: 0})
        if topic_paused:
            consumer.pause("t")
        if partition_paused:
            consumer.pause(TPS[0])
        assert consumer.paused == ({TPS[0]} if topic_paused or partition_paused else set())
        consumer.incremental_assign({TPS[0]: 50, TPS[1]: 0})
        assert (TPS[1] in consumer.paused) == topic_paused, "a topic's pause is of its later partitions too"
        consumer.resume("t", "never paused")
        assert consumer.paused == ({TPS[0]} if partition_paused else set())
        consumer.pause("t")
        consumer.resume(TPS[0])
        assert consumer.paused == {TPS[0], TPS[1]}, "and no partition leaves it"
        consumer.resume("t")
        assert consumer.paused == set()
        seen = set()
        async with asyncio.timeout(5):
            while len(seen) < 3:
                for fetched in await consumer.poll(1):
                    at = TopicPartition(fetched.topic, fetched.partition)
                    if at not in seen and fetched.batches:
                        assert fetched.batches[0].first == 0, "what was assigned before goes on where it was"
                        seen.add(at)


async def test_A3_15_an_answer_that_comes_after_the_revocation_is_neither_delivered_nor_committed():
    cluster = FakeCluster({at: Log().fill(100) for at in TPS[:2]})
    held, asked = asyncio.Event(), asyncio.Event()

    async def late(request):
        if isinstance(request, FetchRequest) and not held.is_set():
            answer = await cluster.brokers[0].fetch(request)
            asked.set()
            await held.wait()
            return answer
        return None

    cluster.brokers[0].hook = late
    async with Consumer(cluster, SETTINGS) as consumer:
        link = consumer._link
        consumer._reader.stored = lambda ats: asyncio.sleep(0, dict.fromkeys(ats))
        await link.on_assigned(set(TPS[:2]))
        assert await consumer.poll(0.01) == []
        await asyncio.wait_for(asked.wait(), 5)
        await link.on_revoked({TPS[0]})
        held.set()
        seen = []
        async with asyncio.timeout(5):
            while consumer.position(TPS[1]) != 100:
                seen += [TopicPartition(one.topic, one.partition) for one in await consumer.poll(1)]
        await consumer.poll(0)
        assert set(seen) == {TPS[1]}
        assert link.to_commit(set(TPS)).keys() == {TPS[1]}
        await link.on_assigned({TPS[0]})
        (fetched,) = await consumer.poll(1)
        assert fetched.batches[0].first == 0, "and it begins where the group stands, not where the late answer ended"
