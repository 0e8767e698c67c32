"""Where records go by each partitioner's name; the vectors are those of the clients whose names they are."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Sequence
from typing import Any

import pytest

from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.producer.intake.placement import Partitioner, crc32, fnv1a
from kcli.producer.producer import Producer
from kcli.proto.murmur2 import partition_of
from kcli.settings import PARTITIONERS, ProducerSettings
from tests.producer.world import World, balanced, play, producing, send_batches


def test_D11_fnv1a_is_the_published_function_taken_as_sarama_takes_it() -> None:
    """FNV-1a of "" is 0x811c9dc5, of "a" 0xe40c292c, of "foobar" 0xbf9cf968 (the authors' test vectors)."""
    for key, unsigned in ((b"", 0x811C9DC5), (b"a", 0xE40C292C), (b"foobar", 0xBF9CF968)):
        signed = unsigned - (1 << 32)  # all three are negative as int32
        for count in (1, 3, 7, 12, 100):
            assert fnv1a(key, count) == abs(signed) % count


def test_D11_consistent_is_crc32() -> None:
    assert crc32(b"123456789", 1 << 32) == 0xCBF43926
    assert crc32(b"", 5) == 0


@pytest.mark.parametrize(
    ("name", "keyed", "empty", "none"),
    [
        ("murmur2", partition_of(b"key", 7), partition_of(b"", 7), None),
        ("murmur2_random", partition_of(b"key", 7), partition_of(b"", 7), None),
        ("consistent", zlib.crc32(b"key") % 7, 0, 0),
        ("consistent_random", zlib.crc32(b"key") % 7, None, None),
        ("fnv1a", fnv1a(b"key", 7), fnv1a(b"", 7), fnv1a(b"", 7)),
        ("fnv1a_random", fnv1a(b"key", 7), fnv1a(b"", 7), None),
        ("random", None, None, None),
    ],
)
def test_D11_each_name_says_what_becomes_of_keys_empty_keys_and_none(
    name: str, keyed: int | None, empty: int | None, none: int | None
) -> None:
    one = Partitioner(name, lambda partition: True)
    assert tuple(one.of(key, range(7)) for key in (b"key", b"", None)) == (keyed, empty, none)


def test_D11_roundrobin_takes_one_after_the_other() -> None:
    one = Partitioner("roundrobin", lambda partition: True)
    assert [one.of(b"key", range(3)) for _ in range(5)] == [0, 1, 2, 0, 1]


def test_D11_roundrobin_leaves_out_partitions_without_a_leader_until_all_are() -> None:
    led = {0, 2}
    one = Partitioner("roundrobin", led.__contains__)
    assert [one.of(None, range(4)) for _ in range(5)] == [0, 2, 0, 2, 0]
    led.clear()
    assert [one.of(None, range(4)) for _ in range(5)] == [1, 2, 3, 0, 1]


def test_D11_roundrobin_of_a_producer_knows_the_leaders() -> None:
    async def scene() -> None:
        world = World({"t": 3})
        async with producing(world, partitioner="roundrobin") as producer:
            await producer.send("t", b"first")
            world.log(1).leader = -1
            await world.refresh(["t"])
            for number in range(6):
                await producer.send("t", b"%d" % number)
            await producer.flush()
            chunk = b"".join(b"k%d\tv%d\n" % (number, number) for number in range(6))
            await producer.send_lines("t", chunk, 0, len(chunk), key_delimiter=b"\t")
            await producer.flush()
        assert [len(world.log(partition).records) for partition in range(3)] == [7, 0, 6]

    play(scene())


def test_D11_a_function_places_records_and_lines() -> None:
    """Its arguments are the topic, the key, all partitions and those with a leader; None is the sticky choice."""
    seen: list[tuple[str, bytes | None, list[int], list[int]]] = []

    def place(topic: str, key: bytes | None, partitions: Sequence[int], available: Sequence[int]) -> int | None:
        seen.append((topic, key, list(partitions), list(available)))
        return None if key is None else available[int(key) % len(available)]

    async def scene() -> None:
        world = World({"t": 4, "u": 1})
        async with producing(world, partitioner=place) as producer:
            await producer.send("u", b"first", b"0")
            await producer.send("t", b"first", b"0")
            world.log(1).leader = -1
            await world.refresh(["t"])
            await asyncio.sleep(0.1)
            assert (await producer.send_and_wait("t", b"one", b"1")).partition == 2
            assert (await producer.send_and_wait("t", b"two", b"2")).partition == 3
            assert (await producer.send_and_wait("t", b"none")).partition in (0, 2, 3)
            chunk = b"1\tline one\n2\tline two\n"
            assert await producer.send_lines("t", chunk, 0, len(chunk), key_delimiter=b"\t") == len(chunk)
            await producer.flush()
        assert world.log(2).records[-1] == b"line one"
        assert world.log(3).records[-1] == b"line two"
        assert seen[:2] == [("u", b"0", [0], [0]), ("t", b"0", [0, 1, 2, 3], [0, 1, 2, 3])]
        assert seen[2:5] == [("t", key, [0, 1, 2, 3], [0, 2, 3]) for key in (b"1", b"2", None)]

    play(scene())


@pytest.mark.parametrize("answer", [4, -1, "0", True, 1.0, [0]])
def test_D11_a_function_that_names_no_partition_of_the_topic_fails_its_record_alone(answer: Any) -> None:
    async def scene() -> None:
        world = World({"t": 4})
        async with producing(world, partitioner=lambda topic, key, *_: answer if key == b"bad" else 0) as producer:
            with pytest.raises(UsageError, match=r"the partitioner returned .*; the partitions are 0-3"):
                await producer.send("t", b"v", b"bad")
            assert (await producer.send_and_wait("t", b"v", b"good")).partition == 0
        balanced(producer)

    play(scene())


def test_D11_what_a_function_raises_reaches_the_caller_of_send() -> None:
    def place(*_: object) -> int:
        raise ZeroDivisionError("mine")

    async def scene() -> None:
        world = World({"t": 4})
        async with producing(world, partitioner=place) as producer:
            with pytest.raises(ZeroDivisionError, match="mine"):
                await producer.send("t", b"v")
        balanced(producer)

    play(scene())


@pytest.mark.parametrize("name", PARTITIONERS)
def test_D11_lines_and_single_records_agree(name: str) -> None:
    async def scene() -> None:
        world = World({"t": 7})
        chunk = b"".join(b"k%d\tv%d\n" % (n % 40, n) for n in range(200))
        async with producing(world, partitioner=name) as producer:
            assert await producer.send_lines("t", chunk, 0, len(chunk), key_delimiter=b"\t") == len(chunk)
        lines = {p: list(world.log(p).records) for p in range(7)}
        again = World({"t": 7})
        async with producing(again, partitioner=name) as producer:
            for n in range(200):
                await producer.send("t", b"v%d" % n, b"k%d" % (n % 40))
        if name != "random":
            assert {p: again.log(p).records for p in range(7)} == lines
        assert sum(map(len, lines.values())) == 200

    play(scene())


def test_D11_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match=r"partitioner 'murmur3': expected murmur2, .* did you mean murmur2"):
        ProducerSettings(partitioner="murmur3")


def test_D12_a_leader_that_takes_nothing_is_left_out_after_the_availability_timeout() -> None:
    async def scene() -> None:
        world = World({"t": 3})
        async with producing(
            world, linger=0.01, batch_size=1000, partitioner_availability_timeout=0.5, delivery_timeout=60.0
        ) as producer:
            for partition in range(3):
                await asyncio.gather(*await send_batches(producer, 1, partition))

            async def hang() -> None:
                await asyncio.sleep(30.0)

            slow = producer._engine.accumulator.queue("t", 0)

            async def send(count: int) -> int:
                """How many records more the slow partition holds."""
                before = sum(batch.count for batch in (*slow.waiting, *slow.in_flight))
                for _ in range(count):
                    await producer.send("t", b"x" * 100)
                    await asyncio.sleep(0.01)
                producer._engine.accumulator.close_all()
                return sum(batch.count for batch in (*slow.waiting, *slow.in_flight)) - before

            world.nodes_by_id[0].before = hang
            while not slow.waiting:
                await send(50)
            await asyncio.sleep(0.6)
            assert await send(1500) == 0, "after the timeout it gets nothing at all"
            world.nodes_by_id[0].before = None
            await producer.flush()
            before = len(world.log(0).records)
            await send(400)
            await producer.flush()
            assert len(world.log(0).records) > before, "and its share when it takes records again"

        assert sum(len(world.log(p).records) for p in range(3)) == producer.counts.acked

    play(scene())


def test_D12_a_partition_whose_leader_is_lost_is_left_at_once_also_while_its_batch_is_open() -> None:
    async def scene() -> None:
        world = World({"t": 2})
        async with producing(world, linger=5.0) as producer:
            for _ in range(20):
                await producer.send("t", b"v")
            (first,) = open_counts(producer)
            world.leader_moved(TopicPartition("t", first))
            for _ in range(20):
                await producer.send("t", b"v")
            assert open_counts(producer) == {first: 20, 1 - first: 20}
            await world.refresh(["t"])
        balanced(producer)

    play(scene())


def test_D12_a_loop_over_send_leaves_a_partition_after_a_batch_of_bytes_in_small_batches() -> None:
    async def scene() -> None:
        world = World({"t": 2})
        async with producing(world, linger=5.0, batch_size=10_000) as producer:
            for _ in range(20):
                for _ in range(10):
                    await producer.send("t", b"v" * 100)
                producer._engine.accumulator.close_all()
            await producer.flush()
        assert all(world.log(partition).records for partition in range(2))

    play(scene())


def test_D2_a_loop_over_send_closes_a_batch_that_has_its_records() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, linger=5.0, batch_records=10) as producer:
            sent = [await producer.send("t", b"v") for _ in range(30)]
            await asyncio.wait_for(asyncio.gather(*sent), 2.0)
            assert [batch.count for batch in world.log().seen] == [10, 10, 10]

    play(scene())


def test_D14_a_loop_over_keys_knows_a_partition_once_a_record_went_to_it() -> None:
    async def scene() -> None:
        world = World({"t": 1})
        async with producing(world, linger=5.0) as producer:
            for _ in range(3):
                await producer.send("t", b"v", key=b"k")
            world.add_partitions("t", 7)
            await producer.send("t", b"v", partition=6)
            for number in range(40):
                await producer.send("t", b"v", key=b"%d" % number)
            await producer.flush()
        for number in range(40):
            log = world.log(partition_of(b"%d" % number, 7))
            assert b"%d" % number in [record.key for batch in log.seen for record in batch]

    play(scene())


def test_A4_07_a_record_that_cannot_be_appended_takes_no_room_from_others() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, linger=5.0) as producer:
            await producer.send("t", b"v")
            before = producer.metrics.buffered_bytes
            for _ in range(10):
                with pytest.raises(UsageError, match="timestamp 'now': expected"):
                    await producer.send("t", b"v", timestamp="now")  # type: ignore[arg-type]
            assert producer.metrics.buffered_bytes == before
        balanced(producer)

    play(scene())


def open_counts(producer: Producer) -> dict[int, int]:
    """The records of open batches by partition."""
    queues = producer._engine.accumulator.queues.items()
    return {at.partition: queue.open.builder.count for at, queue in queues if queue.open is not None}
