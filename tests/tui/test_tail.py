"""What the live tail reads, decodes and keeps."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from kcli.client import Client
from kcli.model import TopicPartition
from kcli.settings import ProducerSettings
from kcli.tui import tail
from kcli.tui.tail import Tail
from tests.tui.world import RECORDS, World, a_world
from tests.undecided import ABORTED, COMMITTED, END, STABLE, UNDECIDED, undecided_topic

MANY = 30_000
THERE = 2 * RECORDS


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as one:
        yield one


@contextlib.asynccontextmanager
async def followed(one: Tail, client: Client, until: int) -> AsyncIterator[None]:
    """The tail, when so many records have passed; it goes on meanwhile."""
    task = asyncio.create_task(one.follow(client))
    deadline = time.monotonic() + 10.0
    while one.counts.passed < until:  # it tells nobody
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_of_many_only_the_last_are_decoded_and_all_are_counted(world: World) -> None:
    async with Client(world.settings()) as client:
        async with client.producer(ProducerSettings()) as producer:
            await producer.send_records("orders", [(n % 2, n, None, b"late %d" % n, ()) for n in range(MANY)])
            await producer.flush()
        one = Tail(["orders"], starts={TopicPartition("orders", n): 0 for n in range(2)})
        begun = time.monotonic()
        async with followed(one, client, MANY + THERE):
            pass
        took = time.monotonic() - begun
    assert one.counts.passed == one.counts.wanted == MANY + THERE
    kept = one.since(0)
    assert len(kept) <= tail.KEEP
    assert b"late %d" % (MANY - 1) in [record.value for record in kept]
    assert kept[-1].number <= tail.KEEP + took * tail.DECODED + THERE, "numbers count what was decoded"


async def test_of_few_all_are_decoded(world: World) -> None:
    async with Client(world.settings()) as client:
        one = Tail(["orders"], back=1000)
        async with followed(one, client, THERE):
            pass
    assert sorted(record.value or b"" for record in one.since(0)) == sorted(b"order %d" % n for n in range(THERE))


async def test_committed_records_are_shown_and_what_is_waited_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "HEED", 0.05)
    monkeypatch.setattr(tail, "WAITING", 0.3)
    async with undecided_topic(world.sandbox.bootstrap, "paid", "pay-1"), Client(world.settings()) as client:
        one = Tail(["paid"])
        async with followed(one, client, len(COMMITTED)):
            deadline = time.monotonic() + 10.0
            while not one.waiting:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.02)
        why = f"paid[0] waits at offset {STABLE}: 2 offsets are undecided, because transaction pay-1 is open"
        assert one.waiting == why
        assert sorted(record.value or b"" for record in one.since(0)) == COMMITTED
        spans = {TopicPartition("paid", n): (0, END) for n in range(2)}
        assert len(await tail.stretch(client, spans)) == len(COMMITTED)
        both = Tail(["paid"], isolation="read_uncommitted")
        async with followed(both, client, len([*COMMITTED, *ABORTED, *UNDECIDED])):
            pass
        assert both.waiting == ""
