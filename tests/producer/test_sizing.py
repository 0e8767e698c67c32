"""batch.size bounds what is sent: the estimate of a compressed batch, corrected by those really made (KIP-126)."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from kcli import codes
from kcli.producer.batches.accumulator import MARGIN, MOST, Sizing
from kcli.producer.batches.batch import BatchOutcome
from kcli.settings import ProducerSettings
from tests.producer.world import World, balanced, play, producing


def sizing(**changes: Any) -> Sizing:
    return Sizing(ProducerSettings(**{"compression": "zstd", "batch_size": 10_000, **changes}))


def test_D4_without_compression_batch_size_is_the_limit() -> None:
    plain = sizing(compression="none")
    plain.observe("t", 1000, 10)
    assert plain.limit("t") == 10_000
    assert sizing(compression="none", max_request_size=4000).limit("t") == 4000


def test_D5_the_estimate_gets_better_in_steps_and_worse_at_once() -> None:
    one = sizing()
    assert one.limit("t") == int(10_000 / MARGIN)
    one.observe("t", 1000, 200)
    assert one.ratio("t") == pytest.approx(0.9)
    one.observe("t", 1000, 910)
    assert one.ratio("t") == pytest.approx(0.95)
    one.observe("t", 1000, 1020)
    assert one.ratio("t") == pytest.approx(1.02)
    for _ in range(1000):
        one.observe("t", 1000, 100)
    assert one.ratio("t") == pytest.approx(0.1)


def test_D5_each_topic_has_its_own_estimate_and_a_split_begins_anew() -> None:
    one = sizing()
    for _ in range(1000):
        one.observe("zeros", 1000, 10)
    assert one.ratio("random") == 1.0
    one.too_large("zeros", 1000, 10)
    assert one.ratio("zeros") == 1.0
    one.too_large("zeros", 1000, 1100)
    assert one.ratio("zeros") == pytest.approx(1.1)


def test_D4_a_batch_is_never_so_large_that_one_thread_and_one_reader_choke_on_it() -> None:
    one = sizing()
    for _ in range(1000):
        one.observe("t", 1_000_000, 100)
    assert one.limit("t") == MOST * 10_000
    small = sizing(buffer_memory=60_000)
    for _ in range(1000):
        small.observe("t", 1_000_000, 100)
    assert small.limit("t") == 15_000


def test_D4_ten_records_of_10_kB_fill_batches_of_16_kB_as_in_java_and_a_larger_record_goes_alone() -> None:
    outcomes: list[BatchOutcome] = []

    async def scene() -> None:
        world = World()
        async with producing(world, outcomes, batch_size=16_384, linger=0.01) as producer:
            for _ in range(10):
                await producer.send("t", b"x" * 10_240, partition=0)
            await producer.send("t", b"y" * 102_400, partition=0)
            await producer.send("t", b"z", partition=0)
        assert [one.count for one in outcomes] == [1] * 12
        balanced(producer)

    play(scene())


@pytest.mark.parametrize("codec", ["gzip", "lz4", "zstd", "snappy"])
def test_D5_random_then_zeros_then_random_never_outgrows_a_request(codec: str) -> None:
    """The broker takes no more than batch.size allows for; what the estimate got wrong is cut in two before it goes."""
    outcomes: list[BatchOutcome] = []
    most = 20_000

    async def scene() -> None:
        world = World(latency=0.0001)
        sizes: list[int] = []

        async with producing(
            world, outcomes, batch_size=16_000, max_request_size=most, compression=codec, linger=0.005
        ) as producer:
            take = world.log().take

            def measured(data: bytes) -> Any:
                sizes.append(len(data))
                return take(data)

            world.log().take = measured  # type: ignore[method-assign]
            for material in (os.urandom, bytes, os.urandom):
                for _ in range(400):
                    await producer.send("t", material(1000), partition=0)
                await producer.flush()
        balanced(producer)
        assert producer.counts.acked == 1200
        assert max(sizes) <= most
        # zeros fill batches that are far larger before they are compressed
        assert max(one.count for one in outcomes) > 40
        assert all(one.error is None for one in outcomes)

    play(scene())


def test_D5_an_open_batch_that_outgrows_a_request_as_it_leaves_is_cut_in_two() -> None:
    """It is not full by the estimate, and closed when its linger is over."""

    async def scene() -> None:
        world = World({"t": 1}, nodes=1)
        settings: dict[str, Any] = {"compression": "gzip", "max_request_size": 4000, "batch_size": 4000, "linger": 0.01}
        async with producing(world, **settings) as producer:
            for _ in range(40):
                await producer.send_and_wait("t", bytes(3000), partition=0)
            before = len(world.log().seen)
            values = [os.urandom(700) for _ in range(7)]
            sent = [await producer.send("t", value, partition=0) for value in values]
            assert not producer._engine.accumulator.queue("t", 0).waiting
            await asyncio.gather(*sent)
            balanced(producer)
        assert [batch.count for batch in world.log().seen[before:]] in ([3, 4], [4, 3])
        assert world.log().records[-7:] == values

    play(scene())


def test_D5_a_batch_the_broker_finds_too_large_resets_the_estimate() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, compression="zstd", batch_size=16_000) as producer:
            sizing = producer._engine.accumulator.sizing
            for _ in range(100):
                sizing.observe("t", 1000, 10)
            assert sizing.ratio("t") < 0.6
            world.log().script += [codes.MESSAGE_TOO_LARGE]
            for n in range(8):
                await producer.send("t", b"%d" % n, partition=0)
            await producer.flush()
            assert sizing.ratio("t") >= 0.9
        balanced(producer)
        assert world.log().records == [b"%d" % n for n in range(8)]

    play(scene())
