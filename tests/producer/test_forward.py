"""Encoded batches sent on untouched: the same bytes of records, in order, once, and accounted for like any other."""

from __future__ import annotations

import asyncio

import pytest

from kcli import codes
from kcli.errors import Closed, EncodeError
from kcli.producer.batches.batch import BatchOutcome
from kcli.proto.batch import Batch, SealedBatch, read_batches, seal
from kcli.proto.core import Builder
from kcli.proto.forward import resealed, why_not
from tests.producer.world import World, balanced, play, producing


def batch(values: list[bytes], codec: str = "none", base: int = 0, timestamp: int = 1000) -> Batch:
    """As a broker would send it."""
    builder = Builder()
    for n, value in enumerate(values):
        builder.append(timestamp + n, b"k%d" % n, value, [("h", b"1"), ("h", None)])
    begun, ended = builder.base_timestamp, builder.max_timestamp
    sealed = seal(builder.take(), len(values), begun, ended, codec=codec)
    data = bytearray(sealed.data)
    data[0:8] = base.to_bytes(8, "big")
    (found,) = read_batches(bytes(data))
    return found


def body(sealed: SealedBatch) -> bytes:
    return bytes(sealed.data[61:])


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_D19_a_forwarded_batch_has_the_same_records_byte_for_byte(codec: str) -> None:
    given = batch([b"a" * 50, b"", b"c"], codec, base=77)
    raw = bytes(memoryview(given.data)[given.body_start : given.body_end])
    sealed = resealed(given)
    sealed.stamp(7, 1, 40)
    assert body(sealed) == raw
    (again,) = read_batches(bytes(sealed.data))
    assert (again.base_offset, again.producer_id, again.base_sequence, again.codec) == (0, 7, 40, codec)
    assert [(r.timestamp, r.key, r.value, r.headers) for r in again] == [
        (r.timestamp, r.key, r.value, r.headers) for r in given
    ]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"magic": 1}, "message format 1"),
        ({"attributes": 32}, "control batch"),
        ({"first": 11}, "only a part"),
        ({"stop": 12}, "only a part"),
        ({"last_offset": 13, "stop": 14}, "offsets are missing"),
        ({"attributes": 8}, "timestamps are the broker's"),
        ({"attributes": 64}, "timestamps are the broker's"),
    ],
)
def test_a_batch_that_cannot_go_untouched_is_refused_with_the_reason(fields: dict[str, int], reason: str) -> None:
    given = batch([b"a", b"b", b"c"], base=10)
    for name, value in fields.items():
        setattr(given, name, value)
    assert reason in (why_not(given) or "")
    with pytest.raises(EncodeError, match="cannot be forwarded as it is"):
        resealed(given)


def test_a_batch_that_was_decompressed_is_refused() -> None:
    one = batch([b"a" * 100] * 10, "zstd")
    assert why_not(one) is None
    list(one)
    assert why_not(one) == "it was decompressed already"


def test_D25_forwarded_batches_keep_their_order_among_other_records_and_retries() -> None:
    outcomes: list[BatchOutcome] = []

    async def scene() -> None:
        world = World()
        async with producing(world, outcomes, linger=0.01) as producer:
            await producer.send("t", b"0", partition=0)
            world.log().script += [codes.NOT_ENOUGH_REPLICAS, codes.NOT_LEADER_OR_FOLLOWER]
            await producer.send_batch("t", 0, batch([b"1", b"2"]))
            await producer.send_batch("t", 0, batch([b"3"]))
            await producer.send("t", b"4", partition=0)
            await producer.flush()
        assert world.log().records == [b"0", b"1", b"2", b"3", b"4"]
        balanced(producer)
        assert (producer.counts.accepted, producer.counts.acked) == (5, 5)

    play(scene())
    assert [one.count for one in outcomes] == [1, 2, 1, 1]


def test_D31_a_forwarded_batch_the_topic_does_not_take_is_split() -> None:
    async def scene() -> None:
        world = World()
        world.log().limit = 400
        async with producing(world) as producer:
            await producer.send_batch("t", 0, batch([b"%03d" % n * 30 for n in range(8)]))
            await producer.flush()
        assert world.log().records == [b"%03d" % n * 30 for n in range(8)]
        balanced(producer)

    play(scene())


def test_D6_forwarded_batches_wait_for_room_and_close_gives_it_back() -> None:
    async def scene() -> None:
        world = World()
        producer = producing(world, buffer_memory=700, max_request_size=700)
        async with producer:
            await producer.send_batch("t", 0, batch([b"x" * 100]))
            await producer.flush()
            world.latency = 100.0
            waiting = [asyncio.create_task(producer.send_batch("t", 0, batch([b"x" * 400]))) for _ in range(3)]
            await asyncio.sleep(0.1)
            assert producer._engine.budget.bytes <= 700
            await producer.close(0)
            told = await asyncio.gather(*waiting, return_exceptions=True)
            assert any(isinstance(one, Closed) for one in told)
        balanced(producer)

    play(scene())
