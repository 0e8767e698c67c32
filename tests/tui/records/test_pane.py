"""Beside the list of records, on a wide screen: the record under the cursor, which alone is decoded for it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from kcli.tui import routes
from kcli.tui.records import pane
from kcli.tui.records.pane import HEADERS, MOST, is_json, record_lines, value_lines
from kcli.tui.tail import Seen
from kcli.tui.widgets.lines import Lines
from kcli.tui.widgets.pager import Pager
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import seen, shows, until, visit

if TYPE_CHECKING:
    from tests.tui.conftest import Open

WIDE = (200, 50)
FAST = 0.05  # seconds of this process for the pane of any record


def facts(record: Seen, stored: Seen | None = None) -> list[str]:
    lines = record_lines(record, stored or record, "kcli consume …")
    return [" ".join(word.text for word in line.pieces).rstrip() for line in lines]


async def test_beside_the_records_is_the_one_under_the_cursor(dashboard: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bytes | None] = []

    def counted(value: bytes | None) -> list[str]:
        made.append(value)
        return value_lines(value)

    monkeypatch.setattr(pane, "value_lines", counted)
    async with dashboard(size=WIDE) as pilot:
        page = await visit(pilot, routes.Records(("orders",)))
        table, value = page.query_one(Rows), page.query_one(Pager)
        await until(pilot, lambda: len(table.shown) > 10)
        await pilot.press("p", "k")
        row = table.row
        assert row is not None
        await until(pilot, lambda: list(value.lines) == json.dumps(json.loads(row.value), indent=2).split("\n"))
        text = await shows(pilot, f"orders[{row.partition}] at {row.offset}")
        assert f"$ kcli consume orders -p {row.partition} -o {row.offset} -c 1 -J" in text
        assert value.json
        assert value.region.x > table.region.right - 1
        assert pilot.app.focused is table
        before = len(made)
        await pilot.press("k", "k", "j")
        await until(pilot, lambda: made[-1] == (table.row.value if table.row is not None else None))
        assert len(made) <= before + 3


async def test_the_pane_follows_the_filter_and_goes_where_there_is_no_room(dashboard: Open) -> None:
    async with dashboard(size=WIDE) as pilot:
        page = await visit(pilot, routes.Records(("payments",)))
        table, value = page.query_one(Rows), page.query_one(Pager)
        await until(pilot, lambda: len(table.shown) > 10)
        await shows(pilot, "headers   trace = ")
        await pilot.press("slash", *"no such record")
        await until(pilot, lambda: not table.shown and not value.lines)
        assert not page.query_one("#about", Lines).lines
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: not value.is_on_screen)
        await pilot.press("escape")
        await until(pilot, lambda: table.size.width == 120 and len(table.shown) > 10)
        await pilot.resize_terminal(*WIDE)
        await until(pilot, lambda: "payment " in "".join(value.lines) and "headers   trace" in seen(pilot))


def test_facts_of_a_record_are_those_of_the_log_beside_what_is_shown() -> None:
    headers = tuple((f"h{n}", b"\x1b" if n else None) for n in range(HEADERS + 2))
    stored = Seen(1, "orders", 2, 1234, 1_790_000_000_123, b"\0\0\0\0\7x", b"\0\0\0\0\7yy", headers)
    lines = facts(stored._replace(key=b'"x"', value=b'{"y": 1}'), stored)
    assert lines[0] == "orders[2] at 1234"
    assert 'key      "x"' in lines
    assert "size     key 6 bytes   value 7 bytes" in lines
    assert "headers  h0 = null" in lines
    assert "         h1 = \\x1b" in lines
    assert "         … and 2 more" in lines
    nothing = facts(stored._replace(key=None, value=None, headers=()))
    assert {"key      null", "size     key null   value null", "headers  none"} <= set(nothing)


@pytest.mark.parametrize(
    ("value", "first"),
    [
        (json.dumps([{"id": n, "name": "someone"} for n in range(200_000)]).encode(), "["),
        ("漢字 ".encode() * 1_000_000, "漢"),
        (b"\0\1\2\xff" * 2_000_000, "\\x00"),
        (json.dumps([{"id": n, "tags": [None, 1.5]} for n in range(350)]).encode()[: MOST - 1], "["),
    ],
    ids=["json", "letters", "bytes", "most"],
)
def test_a_large_value_costs_no_more_than_its_beginning(value: bytes, first: str) -> None:
    taken = []
    for _ in range(3):
        begun = time.process_time()
        lines = value_lines(value)
        taken.append(time.process_time() - begun)
    assert min(taken) < FAST
    assert lines[0].startswith(first)
    assert is_json(lines) == (first == "[")
    assert (lines[-1] == f"… of {len(value):,} bytes the first {MOST:,}: enter shows more") == (len(value) > MOST)
