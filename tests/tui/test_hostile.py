"""The dashboard on a hostile cluster: every string of every answer ends in escapes, bidi controls and markup, and none
of it acts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kcli.cli.output.timestamps import utc
from kcli.settings import ClientSettings
from kcli.tui import routes
from kcli.tui.records.fields import completed
from kcli.tui.routes import find
from kcli.tui.screens.record import times, titled
from kcli.tui.screens.records import Records
from kcli.tui.session import LiveSession
from kcli.tui.state import State
from kcli.tui.tail import Seen
from kcli.tui.text.printable import suggestible
from tests.cli.poison import EVIL, Poison, leaks, poisoned
from tests.tui.conftest import seen, until, visit

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.tui.conftest import Open


def harmless(pilot: Pilot[int]) -> str:
    """What is on the screen; nothing of it is obeyed, is a link or can be clicked."""
    for strip in pilot.app.screen._compositor.render_strips():
        for segment in strip:
            assert not leaks(segment.text), segment
            style = segment.style
            assert style is None or style.link is None, segment
            assert style is None or "quit" not in str(style.meta.get("@click", "")), segment
    return seen(pilot)


def test_no_name_that_acts_completes_a_line() -> None:
    evil = "total\x1b]52;c;aGk=\x1b\\"
    assert suggestible(["orders", evil, f"a{EVIL}"]) == ["orders"]
    value = json.dumps({"total": 1, evil: 2}).encode()
    record = Seen(1, "orders", 0, 0, 0, None, value, ())
    assert completed("value.to", [record]) == "value.total"
    assert completed("value.total", [record]) is None


@pytest.mark.long
@pytest.mark.parametrize(
    "place",
    [
        "groups", "topics", "brokers", "broker 1", "faults", f"group billing{EVIL}", f"topic orders{EVIL}",
        f"records payments{EVIL}", f"group no{EVIL}", f"topic no{EVIL}",
    ],
)  # fmt: skip
async def test_no_screen_obeys_a_cluster(place: str, dashboard: Open) -> None:
    with poisoned(Poison()) as poison:
        async with dashboard(size=(200, 40)) as pilot:
            word, _, name = place.partition(" ")
            await visit(pilot, place if not name else _named(word, name))
            await pilot.pause(0.3)
            harmless(pilot)
            for key in ("2", "3", "enter", "question_mark"):
                await pilot.press(key)
                harmless(pilot)
            assert pilot.app.is_running, "[@click=app.quit] is a text"
    assert poison.fields


def _named(word: str, name: str) -> routes.Route | str:
    match word:
        case "records":
            return routes.Records((name,))
        case "group":
            return routes.Group(name)
        case "topic":
            return routes.Topic(name)
    return f"{word} {name}"


@pytest.mark.parametrize("error", [29, 9999])
async def test_no_error_message_is_obeyed(error: int, dashboard: Open) -> None:
    async with dashboard(size=(200, 40)) as pilot:
        with poisoned(Poison(error=error)):
            for key in ("", "enter", "escape", "colon"):
                if key:
                    await pilot.press(key)
                await pilot.pause(0.3)
                harmless(pilot)
            await until(pilot, lambda: pilot.app.is_running)


@pytest.mark.parametrize("stamp", [1_700_000_000_000_000, 2**63 - 1])
async def test_a_timestamp_that_is_in_no_calendar_is_shown_as_the_number_it_is(stamp: int) -> None:
    """Microseconds where milliseconds are meant: seen in the wild, and it took the dashboard down."""
    one = Seen(1, "orders", 0, 7, stamp, None, b"x", ())
    session = LiveSession(ClientSettings())
    state = State(session)
    records = Records(state, routes.Records(("orders",)))
    assert next(column for column in records._columns() if column.id == "time").cell(one).text == str(stamp)
    assert f"timestamp {stamp}" in titled(one, "null", "value 1 bytes", 80)
    assert utc(stamp) == f"{stamp} ms"
    await session.close()


def test_a_group_with_spaces_in_its_name_can_be_gone_to() -> None:
    assert find("group my  own group ") == routes.Group("my  own group")
    assert find("topic a b") is None
    assert find(" ") is None


def test_a_time_that_is_shortened_keeps_its_zone() -> None:
    *shorter, nothing = times(1_700_000_000_123)
    assert all(when.endswith(" UTC") for when in shorter)
    assert nothing == ""
