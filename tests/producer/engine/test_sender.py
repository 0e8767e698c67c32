"""The sender of a leader: what happens between its turns."""

from __future__ import annotations

import asyncio
import math
from types import SimpleNamespace
from typing import Any

import pytest

from kcli.client import Client
from kcli.errors import KcliError
from kcli.model import Lane
from kcli.producer.engine.sender import NEAR, SMALL, LeaderSender
from kcli.sandbox.sandbox import Sandbox
from kcli.settings import ProducerSettings
from tests.each import each


async def test_what_happens_before_a_turn_is_looked_at_though_the_sender_ends_first() -> None:
    draining: Any = SimpleNamespace(node_id=1, mine=list)
    none: Any = None
    seen: list[str] = []
    sender = LeaderSender(draining, none, none, none, none, none, lambda node, problem: seen.append("ended"), none)
    sender.loop = asyncio.get_running_loop()
    sender.on_unseen = lambda: seen.append("looked")
    sender.wake()
    sender.unseen = True
    sender._settle()  # the last request was answered, and nothing is left for this leader
    assert seen == ["looked", "ended"]


async def test_what_comes_next_is_written_in_the_step_in_which_responses_were_read() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Client(sandbox.bootstrap) as client:
        async with client.producer(ProducerSettings(batch_records=1, linger=0.0, max_in_flight=2)) as producer:
            await producer.send_and_wait("t", b"opens the connection")
            (node,) = await client.cluster.nodes()
            broker: Any = client.cluster.known_node(node.id)
            connection = broker._lanes.open[Lane.PRODUCE]
            written: list[bool] = []
            read, write = connection.buffer_updated, connection._send_all
            reading = False

            def reads(nbytes: int) -> None:
                nonlocal reading
                reading = True
                read(nbytes)
                reading = False

            def writes(frames: list[Any]) -> None:
                written.append(reading)
                write(frames)

            connection.buffer_updated, connection._send_all = reads, writes
            await producer.send_lines("t", b"x\n" * 6, 0, 12)
            await producer.flush()
            assert written[0] is False
            assert len(written) > 1
            assert all(written[1:])


def queued(count: int, size: int = 100) -> Any:
    return SimpleNamespace(waiting=[SimpleNamespace(size=size)] * count)


@each(
    "on_the_wire, answered, alone, waits, why",
    [
        (3, 10.0, queued(3), True, "more than half of those in flight, and the next response is near"),
        (2, 10.0, queued(3), False, "more than half may be written"),
        (3, 10.0 - 2 * NEAR, queued(3), False, "the next response is as far as the network is long"),
        (3, -math.inf, queued(3), False, "nothing was answered yet"),
        (3, 10.0, queued(2), False, "too little waits to fill what is free then"),
        (3, 10.0, queued(3, size=SMALL + 1), False, "what waits is large"),
    ],
)
async def test_small_batches_leave_together_while_responses_come_close_together(
    on_the_wire: int, answered: float, alone: Any, waits: bool, why: str
) -> None:
    none: Any = None
    draining: Any = SimpleNamespace(node_id=1)
    sender: Any = LeaderSender(draining, none, none, ProducerSettings(max_in_flight=5), none, none, none)
    sender._outstanding.extend([SimpleNamespace(since=10.0)] * on_the_wire)
    sender._answered = answered
    assert sender._waits_for_more_room(alone) is waits, why


@each(
    "on_the_wire, alone, enough, why",
    [
        (5, queued(3), 3, "with two on the wire the next three are written"),
        (4, queued(3), 2, "the same from four"),
        (5, queued(2), 1, "fewer batches wait than there is room for"),
        (2, queued(3), 1, "more may be written at once"),
        (5, queued(0), 1, "nothing waits"),
    ],
)
async def test_as_many_responses_are_read_together_as_the_next_write_needs(
    on_the_wire: int, alone: Any, enough: int, why: str
) -> None:
    none: Any = None
    draining: Any = SimpleNamespace(node_id=1)
    sender: Any = LeaderSender(draining, none, none, ProducerSettings(max_in_flight=5), none, none, none)
    sender._outstanding.extend([SimpleNamespace(since=10.0)] * on_the_wire)
    sender._answered = 10.0
    assert sender._needed_together(alone) == enough, why


async def test_a_write_has_half_of_the_requests_that_may_be_in_flight_while_batches_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kcli.producer.engine.sender.NEAR", math.inf)  # else a loaded machine decides
    monkeypatch.setattr("kcli.sandbox.wire.connection.IN_A_ROW", 1)  # responses are read one by one
    async with Sandbox(topics={"t": 1}) as sandbox, Client(sandbox.bootstrap) as client:
        async with client.producer(ProducerSettings(batch_records=1, linger=0.0)) as producer:
            await producer.send_and_wait("t", b"opens the connection")
            (node,) = await client.cluster.nodes()
            broker: Any = client.cluster.known_node(node.id)
            connection = broker._lanes.open[Lane.PRODUCE]
            queue = producer._engine.accumulator.queue("t", 0)
            write, written = connection._send_all, list[tuple[int, int]]()

            def writes(frames: list[Any]) -> None:
                written.append((len(frames), len(frames) + len(queue.waiting)))
                write(frames)

            connection._send_all = writes
            await producer.send_lines("t", b"x\n" * 60, 0, 120)
            await producer.flush()
        assert sum(count for count, _ in written) == 60
        assert all(count >= 3 for count, could in written if could >= 3), written


async def test_what_comes_next_is_written_before_the_batches_are_settled_that_made_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Client(sandbox.bootstrap) as client:
        async with client.producer(ProducerSettings(batch_records=1, linger=0.0, max_in_flight=2)) as producer:
            await producer.send_and_wait("t", b"opens the connection")
            events: list[str] = []
            producer.on_batch = lambda outcome: events.append("settled")
            send_all, settle = LeaderSender._send_all, LeaderSender._settle

            def sends(self: LeaderSender) -> float | None:
                before = len(self._outstanding)
                later = send_all(self)
                if len(self._outstanding) > before:
                    events.append("written")
                return later

            def settles(self: LeaderSender) -> None:
                events.append("read")
                settle(self)

            monkeypatch.setattr(LeaderSender, "_send_all", sends)
            monkeypatch.setattr(LeaderSender, "_settle", settles)
            await producer.send_lines("t", b"x\n" * 30, 0, 60)
            await producer.flush()
        steps = [step.split() for step in " ".join(events).split("read")]
        assert sum(step.count("settled") for step in steps) == 30
        both = [step for step in steps if "settled" in step and "written" in step]
        assert len(both) > 5
        assert all(step[0] == "written" for step in both), steps


async def test_what_is_stored_is_settled_as_that_though_the_next_write_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Client(sandbox.bootstrap) as client:
        producer = client.producer(ProducerSettings(batch_records=1, linger=0.0, max_in_flight=1))
        await producer.start()
        await producer.send_and_wait("t", b"opens the connection")
        on_the_wire = await producer.send("t", b"v")
        waits = await producer.send("t", b"waits for its turn")

        write, written = LeaderSender._send_all, list[LeaderSender]()

        def breaks(sender: LeaderSender) -> float | None:
            if sender in written and not sender._outstanding:  # the response is there
                assert producer.counts.acked == 1
                raise RuntimeError("the write breaks")
            written.append(sender)
            return write(sender)

        monkeypatch.setattr(LeaderSender, "_send_all", breaks)
        assert (await on_the_wire).offset == 1
        with pytest.raises(KcliError, match="the write breaks"):
            await waits
        await producer.close()
        assert (producer.counts.acked, producer.counts.failed, producer.counts.unknown) == (2, 1, 0)
