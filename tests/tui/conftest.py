"""A seeded sandbox for all tests of the screens, and the dashboard driven by keys."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest
from textual._compositor import LayoutUpdate

from kcli.admin.topics.topics import NewTopic, create_topics, wait_for_topics
from kcli.client import Client
from kcli.model import TopicPartition
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, GroupSettings, ProducerSettings, parse_bootstrap
from kcli.tui.app import Dashboard
from kcli.tui.beat.leaving import compact
from kcli.tui.pages import page_of
from kcli.tui.routes import find
from kcli.tui.session import LiveSession

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractAsyncContextManager

    from textual.app import App
    from textual.pilot import Pilot

    from kcli.tui.routes import Route
    from kcli.tui.screens.page import Page

    Open = Callable[..., AbstractAsyncContextManager[Pilot[int]]]

TOPICS = {"orders": 3, "payments": 2}
RECORDS = {"orders": 300, "payments": 100}


@pytest.fixture(autouse=True)
def within_the_command(face: None) -> None:
    """The dashboard is started by a command."""


@pytest.fixture(scope="package")
def seeded() -> Iterator[SandboxThread]:
    """300 orders, 100 payments; `billing` read all orders, `fraud` 40 payments, `audit` 10 of everything."""
    with SandboxThread() as sandbox:
        asyncio.run(seed(sandbox.bootstrap))
        yield sandbox


async def seed(bootstrap: str) -> None:
    async with Client(ClientSettings(bootstrap=parse_bootstrap(bootstrap))) as client:
        await create_topics(client.cluster, [NewTopic(topic=name, partitions=n) for name, n in TOPICS.items()])
        await wait_for_topics(client.cluster, TOPICS)
        async with client.producer(ProducerSettings()) as producer:
            for n in range(300):
                await producer.send("orders", b'{"order": %d, "who": "c%d"}' % (n, n % 7), key=b"c%d" % n)
            for n in range(100):
                await producer.send(
                    "payments", b"payment %d \x1b[31m" % n, partition=n % 2, headers=[("trace", b"%d" % n)]
                )
            await producer.flush()
        await read(client, "billing", ["orders"], 300)
        await read(client, "fraud", ["payments"], 40)
        await read(client, "audit", ["orders", "payments"], 10)


async def read(client: Client, group: str, topics: list[str], least: int) -> None:
    """Read and commit at least so many records, then leave."""
    async with client.consumer(group=GroupSettings(group=group, auto_commit=False)) as consumer:
        await consumer.subscribe(topics)
        done = 0
        while done < least:
            done += sum(batch.visible for one in await consumer.poll(5.0, 1) for batch in one.batches)
        every = [TopicPartition(topic, n) for topic in topics for n in range(TOPICS[topic])]
        await consumer.commit(
            {at: least // len(every) if least < RECORDS[at.topic] else consumer.position(at) or 0 for at in every}
        )


@pytest.fixture
def dashboard(seeded: SandboxThread) -> Open:
    """`async with dashboard(size=(100, 30)) as pilot:`; the first look has arrived then."""

    @contextlib.asynccontextmanager
    async def opened(*, size: tuple[int, int] = (110, 32), interval: float = 1.0) -> AsyncIterator[Pilot[int]]:
        settings = ClientSettings(bootstrap=parse_bootstrap(seeded.bootstrap))
        app = Dashboard(LiveSession(settings, interval=interval))
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: app.state.snapshot is not None)
            yield pilot

    return opened


async def visit(pilot: Pilot[int], where: str | Route) -> Page:
    """Open a page in front of all others; it is made then."""
    board = pilot.app
    assert isinstance(board, Dashboard)
    route = find(where) if isinstance(where, str) else where
    assert route is not None
    page = page_of(route, board.state)
    await board.push_screen(page)
    return page


async def until(pilot: Pilot[int], holds: Callable[[], object], seconds: float = 20.0) -> None:
    """Let the dashboard go on until something holds."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not holds():
        assert asyncio.get_running_loop().time() < deadline, "\n" + seen(pilot)
        await pilot.pause(0.02)
    await pilot.pause()


async def shows(pilot: Pilot[int], words: str, seconds: float = 20.0) -> str:
    """Wait until these words are on the screen; what is on it then."""
    await until(pilot, lambda: words in seen(pilot), seconds)
    return seen(pilot)


def seen(pilot: Pilot[int]) -> str:
    """What is on the screen, as text."""
    return "\n".join(strip.text.rstrip() for strip in pilot.app.screen._compositor.render_strips())


def repaint(app: App[int]) -> str:
    """What the terminal gets when the whole screen is drawn."""
    update = app.screen._compositor.render_update(full=True)
    assert isinstance(update, LayoutUpdate)
    return compact(update.render_segments(app.console))
