"""Where the rules meet: what a review found that no row's own test had shown."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kcli import codes
from kcli.errors import BufferFull, UsageError
from kcli.producer.intake.interceptors import ProducerRecord
from kcli.producer.producer import Producer
from kcli.proto.batch import Batch
from kcli.proto.messages.produce import LeaderIdAndEpoch, PartitionProduceResponse
from kcli.settings import ProducerSettings
from tests.producer.world import SHORT, Log, World, balanced, now, play, producing


def test_C7_D30_a_node_that_names_itself_as_the_leader_is_not_asked_without_a_pause() -> None:
    """A broker knows from the controller that it leads before it is ready to: NOT_LEADER, "the leader is me"."""

    async def scene() -> None:
        world = World()

        def not_yet(log: Log, batch: Batch) -> PartitionProduceResponse:
            world.cached[log.at] = log.leader
            answer = log.answer(codes.NOT_LEADER_OR_FOLLOWER)
            answer.current_leader = LeaderIdAndEpoch(leader_id=log.leader, leader_epoch=log.epoch)
            return answer

        async with producing(world) as producer:
            await producer.send_and_wait("t", b"first")
            world.log().script += [not_yet] * 4
            world.hints, begin = True, now()
            world.leader_moved = lambda *_: None  # type: ignore[method-assign]  # what is said is known already
            await producer.send_and_wait("t", b"second")
            assert now() - begin > 0.8 * (0.1 + 0.2 + 0.4 + 0.8), "asked over and over"
        assert world.log().records == [b"first", b"second"]

    play(scene())


def test_D32_the_time_that_is_told_is_the_time_that_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        clock = iter(range(1_000, 9_000))
        monkeypatch.setattr("kcli.proto.columns.time.time_ns", lambda: next(clock) * 1_000_000_000)
        world = World()
        async with producing(world) as producer:
            told = [await producer.send("t", b"v") for _ in range(3)]
            await producer.flush()
        (batch,) = world.log().seen
        assert [one.result().timestamp for one in told] == [record.timestamp for record in batch]

    play(scene())


@pytest.mark.parametrize("way", ["send", "rows"])
def test_A4_26_whoever_sends_without_a_pause_does_not_stop_the_loop(way: str) -> None:
    """There is room for all of it, so nothing makes the caller wait; timers and answers have their turns too."""

    async def scene() -> None:
        world = World(latency=0.0)
        turns = 0

        async def heartbeats() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        async with producing(world) as producer:
            await producer.send_and_wait("t", b"first")
            heart = asyncio.create_task(heartbeats())
            if way == "send":
                for _ in range(20_000):
                    await producer.send("t", b"v")
            else:
                await producer.send_records("t", [(None, None, None, b"v", ())] * 20_000)
            assert turns >= 8
            heart.cancel()
        assert producer.counts.acked == 20_001
        balanced(producer)

    play(scene())


class Odd:
    """Gives back what is no record, and hears what is said."""

    def __init__(self, gives: Any) -> None:
        self.gives = gives
        self.heard: list[tuple[Any, Any]] = []

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        return self.gives  # type: ignore[no-any-return]

    def on_acknowledgement(self, metadata: Any, error: Any) -> None:
        self.heard.append((metadata, error))


@pytest.mark.parametrize("gives", [None, b"v", ("t", b"v")])
def test_A4_06_an_interceptor_that_gives_no_record_is_a_warning_and_the_record_is_delivered(gives: Any) -> None:
    async def scene() -> None:
        world, warned = World(), []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: warned.append(context["message"]))
        odd = Odd(gives)
        async with Producer(world, ProducerSettings(**SHORT), [odd]) as producer:  # type: ignore[arg-type]
            await producer.send_and_wait("t", b"v")
        assert world.log().records == [b"v"]
        assert len(warned) == 1
        assert "no record" in warned[0]
        assert [metadata.offset for metadata, _ in odd.heard] == [0]

    play(scene())


def test_A4_06_an_interceptor_is_told_of_a_record_that_was_not_accepted() -> None:
    """As in Java: refused, given up for want of room, cancelled while it waited."""

    class Listens(Odd):
        def on_send(self, record: ProducerRecord) -> ProducerRecord:
            return record

    async def scene() -> None:
        world, ear = World(), Listens(None)
        settings = ProducerSettings(**(SHORT | {"buffer_memory": 1000, "max_block": 1.0}))
        async with Producer(world, settings, [ear]) as producer:  # type: ignore[arg-type]
            with pytest.raises(UsageError):
                await producer.send("t", b"v", partition=7)
            world.latency = 5.0
            await producer.send("t", b"v" * 900)
            with pytest.raises(BufferFull):
                await producer.send("t", b"v" * 900)
            waiting = asyncio.create_task(producer.send("t", b"v" * 900))
            await asyncio.sleep(0.1)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        assert [type(error) for _, error in ear.heard] == [UsageError, BufferFull, type(None), type(None)]
        assert [metadata is not None for metadata, _ in ear.heard] == [False, False, False, True]

    play(scene())


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"compression": "brotli"}, "compression 'brotli'"),
        ({"compression": "gzip", "compression_level": 77}, "compression.level"),
        ({"compression": "zstd", "compression_level": 77}, "compression.level"),
    ],
)
def test_A4_02_a_codec_or_level_that_is_none_is_refused_before_a_record_is_accepted(
    changes: dict[str, Any], name: str
) -> None:
    with pytest.raises(UsageError, match=name):
        producing(World(), **changes)


def test_D6_a_long_line_among_short_ones_fits_a_small_buffer() -> None:
    """Keyed lines are taken a step at a time; a step that grew for a long line is not full of short ones then."""

    async def scene() -> None:
        world = World(latency=0.0)
        lines = b"k:" + b"v" * 50_000 + b"\n" + b"k:\n" * 40_000
        async with producing(world, buffer_memory=100_000, max_block=1.0) as producer:
            at = 0
            while at < len(lines):
                at = await producer.send_lines("t", lines, at, len(lines), key_delimiter=b":")
        assert producer.counts.acked == 40_001
        balanced(producer)

    play(scene())
