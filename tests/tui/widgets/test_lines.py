"""Lines of a pane: a remark that has no room goes on below itself, as long as every line is still seen."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from kcli.tui.text.incidents import Line, Word
from kcli.tui.widgets.lines import Lines

ROWS = [
    Line([Word("◌", "bad"), Word(name, "name"), Word("ORPHANED", "bad"), Word(words, "dim")], name)
    for name, words in (("billing", "no member reads for this group, and 505 offsets wait here"), ("search", "calm"))
]


class Pane(App[None]):
    """Only those lines."""

    def compose(self) -> ComposeResult:
        yield Lines(aligned=True)


@pytest.mark.parametrize(("height", "expected"), [(9, 3), (2, 2)])
async def test_a_remark_without_room_goes_on_below_itself_while_there_are_lines_left(
    height: int, expected: int
) -> None:
    app = Pane()
    async with app.run_test(size=(66, height)) as pilot:
        app.query_one(Lines).put(ROWS)
        await pilot.pause()
        drawn = [strip.text for strip in app.screen._compositor.render_strips()]
        assert drawn[expected - 1].split()[:2] == ["◌", "search"]
        assert not "".join(drawn[expected:]).strip()
        assert ("…" in drawn[0]) == (height == 2)
        if height == 9:
            place = drawn[0].index("no member")
            assert drawn[1].startswith(" " * place)
            assert drawn[1][place:].strip().endswith("wait here")


async def test_what_cannot_be_seen_whole_is_not_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    """To fold a line takes a look at all of them: 2,000 took seconds."""
    folded = []

    def fold(_: Lines, line: Line, width: int) -> list[Line]:
        folded.append(width)
        return [line]

    monkeypatch.setattr(Lines, "_folded", fold)
    app = Pane()
    async with app.run_test(size=(66, 9)) as pilot:
        app.query_one(Lines).put(ROWS * 1000)
        await pilot.pause()
        assert not folded
        app.query_one(Lines).put(ROWS)
        await pilot.pause()
        assert folded


async def test_a_column_that_is_empty_in_all_lines_hides_none_after_it() -> None:
    """Incidents of the cluster have no lag; without a group among them their remarks were not drawn."""
    rows = [Line([Word("✖", "bad"), Word("broker 2", "name"), Word("DOWN", "bad"), Word(""), Word("it left", "dim")])]
    app = Pane()
    async with app.run_test(size=(66, 9)) as pilot:
        app.query_one(Lines).put(rows * 2)
        await pilot.pause()
        drawn = [strip.text for strip in app.screen._compositor.render_strips()]
        assert drawn[0].split() == ["✖", "broker", "2", "DOWN", "it", "left"]
