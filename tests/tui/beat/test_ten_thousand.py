"""What a refresh of the page of topics does at 10,000 topics, counted: no more than at 100."""

from __future__ import annotations

from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from textual.screen import Screen
from textual.widget import Widget

from kcli.proto.messages import api_name
from kcli.sandbox.thread import SandboxThread
from kcli.tui.widgets.columns import Column
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import until, visit
from tests.tui.world import World

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from textual.pilot import Pilot

FEW, MANY = 100, 10_000
SIZE = (140, 40)
MOST_REQUESTS = {"ListOffsets": 3, "DescribeLogDirs": 1, "DescribeConfigs": 1, "Metadata": 3}
"""Of a refresh of one broker: ends, starts, last writes; sizes; configs; topics, brokers. Any other kind once."""


class Work(NamedTuple):
    """What was done: requests by their name, cells formatted, rows they are of, widgets told to draw, pieces put."""

    requests: Counter[str]
    cells: int
    rows: int
    widgets: frozenset[str]
    puts: int


class Counting:
    """Counts from `begin` on."""

    def __init__(self, sandbox: SandboxThread, patch: pytest.MonkeyPatch) -> None:
        self._sandbox = sandbox
        cell, texts, refresh, put = Column.cell, Column.texts, Widget.refresh, Rows.put

        def counted_cell(column: Column, row: Any) -> Any:
            self._cells += 1
            self._rows.add(id(row))
            return cell(column, row)

        def counted_texts(column: Column, some: Any) -> Any:
            self._cells += len(some)
            return texts(column, some)

        def counted_refresh(widget: Widget, *regions: Any, **options: Any) -> Any:
            if not isinstance(widget, Screen):  # the compositor's own, which draws what the others asked for
                self._widgets.add(f"{type(widget).__name__}#{widget.id}")
            return refresh(widget, *regions, **options)

        def counted_put(rows: Rows, some: Any) -> None:
            self.puts += 1
            put(rows, some)

        patch.setattr(Column, "cell", counted_cell)
        patch.setattr(Column, "texts", counted_texts)
        patch.setattr(Widget, "refresh", counted_refresh)
        patch.setattr(Rows, "put", counted_put)
        self.begin()

    def begin(self) -> None:
        self._cells = self.puts = 0
        self._rows: set[int] = set()
        self._widgets: set[str] = set()
        self._before = self._requests()

    def _requests(self) -> Counter[str]:
        seen: dict[int, int] = self._sandbox.call(lambda inside: dict(inside.seen))
        return Counter({api_name(key): count for key, count in seen.items()})

    @property
    def work(self) -> Work:
        asked = self._requests() - self._before
        return Work(asked, self._cells, len(self._rows), frozenset(self._widgets), self.puts)


@pytest.fixture(scope="module", params=[FEW, MANY])
def world(request: pytest.FixtureRequest) -> Any:
    names = {f"team-{n % 37}.topic-{n:05}": 1 for n in range(request.param)}
    with SandboxThread(topics=names) as sandbox:
        yield World(sandbox)


@asynccontextmanager
async def topics(world: World) -> AsyncIterator[tuple[Pilot[int], Any]]:
    async with world.open(size=SIZE, interval=3600.0) as pilot:
        page = await visit(pilot, "topics")
        await until(pilot, lambda: page.query_one(Rows).shown and page._kept and not page.asking.busy, 60)  # type: ignore[attr-defined]
        yield pilot, page


async def refreshed(pilot: Pilot[int], counting: Counting) -> Work:
    """The work of one refresh: what the page asks at a beat, and the details of what is seen."""
    counting.begin()
    await pilot.press("ctrl+r")
    await until(pilot, lambda: counting.puts == 2, 60)
    return counting.work


@pytest.mark.long
async def test_a_refresh_does_the_work_of_the_rows_that_are_seen_and_an_idle_second_none(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with topics(world) as (pilot, page):
        counting, rows = Counting(world.sandbox, monkeypatch), page.query_one(Rows)
        work = await refreshed(pilot, counting)
        for name, count in work.requests.items():
            assert count <= MOST_REQUESTS.get(name, 1), work.requests
        assert work.rows <= 2 * SIZE[1]  # as they were before the answer of the details, and after it
        assert work.cells <= 2 * 2 * SIZE[1] * len(rows.columns)  # measured and drawn, each time
        assert len(work.widgets) <= 10, work.widgets
        assert len(page._kept) <= SIZE[1]
        assert len(page._written) <= SIZE[1]
        counting.begin()
        await pilot.pause(0.5)
        for _ in range(5):  # what the refresh left to do, such as the names of topics for `:`
            if not counting.work.requests:
                break
            counting.begin()
            await pilot.pause(0.5)
        counting.begin()
        for _ in range(3):
            page._beat()
            await pilot.pause(0.5)
        work = counting.work
        assert work.cells == 0
        assert not work.requests
        assert work.widgets <= {"Masthead#None"}


@pytest.mark.long
async def test_the_text_of_a_row_is_made_once_however_much_is_typed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with topics(world) as (pilot, page):
        counting, rows = Counting(world.sandbox, monkeypatch), page.query_one(Rows)
        drawn = 2 * 2 * SIZE[1] * len(rows.columns)
        searched = sum(column.searched for column in rows.columns)
        assert searched < len(rows.columns)
        counting.begin()
        rows.wanted = "topic-"
        await pilot.pause()
        assert rows.known * searched <= counting.work.cells <= rows.known * searched + drawn
        for words in ("topic-0", "topic-00", "topic-00 !team-3", "nothing", ""):
            counting.begin()
            rows.wanted = words
            await pilot.pause()
            assert counting.work.cells <= drawn
            assert not counting.work.requests


@pytest.mark.long
async def test_a_key_draws_the_two_lines_between_which_the_cursor_moves(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with topics(world) as (pilot, page):
        counting, rows = Counting(world.sandbox, monkeypatch), page.query_one(Rows)
        await pilot.pause(1.5)  # what was asked for the first picture is drawn
        for key, here in (("j", 1), ("j", 2), ("k", 1)):
            counting.begin()
            await pilot.press(key)
            await pilot.pause(0.1)
            assert rows.cursor == here
            assert counting.work.rows == 2
        counting.begin()
        await pilot.press("pagedown", "j")
        await pilot.pause(0.1)
        assert counting.work.rows > SIZE[1] / 2  # they scroll
