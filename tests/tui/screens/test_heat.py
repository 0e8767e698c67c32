"""The heatmap: what a shade means, partitions of topics and of brokers, the cursor among them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from textual.color import Color

from kcli.admin.groups.rows import Described
from kcli.admin.topics.topics import Partition, Topic
from kcli.lag.figures import Lag, Sample
from kcli.lag.history import GroupStanding
from kcli.lag.partition_lag import PartitionFigures
from kcli.lag.status import NO_COMMIT, OK, STUCK
from kcli.lag.watch import LagSnapshot
from kcli.model import TopicPartition
from kcli.text.numbers import DASH, count
from kcli.tui.app import Dashboard
from kcli.tui.screens.heat import (
    Cluster,
    Grid,
    Heat,
    Heatmap,
    HeatRow,
    by_broker,
    by_topic,
    of_cluster,
    of_groups,
    shade,
    steps,
)
from kcli.tui.themes import STEPS, THEMES, heat, luminance
from tests.tui import pictures
from tests.tui.conftest import seen, shows, until, visit

if TYPE_CHECKING:
    from textual.theme import Theme

    from tests.tui.conftest import Open


def topic(name: str, leaders: list[int]) -> Topic:
    return Topic(topic=name, partitions=[Partition(partition=n, leader=leader) for n, leader in enumerate(leaders)])


def heats(**values: list[float | None]) -> dict[TopicPartition, Heat]:
    return {
        TopicPartition(name, n): Heat(TopicPartition(name, n), value)
        for name, some in values.items()
        for n, value in enumerate(some)
    }


def test_shades_are_equal_ratios() -> None:
    scale = steps([0, None, 1, 2.0**STEPS])
    assert scale == pytest.approx([2.0**n for n in range(STEPS)])
    assert [shade(value, scale) for value in (0.5, 1, 2, 3, 4, 2.0**STEPS)] == [0, 0, 1, 1, 2, STEPS - 1]
    assert steps([0, 0]) == []
    assert shade(7, steps([7, 7])) == STEPS - 1, "all alike: all are the hottest"


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_neighbours_in_the_ramp_differ_by_eye_and_all_from_the_ground(theme: Theme) -> None:
    colors = [Color.from_rich_color(style.color) for style in heat(dark=theme.dark)]
    lights = [luminance(Color.parse(theme.background or "")) + 0.05, *(luminance(color) + 0.05 for color in colors)]
    ratios = [max(a, b) / min(a, b) for a, b in itertools.pairwise(lights)]
    assert len(colors) == STEPS >= 18
    assert min(ratios) >= 1.1
    assert ratios[0] >= 3.0, "the least lag is not to be taken for the ground"
    assert sorted(lights) == (lights if theme.dark else lights[::-1])


async def test_tiles_have_gaps_a_frame_around_the_cursor_and_a_legend_in_their_colours(dashboard: Open) -> None:
    async with dashboard(size=(120, 32)) as pilot:
        await shows(pilot, "ORPHANED")
        await pilot.press("H")
        await shows(pilot, "unknown")
        await until(pilot, lambda: pilot.app.screen.query_one(Grid).here is not None)
        await pilot.press("right", "right")
        await shows(pilot, "orders[2]")
        (line,) = (line for line in seen(pilot).split("\n") if line.startswith("▌"))
        assert line.rstrip().endswith(" ▆▆ ▆▆[▆▆]")
        strips = pilot.app.screen._compositor.render_strips()
        used = [{piece.style.color for piece in strip if piece.style and "▆" in piece.text} for strip in strips]
        legend = next(n for n, strip in enumerate(strips) if "unknown" in strip.text)
        assert set().union(*used[legend + 1 :]) <= used[legend]
        assert len(used[legend]) == STEPS


def test_more_partitions_than_room_are_the_hottest_of_some() -> None:
    grid = Grid(count)
    ats = [TopicPartition("t", n) for n in range(5000)]
    row = HeatRow("t", tuple(Heat(at, float(n)) for n, at in enumerate(ats)))
    grid.measure(count, [row])
    for room in (3, 40, 100):
        cells = grid._tiles(row, room)
        assert sum(len(cell.text) for cell in cells) <= room
        assert cells[-2].tone == f"shade {STEPS - 1}"


def test_rows_are_topics_or_the_leaders_of_partitions() -> None:
    known = heats(a=[5, None, 7])
    topics = [topic("a", [1, 2, 1]), topic("b", [-1])]
    assert [(row.name, [cell.value for cell in row.cells]) for row in by_topic(known, topics)] == [
        ("a", [5, None, 7]), ("b", [None]),
    ]  # fmt: skip
    assert [(row.name, [cell.value for cell in row.cells]) for row in by_broker(known, topics)] == [
        ("no leader", [None]), ("broker 1", [7, 5]), ("broker 2", [None]),
    ]  # fmt: skip


def test_a_rate_is_what_came_since_the_answer_before() -> None:
    at, new = TopicPartition("a", 0), TopicPartition("a", 1)
    before, now = Cluster([], {at: 10}, {}, 100.0), Cluster([], {at: 60, new: 9}, {at: 512}, 105.0)
    assert of_cluster(now, before, "rate") == {at: Heat(at, 10.0)}
    assert of_cluster(now, None, "rate") == {}
    assert of_cluster(now, before, "size") == {at: Heat(at, 512.0)}
    assert of_cluster(now, now, "rate") == {}, "no time went by"
    assert of_cluster(before._replace(time=110.0), now, "rate") == {at: Heat(at, 0.0)}, "the topic was made again"


@pytest.mark.parametrize("order", [1, -1])
def test_a_partition_has_the_most_lag_and_the_worst_status_of_its_groups(order: int) -> None:
    at = TopicPartition("orders", 0)

    def group(name: str, status: str, lag: int | None, age: float | None) -> GroupStanding:
        sample = Sample(group=name, topic="orders", partition=0)
        part = PartitionFigures(lag=Lag(sample=sample, lag=lag), status=status, time_lag=age, in_rate=3.0)
        return GroupStanding(described=Described(group=name), partitions=[part], status=status)

    some = LagSnapshot(groups=[group("a", STUCK, 5, None), group("b", OK, 70, 12.0)][::order])
    assert of_groups(some, "lag") == {at: Heat(at, 70, "bad")}
    assert of_groups(some, "age") == {at: Heat(at, 12.0, "bad")}
    assert of_groups(some, "rate") == {at: Heat(at, 3.0, "accent")}
    assert of_groups(LagSnapshot(groups=[group("a", OK, 0, None)]), "age")[at].value == 0.0, "nothing is unread"
    assert of_groups(LagSnapshot(groups=[group("a", OK, 5, None)]), "age")[at].value is None
    some = LagSnapshot(groups=[group("a", OK, 0, None), group("b", NO_COMMIT, None, None)][::order])
    assert of_groups(some, "lag")[at].value is None, "0 is not known of all"


async def test_partitions_are_shades_and_the_cursor_names_one(dashboard: Open) -> None:
    async with dashboard(size=(120, 32)) as pilot:
        await shows(pilot, "ORPHANED")
        await pilot.press("H")
        text = await shows(pilot, "Heatmap: lag by topic")
        await shows(pilot, "payments")
        await until(pilot, lambda: pilot.app.screen.query_one(Grid).here is not None)
        await pilot.press("right", "right")
        text = await shows(pilot, "orders[2]")
        assert "▆" in text
        await pilot.press("left")
        await shows(pilot, "orders[1]")
        await pilot.press("3")
        await shows(pilot, "bytes of the leader by topic")
        await pilot.press("b")
        await shows(pilot, "broker 1")
        await pilot.press("enter")
        await until(pilot, lambda: type(pilot.app.screen).__name__ == "Topic")
        assert "Topic orders" in seen(pilot)


def test_where_nothing_is_known_no_figure_is_given() -> None:
    grid = Grid(count)
    at = TopicPartition("t", 0)
    cells = {one.id: one for one in grid.columns}
    assert cells["most"].cell(HeatRow("t", (Heat(at, None),))).text == cells["sum"].cell(HeatRow("t", ())).text == DASH
    assert cells["most"].cell(HeatRow("t", (Heat(at, 0.0),))).text == "0"


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_it_is_whole_at_every_size_and_a_recording_has_no_bytes(size: tuple[int, int]) -> None:
    _, text = await pictures.replayed(("H",), "clicks", size)
    assert all(f"  {name} " in text or f"▌ {name} " in text for name in ("orders", "clicks", "payments", "ledger"))
    assert "▆ " in text
    _, text = await pictures.replayed(("H", "3"), "bytes", size)
    assert "A recording does not hold this." in text


async def test_before_lag_is_known_no_row_is_there_for_the_cursor_to_stay_on(dashboard: Open) -> None:
    async with dashboard() as pilot:
        board = pilot.app
        assert isinstance(board, Dashboard)
        board.session.paused = True
        look, board.state.snapshot = board.state.snapshot, None
        page = await visit(pilot, "heatmap")
        assert isinstance(page, Heatmap)
        await until(pilot, lambda: page._now is not None)
        assert not page.query_one(Grid).told
        board.state.snapshot = look
        page.on_state_updated()
        await until(pilot, lambda: page.query_one(Grid).told)
        assert page.query_one(Grid).cursor == 0
