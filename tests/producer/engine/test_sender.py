"""The sender of a leader: what happens between its turns."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from kcli.client import Client
from kcli.model import Lane
from kcli.producer.engine.sender import LeaderSender
from kcli.sandbox.sandbox import Sandbox
from kcli.settings import ProducerSettings


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
