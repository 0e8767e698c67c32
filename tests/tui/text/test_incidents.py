"""What is wrong comes first: how groups are weighed, the cards, small orphans, the details beside a list on a wide
screen; and what no table is sorted by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kcli.admin.groups.rows import Described
from kcli.lag.figures import Lag, Sample, Total
from kcli.lag.history import GroupStanding
from kcli.lag.partition_lag import PartitionFigures
from kcli.lag.status import BEHIND, GROWING, LOSING_DATA, OK, ORPHANED, STUCK
from kcli.lag.watch import LagSnapshot
from kcli.tui.app import Dashboard
from kcli.tui.messages import SnapshotArrived
from kcli.tui.replay import ReplaySession
from kcli.tui.screens.columns import lag_column
from kcli.tui.screens.group import Group
from kcli.tui.screens.page import Page
from kcli.tui.text.incidents import Line, Word, board, details, folded, incidents, loudness, places, places_in
from kcli.tui.trails import Lasting
from kcli.tui.widgets.lines import Lines, wrapped
from kcli.tui.widgets.plot import Plot
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import seen, shows, until
from tests.tui.pictures import recording
from tests.tui.widgets.fifty import GROUPS, fifty

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

NOW = 1_795_265_117.0
DAY = 86_400.0


def standing(name: str, status: str, lag: int, **more: float | None) -> GroupStanding:
    """A group with one partition."""
    sample = Sample(group=name, topic="orders", partition=0, client_id="pod-7" if status != ORPHANED else None)
    part = PartitionFigures(lag=Lag(sample=sample, lag=lag), status=status, still=90.0, uncommitted=90.0)
    total = Total(group=name, lag=lag, status=status, alike=1, partitions=1)
    described = Described(group=name, state="Stable", type="consumer")
    out = GroupStanding(described=described, total=total, partitions=[part], status=status)
    for field, value in more.items():
        setattr(out, field, value)
    return out


def names(groups: list[GroupStanding]) -> list[str]:
    return [one.described.group for one in groups]


def test_small_orphans_come_after_groups_that_lag_and_large_ones_before() -> None:
    groups = [
        standing("well", OK, 3, eta=0.0),
        standing("tiny-orphan", ORPHANED, 147, in_rate=0.0),
        standing("orphan", ORPHANED, 23_000),
        standing("fed-orphan", ORPHANED, 20, in_rate=50.0, growth=50.0),
        standing("late", BEHIND, 400, eta=9.0),
        standing("growing", GROWING, 23_000, in_rate=40.0, growth=9.0),
        standing("stuck", STUCK, 10),
        standing("losing", LOSING_DATA, 1),
    ]
    ordered = sorted(groups, key=loudness)
    assert names(ordered) == ["losing", "fed-orphan", "orphan", "stuck", "growing", "late", "tiny-orphan", "well"]
    assert names(incidents(groups)) == ["losing", "fed-orphan", "orphan", "stuck", "growing"]


def test_only_a_small_orphan_of_long_ago_to_which_nothing_comes_is_folded() -> None:
    assert folded(standing("old", ORPHANED, 5, time_lag=2 * DAY, in_rate=0.0))
    assert not folded(standing("fresh", ORPHANED, 5, time_lag=60.0))
    assert not folded(standing("unknown", ORPHANED, 5, time_lag=None))
    assert not folded(standing("fed", ORPHANED, 5, time_lag=2 * DAY, in_rate=0.5))
    assert not folded(standing("large", ORPHANED, 5000, time_lag=2 * DAY))
    assert not folded(standing("stuck", STUCK, 5, time_lag=2 * DAY))


def test_a_card_says_what_where_and_whose() -> None:
    group = standing("search-indexer", STUCK, 12_300, growth=5.0)
    cards = board([group, standing("fine", OK, 0)], LagSnapshot(time=NOW), 5)
    text = "  ".join(piece.text for piece in cards[0].pieces)
    assert text.startswith("■  search-indexer  STUCK 1m30s  12.3k +5.0/s  → orders[0], reader pod-7, no commit since ")
    assert cards[0].key == "search-indexer"
    orphan = board([standing("gone", ORPHANED, 5000)], LagSnapshot(time=NOW), 5)[0]
    assert orphan.pieces[-1].text.startswith("→ orders[0], no commit since "), "without a reader"
    losing = board([standing("gone", LOSING_DATA, 5000)], LagSnapshot(time=NOW), 5)[0]
    assert "→ orders[0], reader pod-7" in losing.pieces[-1].text
    assert board([standing("fine", OK, 0)], LagSnapshot(time=NOW), 5)[0].pieces[0].text == "● Nothing is wrong."
    orphan = board([standing("few", ORPHANED, 5), standing("fine", OK, 0)], LagSnapshot(time=NOW), 5)[0]
    assert [piece.text for piece in orphan.pieces] == ["● Nothing is urgent.", "1 small orphan of 2 groups"]
    assert board([], LagSnapshot(time=NOW), 5) == []
    many = board([standing(f"g{n}", STUCK, n) for n in range(9)], LagSnapshot(time=NOW), 4)
    assert len(many) == 4
    assert many[-1].pieces[0].text == "and 6 more"


def test_a_group_with_an_unreadable_partition_is_at_least_so_far_behind_and_no_small_orphan() -> None:
    group = standing("g", ORPHANED, 5, time_lag=2 * DAY, in_rate=0.0)
    group.total.unknown = 1
    assert not folded(group)
    assert [piece.text for piece in board([group], LagSnapshot(time=NOW), 5)[0].pieces][3] == "≥ 5"
    lines = ["".join(piece.text for piece in line.pieces) for line in details(group, LagSnapshot(time=NOW), [])]
    assert any("≥ 5   time lag" in line for line in lines)
    assert lag_column().cell(group).text == "≥ 5"


def test_a_card_says_at_least_where_it_was_so_when_the_group_was_seen_first() -> None:
    def card(begun: float, known: float, status: str = GROWING) -> str:
        group = standing("g", status, 5000)
        return board([group], LagSnapshot(time=NOW), 5, lambda _: Lasting(begun, known))[0].pieces[2].text

    assert card(NOW - 300, NOW - 300) == "GROWING >5m00s"
    assert card(NOW - 300, NOW - 900) == "GROWING 5m00s"
    assert card(NOW - 10, NOW - 90, STUCK) == "STUCK >1m30s", "no commit was ever seen"
    assert card(NOW - 10, NOW - 900, STUCK) == "STUCK 1m30s"


def test_a_pane_has_as_many_partitions_as_there_is_room_for() -> None:
    group = standing("g", STUCK, 9)
    group.partitions *= 30
    for height, many in ((40, 8), (60, 12), (90, 30)):
        lines = details(group, LagSnapshot(time=NOW), [], most=places_in(height))
        assert sum("orders[0]" in line.pieces[-2].text for line in lines if len(line.pieces) > 2) == many


def test_groups_are_not_compared_with_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison goes through all partitions: of 1,000 groups they took 400 ms of each refresh."""
    groups = [standing(f"g{n}", STUCK, n) for n in range(30)]

    def compared(*_: object) -> bool:
        raise AssertionError("two groups are compared")

    monkeypatch.setattr(GroupStanding, "__eq__", compared)
    lines = board(groups, LagSnapshot(time=NOW, groups=groups), 5, silences={("g7", STUCK), ("g9", OK)})
    assert [line.pieces[0].text for line in lines[-2:]] == ["and 25 more", "acknowledged or muted: g7"]


def test_partitions_are_ranges_by_topic() -> None:
    parts = [
        PartitionFigures(lag=Lag(sample=Sample(topic=topic, partition=n))) for topic in "ba" for n in (3, 0, 1, 2, 7)
    ]
    assert places(parts) == "a[0-3,7], b[0-3,7]"


def test_details_name_the_reason_the_remedy_and_the_worst_partitions() -> None:
    lines = [
        "".join(piece.text for piece in line.pieces)
        for line in details(standing("g", STUCK, 9), LagSnapshot(time=NOW), [])
    ]
    text = "\n".join(lines)
    assert "orders[0] has a reader that has not moved for 1m30s" in text
    assert "$ kcli groups peek g -t orders:0" in text
    assert "PARTITIONS" in text
    assert "EVENTS" not in text


def test_a_status_is_as_old_as_it_is_not_as_the_one_before_it() -> None:
    """It was STUCK for a quarter of an hour when its member left, ten seconds ago."""
    group = standing("g", ORPHANED, 5000)
    group.partitions[0].still = 900.0
    (line,) = board([group], LagSnapshot(time=NOW), 5, lambda _: Lasting(NOW - 10, NOW - 3600))
    assert line.pieces[2].text == "ORPHANED 10s"
    assert "no commit since" in line.pieces[4].text


async def opened(pilot: Pilot[int]) -> Dashboard:
    app = pilot.app
    assert isinstance(app, Dashboard)
    await until(pilot, lambda: app.state.snapshot is not None and len(app.screen.query_one(Rows).shown) > 1)
    return app


async def test_from_160_columns_on_details_are_beside_the_list(tmp_path: Path) -> None:
    app = Dashboard(ReplaySession(fifty(tmp_path / "fifty.ndjson")))
    async with app.run_test(size=(200, 36)) as pilot:
        await opened(pilot)
        await shows(pilot, "PARTITIONS")
        rows, plot, about = (
            app.screen.query_one(Rows),
            app.screen.query_one(Plot),
            app.screen.query_one("#about", Lines),
        )
        assert plot.region.x >= rows.region.right
        assert about.region.y >= plot.region.bottom
        assert about.region.right <= 200
        first = seen(pilot)
        await pilot.press("down")
        await until(pilot, lambda: seen(pilot) != first and rows.row is not None)
        assert rows.row is not None
        assert plot.title.startswith(rows.row.described.group)
        await pilot.resize_terminal(159, 60)
        await until(pilot, lambda: not about.is_on_screen)
        assert plot.region.y >= rows.region.bottom
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Group))
        await pilot.resize_terminal(200, 38)
        await shows(pilot, "PARTITIONS")
        table = app.screen.query_one("#partitions", Rows)
        assert app.screen.query_one(Plot).region.x >= table.region.right


async def test_a_click_on_a_card_opens_its_group() -> None:
    with recording() as path:
        app = Dashboard(ReplaySession(path))
        async with app.run_test(size=(120, 40)) as pilot:
            await opened(pilot)
            cards = app.screen.query_one("#board", Lines)
            assert [line.key for line in cards.lines] == ["archive", "fraud", "reports", "ledger"]
            await pilot.click(cards, offset=(5, 1))
            await until(pilot, lambda: isinstance(app.screen, Group))
            await shows(pilot, "Group fraud")


async def test_small_orphans_of_long_ago_are_one_word_until_they_are_asked_for(tmp_path: Path) -> None:
    app = Dashboard(ReplaySession(fifty(tmp_path / "fifty.ndjson")))
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        look = app.state.snapshot
        assert look is not None
        for group in look.groups[:3]:
            group.status = group.total.status = ORPHANED
            group.total.lag, group.in_rate, group.time_lag = 7, 0.0, 3 * DAY
        app.post_message(SnapshotArrived(look, app.session.trails))
        text = await shows(pilot, "Groups (50), 3 small orphans of long ago hidden: o")
        rows = app.screen.query_one(Rows)
        assert len(rows.shown) == GROUPS - 3
        await pilot.press("o")
        await shows(pilot, "Groups (50), 3 small orphans of long ago")
        await until(pilot, lambda: len(rows.shown) == GROUPS)
        await pilot.press("o")
        await until(pilot, lambda: len(rows.shown) == GROUPS - 3)
        assert isinstance(app.screen, Page)
        app.screen.only("◌ ORPHANED")
        await until(pilot, lambda: {folded(one) for one in rows.shown} == {True, False})
        assert "hidden: o" in text


async def test_on_a_low_screen_the_reason_is_read_before_what_is_hidden(tmp_path: Path) -> None:
    app = Dashboard(ReplaySession(fifty(tmp_path / "fifty.ndjson")))
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        look = app.state.snapshot
        assert look is not None
        for group in look.groups[:3]:
            group.status = group.total.status = ORPHANED
            group.total.lag, group.in_rate, group.time_lag = 7, 0.0, 3 * DAY
        app.post_message(SnapshotArrived(look, app.session.trails))
        await until(pilot, lambda: len(app.screen.query_one(Rows).shown) == GROUPS - 3)
        text = await shows(pilot, "◌ ORPHANED: no member reads for this group, and ")
        assert text.splitlines()[1].endswith("offsets wait"), "it is whole"


def test_a_text_after_its_label_takes_as_many_lines_as_it_needs() -> None:
    line = Line([Word("why   ", "dim"), Word("it has lost records: what it would read next was deleted")], "g")
    assert [[word.text for word in one.pieces] for one in wrapped(line, 40)] == [
        ["why   ", "it has lost records: what it"],
        ["      ", "would read next was deleted"],
    ]
    assert {one.key for one in wrapped(line, 40)} == {"g"}
    assert wrapped(line, 80) == [line]
    name = Line([Word("G", "bad"), Word("a-name-that-is-long" * 9, "name")])
    assert wrapped(name, 40) == [name], "a name is cut in the middle"


async def test_no_table_is_sorted_by_a_column_that_means_no_order(tmp_path: Path) -> None:
    app = Dashboard(ReplaySession(fifty(tmp_path / "fifty.ndjson")))
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        rows = app.screen.query_one(Rows)
        header = rows.render_line(0).text
        await pilot.click(rows, offset=(header.index("LAST"), 0))
        await pilot.pause()
        assert rows.ordered is None
        await pilot.click(rows, offset=(header.index("LAG"), 0))
        await until(pilot, lambda: rows.ordered is not None)
