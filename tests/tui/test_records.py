"""The list of records: its filter, and what it shows of each."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from textual.widgets import Input

from kcli.client import Client
from kcli.settings import ProducerSettings
from kcli.tui.screens import records as page
from kcli.tui.screens.records import Records
from kcli.tui.tail import Tail
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import shows, until
from tests.tui.world import World, a_world

LONG_AGO = 1_700_000_000_000  # 2023-11-14 22:13:20 UTC


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as one:
        yield one


@pytest.fixture
def tails(monkeypatch: pytest.MonkeyPatch) -> list[Tail]:
    """The tails that were begun."""
    begun: list[Tail] = []

    class Counted(Tail):
        def __init__(self, *args: object, **options: object) -> None:
            super().__init__(*args, **options)  # type: ignore[arg-type]
            begun.append(self)

    monkeypatch.setattr(page, "Tail", Counted)
    return begun


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def produce(world: World, values: list[bytes], timestamp: int | None = None) -> None:
    async with Client(world.settings()) as client, client.producer(ProducerSettings()) as producer:
        await producer.send_records("orders", [(0, timestamp, None, value, ()) for value in values])
        await producer.flush()


async def test_a_condition_narrows_what_is_loaded_and_what_comes(
    world: World, tails: list[Tail], monkeypatch: pytest.MonkeyPatch
) -> None:
    await produce(world, [b'{"id": %d, "total": %d}' % (n, n) for n in range(20)])
    async with world.open(size=(140, 40)) as pilot:
        await pilot.press("colon", *"records orders", "enter")
        await shows(pilot, '{"id": 19, "total": 19}')
        with monkeypatch.context() as patch:
            patch.setattr(page, "TYPED", 60.0)  # a busy machine is not a user that pauses
            await pilot.press("slash", *"value.to")
            line = pilot.app.screen.query_one("#filter", Input)
            await until(pilot, lambda: line._suggestion == "value.total")
            await pilot.press("right", *" > 1")
            await until(pilot, lambda: rows(pilot).shown[0].value[:8] == b'{"id": 2')
            assert len(tails) == 1, "letters alone begin no tail"
        await pilot.press("7")
        await until(pilot, lambda: [row.value[:9] for row in rows(pilot).shown] == [b'{"id": 18', b'{"id": 19'])
        text = await shows(pilot, "found 2;")
        assert "$ kcli tail orders --where 'value.total > 17'" in text
        await until(pilot, lambda: len(tails) == 2)
        await produce(world, [b'{"id": 98, "total": 3}', b'{"id": 99, "total": 99}'])
        await shows(pilot, '{"id": 99, "total": 99}')
        assert [row.value[:9] for row in rows(pilot).shown] == [b'{"id": 18', b'{"id": 19', b'{"id": 99']
        await pilot.press("escape")
        await shows(pilot, '{"id": 10, "total": 10}')
        assert len(rows(pilot).shown) > 20, "what was read before the filter is there again"


async def test_a_list_that_follows_its_end_follows_what_a_filter_leaves(world: World) -> None:
    await produce(world, [b'{"id": %d}' % n for n in range(40)])
    async with world.open(size=(140, 40)) as pilot:
        await pilot.press("colon", *"records orders", "enter")
        await shows(pilot, '{"id": 39}')
        await until(pilot, lambda: rows(pilot).cursor == len(rows(pilot).shown) - 1)
        await pilot.press("slash", *"nothing")
        await until(pilot, lambda: not rows(pilot).shown)
        pilot.app.screen.query_one("#filter", Input).value = "value.id > 29"
        await until(pilot, lambda: len(rows(pilot).shown) == 10 and rows(pilot).cursor == 9)
        await pilot.press("escape", "pageup", "pageup")
        await until(pilot, lambda: rows(pilot).cursor == 0 and len(rows(pilot).shown) > 20)
        await pilot.press("slash", *"id")
        await until(pilot, lambda: len(rows(pilot).shown) == 20)
        assert rows(pilot).cursor == 0, "who reads further up stays there"


async def test_what_is_no_condition_yet_keeps_the_records_and_says_why(world: World, tails: list[Tail]) -> None:
    async with world.open(size=(140, 40)) as pilot:
        await pilot.press("colon", *"records orders", "enter")
        await shows(pilot, "order 199")
        await pilot.press("slash")
        pilot.app.screen.query_one("#filter", Input).value = "value.total = 3"  # typed slowly, "value.t" is one
        await shows(pilot, "write == for =")
        assert len(rows(pilot).shown) >= 20
        assert len(tails) == 1


async def test_a_held_list_is_filtered_too(world: World, tails: list[Tail]) -> None:
    async with world.open(size=(140, 40)) as pilot:
        await pilot.press("colon", *"records orders", "enter")
        await shows(pilot, "order 199")
        await pilot.press("p")
        await shows(pilot, "HELD")
        await pilot.press("slash", *"~r 19[89]", "enter")
        await until(pilot, lambda: [row.value for row in rows(pilot).shown] == [b"order 198", b"order 199"])
        await pilot.pause(page.TYPED * 2)
        assert len(rows(pilot).shown) == 2
        assert len(tails) == 1, "what is held stays"
        await pilot.press("p")
        await until(pilot, lambda: len(tails) == 2)


async def test_the_time_has_its_zone_and_its_date_unless_it_is_of_today(world: World, utc: None) -> None:
    await produce(world, [b"long-ago"], LONG_AGO)
    await produce(world, [b"just-now"])
    async with world.open(size=(140, 40)) as pilot:
        await pilot.press("colon", *"records orders", "enter")
        await pilot.press("slash", *"~-ago|-now", "enter")
        await shows(pilot, "found 2;")
        text = await shows(pilot, "just-now")
        assert "TIME UTC" in text
        lines = [line.rstrip() for line in text.splitlines()]
        assert "2023-11-14 22:13:20.000" in next(line for line in lines if line.endswith("long-ago"))
        assert f"{time.gmtime().tm_year}-" not in next(line for line in lines if line.endswith("just-now"))
        rows(pilot).cursor = 0
        await pilot.press("enter")
        await shows(pilot, "2023-11-14 22:13:20.000 UTC  key null")


def rows(pilot: object) -> Rows:
    screen = pilot.app.screen  # type: ignore[attr-defined]
    assert isinstance(screen, Records)
    return screen.query_one(Rows)
