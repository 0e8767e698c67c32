"""The browser of records: folding, a field as a column, marked rows and their difference."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Input

from kcli.admin.topics.topics import NewTopic, create_topics, wait_for_topics
from kcli.client import Client
from kcli.settings import ProducerSettings
from kcli.tui.dialogs.records import Difference, FieldLine
from kcli.tui.screens.record import RecordView
from kcli.tui.screens.records import Records
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import seen, shows, until, visit
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.pilot import Pilot


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as one:
        yield one


async def produce(world: World) -> None:
    """Six carts with fields of two levels."""
    async with Client(world.settings()) as client:
        await create_topics(client.cluster, [NewTopic(topic="carts", partitions=1)])
        await wait_for_topics(client.cluster, ["carts"])
        async with client.producer(ProducerSettings()) as producer:
            carts = [{"id": n, "customer": {"country": "DFJ"[n % 3], "n": [1, 2]}} for n in range(6)]
            rows = [(0, None, b"k", json.dumps(cart).encode(), ()) for cart in carts]
            await producer.send_records("carts", rows)
            await producer.flush()


async def opened(pilot: Pilot[int]) -> Rows:
    await visit(pilot, "records carts")
    await shows(pilot, '{"id": 5')
    return pilot.app.screen.query_one(Rows)


def header_is(pilot: Pilot[int], there: bool) -> bool:
    return ("CUSTOMER.COUNTRY" in seen(pilot)) == there


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_a_field_is_a_column_until_it_is_named_again(world: World, size: tuple[int, int]) -> None:
    await produce(world)
    async with world.open(size=size) as pilot:
        rows = await opened(pilot)
        for there in (True, False):
            await pilot.press("c")
            await until(pilot, lambda: isinstance(pilot.app.screen, FieldLine) and isinstance(pilot.app.focused, Input))
            assert "customer.country" in seen(pilot)
            await pilot.press(*"customer.c")
            await until(pilot, lambda: pilot.app.screen.query_one(Input)._suggestion == "customer.country")
            await pilot.press("right", "enter")
            await until(pilot, partial(header_is, pilot, there))
        await pilot.press("c")
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        await pilot.press(*"id", "enter")
        text = await shows(pilot, " ID ")
        header = next(line for line in text.splitlines() if " ID " in line)
        for _ in range(2):  # by it, and the other way
            await pilot.click(Rows, offset=(header.index(" ID ") + 1, 0))
        await until(pilot, lambda: rows.shown[0].value.startswith(b'{"id": 5'))


async def test_two_marked_records_differ_in_lines(world: World) -> None:
    await produce(world)
    async with world.open(size=(120, 40)) as pilot:
        rows = await opened(pilot)
        await pilot.press("d")
        await shows(pilot, "Mark two records with m")
        await pilot.press("G", "up", "m", "m")
        await shows(pilot, "✓ 2 marked")
        assert sum(line.startswith(("▌✓", " ✓")) for line in seen(pilot).splitlines()) == 2
        await pilot.press("d")
        await until(pilot, lambda: isinstance(pilot.app.screen, Difference))
        text = await shows(pilot, "lines differ")
        assert '-   "id": 4' in text
        assert '+   "id": 5' in text
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, Records))
        await pilot.press("u")
        await until(pilot, lambda: "marked" not in seen(pilot))
        assert not rows.marked


async def test_levels_fold_and_unfold(world: World) -> None:
    await produce(world)
    async with world.open(size=(120, 40)) as pilot:
        await opened(pilot)
        await pilot.press("G", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, RecordView))
        await shows(pilot, '"country": "J"')
        await pilot.press("minus")
        text = await shows(pilot, "level 2 of 3")
        assert '"n": [… 2]' in text
        await pilot.press("minus", "minus")
        text = await shows(pilot, "level 1 of 3")
        assert '"customer": {… 2}' in text
        assert "country" not in text
        await pilot.press("slash", *"country", "enter")
        await shows(pilot, '"country": "J"')  # a filter looks into what is folded
        await pilot.press("escape", "plus", "plus")
        await until(pilot, lambda: "of 3" not in seen(pilot))
        assert '"country": "J"' in seen(pilot)
