"""Which fetchers are woken, and at what cost: none sleeps that has work, and none looks at what is not its own."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from kcli.consumer.consumer import Consumer
from kcli.consumer.fetch.cursor import Cursor
from kcli.grammar.bound import Bound
from kcli.model import Cluster, OffsetAndMetadata, TopicPartition
from kcli.proto.messages.list_offsets import ListOffsetsRequest
from kcli.settings import ConsumerSettings
from tests.consumer.log import FakeCluster, Log, until

TPS = [TopicPartition("t", n) for n in range(4)]
SMALL = ConsumerSettings(fetch_max_wait=0.001, partition_max_bytes=600)
MANY = [TopicPartition("t", n) for n in range(60)]


def reading(cluster: FakeCluster, settings: ConsumerSettings = SMALL) -> Consumer:
    return Consumer(cast("Cluster", cluster), settings)


def counted(monkeypatch: pytest.MonkeyPatch, consumer: Consumer, method: str) -> list[Any]:
    """The first arguments of a method of the reader, from now on."""
    given: list[Any] = []
    real = getattr(consumer._reader, method)

    def count(first: Any, now: float) -> Any:
        given.append(first)
        return real(first, now)

    monkeypatch.setattr(consumer._reader, method, count)
    return given


async def no_offsets(request: object) -> None:
    """A broker's hook: no response to ListOffsets."""
    if isinstance(request, ListOffsetsRequest):
        await asyncio.Event().wait()


async def full(consumer: Consumer) -> None:
    fetchers = consumer._reader.fetchers
    await until(lambda: fetchers and all(fetcher.full and fetcher.idle for fetcher in fetchers.values()))


async def test_a_fetcher_looks_at_the_partitions_of_its_own_broker_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty brokers with a partition each: 3,600 looks a round would be a cost that grows faster than its work."""
    cluster = FakeCluster({at: Log() for at in MANY}, brokers=len(MANY))
    async with reading(cluster) as consumer:
        consumer.assign(dict.fromkeys(MANY, 0))
        await until(lambda: all(broker.fetches for broker in cluster.brokers.values()))
        looks, asked = (counted(monkeypatch, consumer, method) for method in ("_work_of", "node_of"))
        await until(lambda: len(looks) >= 600)
        assert asked == [], "no leader has changed, so nothing is looked for"
        assert all(len(consumer._reader._homes[node]) == 1 for node in looks)


async def test_a_poll_looks_at_the_partitions_that_it_hands_out_only(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeCluster({at: Log().fill(200) for at in MANY})
    async with reading(cluster, SMALL.replace(partition_max_bytes=100_000)) as consumer:
        consumer.assign(dict.fromkeys(MANY, 0))
        await full(consumer)
        asked = counted(monkeypatch, consumer, "node_of")
        for _ in range(20):
            (fetched,) = await consumer.poll(1, 5_000)
            assert fetched.batches
        assert len(asked) == 20


async def test_why_partitions_are_not_fetched_is_found_by_one_look_at_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """`kcli consume -v` asks every second: with 10,000 partitions it took half a minute of CPU for ten records."""
    looks: list[Cursor] = []
    async with reading(FakeCluster({at: Log().fill(200) for at in MANY})) as consumer:
        consumer.assign(dict.fromkeys(MANY, 0))
        await full(consumer)

        def seven(cursor: Cursor) -> int:
            looks.append(cursor)
            return 7

        monkeypatch.setattr(Cursor, "buffered", property(seven))
        states = consumer.fetch_states()
    assert len(looks) == len(MANY)
    assert {state.state for state in states.values()} == {"full"}
    assert {state.reason for state in states.values()} == {f"{7 * len(MANY)} bytes wait for a poll"}


async def test_E12_a_fetcher_that_stays_full_is_not_woken_by_a_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeCluster({at: Log().fill(200) for at in MANY})
    async with reading(cluster) as consumer:
        consumer.assign(dict.fromkeys(MANY, 0))
        await full(consumer)
        looks = counted(monkeypatch, consumer, "work")
        await consumer.poll(1, 1)
        await asyncio.sleep(0.02)
        assert looks == []


async def test_E12_what_ended_makes_room_for_the_others_of_its_broker() -> None:
    """The poll empties the buffer of a partition that is not to be fetched again: its fetcher has others."""
    ended, quiet = TPS[:2]
    logs = {ended: Log().fill(200), quiet: Log()}
    async with reading(FakeCluster(logs)) as consumer, asyncio.timeout(5):
        consumer.assign(dict.fromkeys(logs, 0))
        await full(consumer)
        consumer.stop_at({ended: consumer._reader.cursors[ended].fetch_at})
        await asyncio.sleep(0.02)
        assert consumer._reader.fetchers[0].full
        logs[quiet].fill(10)
        read = set()
        while quiet.partition not in read:
            read |= {fetched.partition for fetched in await consumer.poll(1)}


async def test_C9_a_new_epoch_that_a_poll_meets_is_validated_though_its_fetcher_is_full() -> None:
    """It is handed out no more until then: if nothing validated it, the fetcher would stay full for ever."""
    cluster = FakeCluster({TPS[0]: Log().fill(200)})
    async with reading(cluster) as consumer:
        consumer.assign({TPS[0]: 0})
        await full(consumer)
        cursor = consumer._reader.cursors[TPS[0]]
        cluster.epochs[TPS[0]] = 1
        consumer._reader.moved({cursor: 0})  # a piece was handed out, of a chunk that is still held
        assert cursor.state == "validating"
        await until(lambda: cursor.state == "ready")


async def test_C12_what_a_replica_held_counts_for_it_until_all_is_counted_anew() -> None:
    """Its time is over while its fetcher is full: the poll must not take the bytes from the leader's count."""
    logs = {at: Log().fill(200) for at in TPS[:2]}
    cluster = FakeCluster(logs, brokers=2)
    async with reading(cluster) as consumer, asyncio.timeout(5):
        consumer.assign(dict.fromkeys(logs, 0))
        await full(consumer)
        reader = consumer._reader
        moving = reader.cursors[TPS[0]]
        moving.replica, moving.replica_until = 1, asyncio.get_running_loop().time() + 300
        reader.changed()
        both = reader.fetchers[1].held
        moving.replica_until = reader._settled_until = asyncio.get_running_loop().time()
        reader.moved({moving: 0})
        assert reader.fetchers[1].held < both
        assert reader.fetchers[0].held == moving.buffered


async def test_C9_what_a_truncated_partition_held_makes_room_for_the_others_of_its_broker() -> None:
    lost, quiet = TPS[:2]
    logs = {lost: Log().fill(200), quiet: Log()}
    cluster = FakeCluster(logs)
    async with reading(cluster, SMALL.replace(reset="none")) as consumer, asyncio.timeout(5):
        consumer.assign({lost: 100, quiet: 0})
        await full(consumer)
        cursor = consumer._reader.cursors[lost]
        cursor.state = "validating"
        consumer._reader.truncated(cursor, 5, 0)
        assert cursor.buffered == 0
        assert consumer._reader.fetchers[0].held == 0
        logs[quiet].fill(10)
        read = set()
        while quiet.partition not in read:
            read |= {fetched.partition for fetched in await consumer.poll(1)}


async def test_E13_a_start_that_was_found_is_read_from_before_other_leaders_have_answered() -> None:
    cluster = FakeCluster({at: Log().fill(20) for at in TPS[:2]}, brokers=2)

    async with reading(cluster) as consumer, asyncio.timeout(2):
        cluster.brokers[1].hook = no_offsets
        consumer.assign(dict.fromkeys(TPS[:2], Bound("earliest")))
        (fetched,) = await consumer.poll()
        assert fetched.partition == 0


async def test_E13_what_the_group_committed_is_read_from_before_leaders_have_answered() -> None:
    """One partition has a commit; the other's leader does not answer where its log begins."""
    cluster = FakeCluster({at: Log().fill(20) for at in TPS[:2]}, brokers=2)

    async def stored(ats: list[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata | None]:
        return {at: OffsetAndMetadata(10) if at == TPS[0] else None for at in ats}

    async with reading(cluster) as consumer, asyncio.timeout(2):
        cluster.brokers[1].hook = no_offsets
        consumer._reader.stored = stored
        await consumer._link.on_assigned(set(TPS[:2]))
        (fetched,) = await consumer.poll()
        assert (fetched.partition, consumer.position(TPS[0])) == (0, 20)


async def test_E23_a_position_check_before_the_look_up_of_the_start_began_is_done() -> None:
    cluster = FakeCluster({TPS[0]: Log().fill(20)})
    async with reading(cluster) as consumer, asyncio.timeout(2):
        consumer.assign({TPS[0]: Bound("earliest")})
        await asyncio.sleep(0)  # the look-up is a task, which has not begun
        consumer.validate_position(TPS[0])
        (fetched,) = await consumer.poll()
        assert fetched.error is None


async def test_E23_a_seek_before_a_position_check_began_is_not_answered_by_the_reset_policy() -> None:
    cluster = FakeCluster({TPS[0]: Log().fill(20)})
    async with reading(cluster, SMALL.replace(reset="latest")) as consumer, asyncio.timeout(2):
        consumer.assign({TPS[0]: 10})
        await until(lambda: cluster.brokers[0].fetches)
        consumer.validate_position(TPS[0])
        await asyncio.sleep(0)
        consumer.seek(TPS[0], Bound("earliest"))
        (fetched,) = await consumer.poll()
        assert next(iter(fetched.batches[0])).offset == 0


@pytest.mark.parametrize("most", [600, 100_000], ids=["some fetches", "one fetch"])
async def test_E18_an_end_that_is_moved_on_loses_no_record(most: int) -> None:
    cluster = FakeCluster({TPS[0]: Log().fill(200)})
    read: list[int] = []

    async def read_to_the_end() -> None:
        while not consumer.finished:
            read.extend(record.offset for got in await consumer.poll(1) for batch in got.batches for record in batch)

    async with reading(cluster, SMALL.replace(partition_max_bytes=most)) as consumer, asyncio.timeout(5):
        consumer.assign({TPS[0]: 0})
        await until(lambda: consumer._reader.cursors[TPS[0]].fetch_at > 26)
        for end in (25, 26, 140, 200):
            consumer.stop_at({TPS[0]: end})
            await read_to_the_end()
            assert read == list(range(end))
