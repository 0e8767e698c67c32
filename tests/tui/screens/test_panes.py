"""Beside the lists of topics and brokers, on a wide screen: what is under the cursor. The time cursor on each plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kcli.admin.configs import Config
from kcli.admin.groups.rows import Described
from kcli.lag.figures import Lag, Sample
from kcli.lag.history import GroupStanding
from kcli.lag.partition_lag import PartitionFigures
from kcli.lag.status import OK, STUCK
from kcli.tui.screens.group import Group
from kcli.tui.screens.page import TALL
from kcli.tui.screens.topics.pane import Readers
from kcli.tui.screens.topics.topic import config_lines
from kcli.tui.text.chart import Chart
from kcli.tui.widgets.lines import Lines
from kcli.tui.widgets.plot import Plot
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import shows, until, visit
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kcli.tui.screens.page import Page
    from tests.tui.conftest import Open

pytestmark = pytest.mark.long

WIDE = (200, 50)


def pane(page: Page) -> list[str]:
    return [" ".join(word.text for word in line.pieces) for line in page.query_one("#about", Lines).lines]


async def test_beside_the_topics_is_the_one_under_the_cursor_with_its_groups(dashboard: Open) -> None:
    async with dashboard(size=WIDE) as pilot:
        page = await visit(pilot, "topics")
        table = page.query_one(Rows)
        await until(pilot, lambda: len(table.shown) == 2 and "GROUPS 2, the worst first" in pane(page))
        text = await shows(pilot, "3 partitions × 1 replicas")
        assert "$ kcli topics describe orders" in text
        assert [line.key for line in page.query_one("#about", Lines).lines if line.key] == ["audit", "billing"]
        assert page.query_one("#about").region.y >= table.region.bottom  # a short list has the whole width
        await pilot.press("j")
        await until(pilot, lambda: pane(page)[0] == "payments")
        assert {line.key for line in page.query_one("#about", Lines).lines if line.key} == {"audit", "fraud"}
        line = next(n for n, one in enumerate(page.query_one("#about", Lines).lines) if one.key == "fraud")
        await pilot.click("#about", offset=(5, line))
        await until(pilot, lambda: isinstance(pilot.app.screen, Group) and pilot.app.screen.group == "fraud")


def test_the_worst_group_of_a_topic_is_first_and_of_two_alike_the_one_with_more_lag() -> None:
    def group(name: str, status: str, lag: int) -> GroupStanding:
        sample = Sample(group=name, topic="orders", partition=0)
        part = PartitionFigures(lag=Lag(sample=sample, lag=lag), status=status)
        return GroupStanding(described=Described(group=name), partitions=[part], status=status)

    readers = Readers([group("a", OK, 0), group("b", STUCK, 5), group("c", STUCK, 9)])
    assert [one.described.group for one in readers.of("orders")] == ["c", "b", "a"]
    assert readers.of("nothing") == []


async def test_the_groups_of_all_topics_are_gone_through_once_a_snapshot(
    dashboard: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    begin = Readers.__init__

    def counted(readers: Readers, groups: Iterable[GroupStanding]) -> None:
        made.append(groups)
        begin(readers, groups)

    monkeypatch.setattr(Readers, "__init__", counted)
    async with dashboard(size=WIDE, interval=3600.0) as pilot:
        page = await visit(pilot, "topics")
        await until(pilot, lambda: "GROUPS 2, the worst first" in pane(page))
        before = len(made)
        for key in "jkjk":
            await pilot.press(key)
        await pilot.pause()
        assert len(made) == before <= 2


async def test_beside_the_brokers_is_the_one_under_the_cursor_with_the_groups_it_coordinates(dashboard: Open) -> None:
    async with dashboard(size=WIDE) as pilot:
        page = await visit(pilot, "brokers")
        await until(pilot, lambda: "COORDINATES 3, the worst first" in pane(page))
        text = await shows(pilot, "kcli configs get broker")
        assert "leads" in text
        assert {line.key for line in page.query_one("#about", Lines).lines if line.key} == {"audit", "billing", "fraud"}
        assert any(words.startswith("answers") and "●" in words for words in pane(page))


async def test_beside_a_topic_are_its_plot_and_its_groups(dashboard: Open) -> None:
    async with dashboard(size=WIDE) as pilot:
        page = await visit(pilot, "topic orders")
        await until(pilot, lambda: "GROUPS 2, the worst first" in pane(page))
        table, plot = page.query_one("#partitions", Rows), page.query_one(Plot)
        assert plot.region.y >= table.region.bottom  # a short list has the whole width
        assert page.query_one("#about").region.x >= plot.region.right
        await pilot.resize_terminal(159, 40)
        await until(pilot, lambda: plot.region.bottom <= table.region.y and not page.query_one("#about").display)
        await pilot.resize_terminal(*WIDE)
        await until(pilot, lambda: plot.region.y >= table.region.bottom)
        line = next(n for n, one in enumerate(page.query_one("#about", Lines).lines) if one.key == "audit")
        await pilot.click("#about", offset=(5, line))
        await until(pilot, lambda: isinstance(pilot.app.screen, Group) and pilot.app.screen.group == "audit")


def test_a_list_of_configs_without_room_for_all_ends_with_how_many_more_there_are() -> None:
    configs = [Config(name=f"c{n}", value=str(n), source="topic" if n == 7 else "default") for n in range(9)]
    texts = [
        [" ".join(word.text.strip() for word in line.pieces) for line in config_lines(configs, n)] for n in (11, 8)
    ]
    assert texts[0][1:3] == ["CONFIGS 9, those changed first", "c7 7"]
    assert texts[0][-1] == "c8 8"
    assert texts[1][2:] == ["c7 7", "c0 0", "c1 1", "c2 2", "c3 3", "… 4 more"]
    assert [len(lines) for lines in texts] == [11, 8]


async def test_beside_the_configs_is_the_one_under_the_cursor_explained_and_no_second_list(dashboard: Open) -> None:
    async with dashboard(size=(200, 60)) as pilot:
        page = await visit(pilot, "topic orders")
        await until(pilot, lambda: any("those changed first" in line for line in pane(page)))
        await pilot.press("3")
        table = page.query_one("#configs", Rows)
        await until(pilot, lambda: table.row is not None and f"CONFIG {table.row.name}" in pane(page))
        assert table.row is not None
        first = table.row.name
        assert any(line.startswith("value ") and ", set by " in line for line in pane(page))
        assert not any("changed first" in line for line in pane(page))
        await pilot.press("down")
        await until(pilot, lambda: table.row is not None and table.row.name != first)
        await until(pilot, lambda: table.row is not None and f"CONFIG {table.row.name}" in pane(page))
        await pilot.press("1")
        await until(pilot, lambda: any("those changed first" in line for line in pane(page)))


@pytest.mark.parametrize("where", ["groups", "group audit", "topics", "brokers"])
async def test_a_command_beside_a_list_names_the_cluster(dashboard: Open, where: str) -> None:
    async with dashboard(size=WIDE) as pilot:
        page = await visit(pilot, where)
        await until(pilot, lambda: any("$ kcli" in words for words in pane(page)))
        commands = [words for words in pane(page) if "$ kcli" in words]
        assert all(f"-b {page.session.bootstrap}" in words for words in commands), commands


@pytest.mark.parametrize("where", ["topics", "brokers"])
async def test_without_the_room_the_list_has_all_of_it(dashboard: Open, where: str) -> None:
    async with dashboard(size=(159, 40)) as pilot:
        page = await visit(pilot, where)
        await until(pilot, lambda: page.query_one(Rows).shown)
        assert page.query_one(Rows).size.width == 159
        assert not pane(page)
        await pilot.resize_terminal(WIDE[0], TALL - 1)  # too few lines to have it below the list
        await until(pilot, lambda: pane(page))
        assert page.query_one(Rows).size.width == WIDE[0] * 6 // 10


@pytest.mark.parametrize("where", ["groups", "group audit", "topic orders"])
async def test_the_time_cursor_moves_on_every_screen_with_a_plot(dashboard: Open, where: str) -> None:
    async with dashboard(size=(120, 40), interval=3600.0) as pilot:
        page = await visit(pilot, where)
        plot = page.query_one(Plot)
        plot.put(Chart(points=[(0.0, 1.0), (60.0, 3.0)]))
        await pilot.pause(0.2)
        assert not plot.reading
        await pilot.press("left")
        await until(pilot, lambda: plot.reading)
        await shows(pilot, plot.reading)
        at = plot.at
        await pilot.press("left")
        await until(pilot, lambda: plot.at != at)
        await pilot.press(*["right"] * 3)
        await until(pilot, lambda: not plot.reading)


def test_no_other_page_has_a_plot_without_the_cursor() -> None:
    """A page that gets a plot has to be above."""
    import pkgutil
    from importlib import import_module
    from inspect import getsource

    from kcli.tui import screens

    have = {
        module.name.rpartition(".")[2]
        for module in pkgutil.walk_packages(screens.__path__, f"{screens.__name__}.")
        if "yield Plot(" in getsource(import_module(module.name))
    }
    assert have == {"groups", "group", "topic"}


@pytest.fixture
def three_brokers() -> Iterator[World]:
    with a_world(brokers=3) as world:
        yield world


async def test_a_group_is_in_the_pane_of_its_coordinator_alone(three_brokers: World) -> None:
    async with three_brokers.open(size=WIDE, interval=3600.0) as pilot:
        page = await visit(pilot, "brokers")
        await until(pilot, lambda: len(page.query_one(Rows).shown) == 3 and pane(page))
        named = []
        for place in range(3):
            page.query_one(Rows).cursor = place
            await pilot.pause()
            named += [line.key for line in page.query_one("#about", Lines).lines if line.key]
        assert named == ["billing"]
