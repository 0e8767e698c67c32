"""The next batch of a partition: what the first record of the last one found out is not found out again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kcli.producer.engine.engine import Engine
from kcli.producer.intake.send_records import Records
from tests.producer.world import World, balanced, play, producing


@pytest.fixture
def long_way(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The values of records that took the long way."""
    took: list[bytes] = []
    send = Records.send

    async def sends(self: Records, topic: str, value: Any, *given: Any, **options: Any) -> Any:
        took.append(value)
        return await send(self, topic, value, *given, **options)

    monkeypatch.setattr(Records, "send", sends)
    return took


def test_the_first_record_of_a_batch_finds_nothing_out_that_is_known(long_way: list[bytes]) -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, linger=0.0) as producer:
            for n in range(5):
                sent = [await producer.send("t", b"%d-%d" % (n, m), partition=0) for m in range(3)]
                assert [(await one).offset for one in sent] == [3 * n, 3 * n + 1, 3 * n + 2]
            balanced(producer)
        assert long_way == [b"0-0"]
        assert world.log().records == [b"%d-%d" % (n, m) for n in range(5) for m in range(3)]

    play(scene())


def test_D14_the_number_of_partitions_is_looked_at_again_though_batches_open_the_short_way(
    monkeypatch: pytest.MonkeyPatch, long_way: list[bytes]
) -> None:
    asked: list[str] = []
    refresh_later = Engine.refresh_later

    def looks(self: Engine, topic: str) -> None:
        asked.append(topic)
        refresh_later(self, topic)

    monkeypatch.setattr(Engine, "refresh_later", looks)

    async def scene() -> None:
        async with producing(World(), linger=0.0) as producer:
            await producer.send_and_wait("t", b"first", partition=0)
            await producer.send_and_wait("t", b"soon", partition=0)
            assert (asked, long_way) == ([], [b"first"])
            await asyncio.sleep(301)
            await producer.send_and_wait("t", b"later", partition=0)
            assert asked == ["t"]

    play(scene())


def test_a_batch_that_lines_opened_is_filled_by_records_too(long_way: list[bytes]) -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, linger=1.0) as producer:
            await producer.send_and_wait("t", b"first", partition=0)
            await producer.send_lines("t", b"line\n", 0, 5, partition=0)
            sent = [await producer.send("t", b"%d" % n, partition=0) for n in range(2)]
            assert [(await one).offset for one in sent] == [2, 3]
            balanced(producer)
        assert long_way == [b"first", b"0"]
        assert world.log().records == [b"first", b"line", b"0", b"1"]
        assert len(world.broker().requests) == 2

    play(scene())
