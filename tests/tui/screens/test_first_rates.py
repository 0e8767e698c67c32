"""Rates are there with the first answer: records say by their timestamps what was written in the minute before."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from kcli.admin.groups.commits import write_commits
from kcli.admin.topics import stats
from kcli.admin.topics.stats import TopicStatsReader, ends_before
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.lag.watch import Watch
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from kcli.tui import session
from kcli.tui.app import Dashboard
from kcli.tui.screens.topics import topic
from kcli.tui.screens.topics.topic import Topic, rates_between
from kcli.tui.screens.topics.topics import EVEN, Topics
from kcli.tui.session import LiveSession
from kcli.tui.widgets.plot import Plot
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import shows, until, visit

if TYPE_CHECKING:
    from collections.abc import Iterator

ONCE = 3600.0
"""A refresh interval after which no second answer comes in a test."""


class Clock:
    """A time that passes when it is told to: a busy machine may take long from the last record to the first answer."""

    def __init__(self) -> None:
        self.now = float(round(time.time()))

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What the pages that have rates take for the time."""
    one = Clock()
    monkeypatch.setattr(stats, "time", one)
    monkeypatch.setattr(topic, "time", one)
    monkeypatch.setattr(session, "Watch", partial(Watch, clock=one.time))
    return one


@pytest.fixture
def sandbox(clock: Clock) -> Iterator[SandboxThread]:
    """`orders` had ten records a second in the last 70 s, `old` its last one a day ago."""
    with SandboxThread(topics={"orders": 2, "old": 1}) as one:
        asyncio.run(seed(one, round(clock.now * 1000)))
        yield one


def settings(sandbox: SandboxThread) -> ClientSettings:
    return ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))


async def seed(sandbox: SandboxThread, now: int) -> None:
    async with Client(settings(sandbox)) as client:
        async with client.producer(ProducerSettings()) as producer:
            for n in range(700):
                await producer.send("orders", b"x", partition=0, timestamp=now - 70_000 + 100 * n)
                await producer.send("old", b"x", partition=0, timestamp=now - 86_400_000 + n)
            await producer.flush()
        at = {TopicPartition("orders", n): OffsetAndMetadata(offset=0) for n in range(2)}
        await write_commits(Coordinators(client.cluster), "billing", at)


async def test_groups_topics_and_the_plot_of_a_topic_have_rates_from_one_answer(sandbox: SandboxThread) -> None:
    board = Dashboard(LiveSession(settings(sandbox), interval=ONCE))
    async with board.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: board.state.snapshot is not None)
        assert board.state.snapshot is not None
        assert 8.0 < (board.state.snapshot.groups[0].in_rate or 0.0) < 12.0
        page = await visit(pilot, "topics")
        rows = page.query_one(Rows)
        await until(pilot, lambda: any(row.rate is not None for row in rows.shown))
        rates = {row.topic.topic: row.rate for row in rows.shown}
        assert 8.0 < (rates["orders"] or 0.0) < 12.0
        assert rates["old"] is None, "no record of the last minute says how fast it is written to"
        page = await visit(pilot, "topic orders")
        await shows(pilot, "written per second  now")
        points = page.query_one(Plot).chart.points
        assert len(points) == 4
        assert all(8.0 < (rate or 0.0) < 12.0 for _, rate in points)
        await visit(pilot, "topic old")
        await shows(pilot, "A rate needs two answers")


async def test_details_of_topics_are_asked_for_though_the_answer_comes_before_the_first_layout(
    sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = TopicStatsReader()
    async with Client(settings(sandbox)) as client:
        answer = await reader.read(client.cluster)

    laid_out: list[bool] = []

    def answered(page: Topics) -> None:
        """The first question of the page has its answer at once, and no other has one."""
        if not laid_out:
            laid_out.append(bool(page.query_one(Rows).size))
            page._stats = reader
            page.fetched(answer)

    monkeypatch.setattr(Topics, "inquire", answered)
    board = Dashboard(LiveSession(settings(sandbox), interval=ONCE))
    async with board.run_test(size=(140, 40)) as pilot:
        rows = (await visit(pilot, "topics")).query_one(Rows)
        await until(pilot, lambda: any(row.rate is not None for row in rows.shown))
        assert laid_out == [False]


def other(rows: Rows, before: object) -> bool:
    """Whether the first row is of another answer."""
    return rows.shown[0] is not before


async def test_rates_of_topics_stay_when_the_next_answer_comes_at_once(sandbox: SandboxThread, clock: Clock) -> None:
    board = Dashboard(LiveSession(settings(sandbox), interval=ONCE))
    async with board.run_test(size=(140, 40)) as pilot:
        rows = (await visit(pilot, "topics")).query_one(Rows)
        await until(pilot, lambda: any(row.rate is not None for row in rows.shown))
        for _ in range(2):
            before = rows.shown[0]
            clock.now += 0.5
            await pilot.press("ctrl+r")
            await until(pilot, partial(other, rows, before))
            await until(pilot, lambda: any(row.rate is not None for row in rows.shown))
            rates = {row.topic.topic: row.rate for row in rows.shown}
            assert 8.0 < (rates["orders"] or 0.0) < 12.0, "not 0, though nothing came in that half second"


async def test_the_plot_of_a_topic_goes_on_after_an_answer_without_an_end(sandbox: SandboxThread, clock: Clock) -> None:
    board = Dashboard(LiveSession(settings(sandbox), interval=ONCE))
    async with board.run_test(size=(140, 40)) as pilot:
        page = await visit(pilot, "topic orders")
        assert isinstance(page, Topic)
        await shows(pilot, "written per second  now")
        before = page.query_one(Plot).chart.points
        page._end = None  # as an answer leaves it in which a partition has no end
        clock.now += 5.0
        await pilot.press("ctrl+r")
        await until(pilot, lambda: page.query_one(Plot).chart.points != before)
        *drawn, (moment, rate) = page.query_one(Plot).chart.points
        assert drawn == before
        assert moment == clock.now
        assert 6.0 < (rate or 0.0) < 7.0, "ten a second in ten of its fifteen seconds"


async def test_ends_of_a_minute_ago_are_known_or_nothing_is(sandbox: SandboxThread, clock: Clock) -> None:
    async with Client(settings(sandbox)) as client:
        orders = {TopicPartition("orders", 0): 700, TopicPartition("orders", 1): 0}
        now = clock.now
        assert await ends_before(client.cluster, orders, now=now) == [
            (now - 60, 100),
            (now - 45, 250),
            (now - 30, 400),
            (now - 15, 550),
        ]
        assert await ends_before(client.cluster, {TopicPartition("old", 0): 700}, now=now) == []
        assert await ends_before(client.cluster, {}, now=now) == []
        nowhere = {**orders, TopicPartition("orders", 7): 10}
        assert await ends_before(client.cluster, nowhere, now=now) == []


def test_a_rate_is_of_the_time_between_two_ends() -> None:
    assert rates_between([(10.0, 100), (20.0, 150), (21.0, 140)]) == [(20.0, 5.0), (21.0, 0.0)]
    assert rates_between([(10.0, 100)]) == []


async def test_the_rates_of_the_minute_before_are_not_shown_as_those_of_now(
    sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A partition that cannot be read has no rate: neither has its topic, whatever it had when the page was opened."""
    board = Dashboard(LiveSession(settings(sandbox), interval=ONCE))
    async with board.run_test(size=(140, 40)) as pilot:
        page = await visit(pilot, "topics")
        assert isinstance(page, Topics)
        rows = page.query_one(Rows)
        await until(pilot, lambda: any(row.topic.topic == "orders" and row.rate for row in rows.shown))
        (orders,) = (row for row in rows.shown if row.topic.topic == "orders")
        monkeypatch.setattr(page, "_first_at", time.monotonic())
        orders.rate = None
        page._rate_first()
        assert orders.rate is not None, "a moment later they still hold"
        monkeypatch.setattr(page, "_first_at", page._first_at - EVEN - 1)
        orders.rate = None
        page._rate_first()
        assert orders.rate is None
