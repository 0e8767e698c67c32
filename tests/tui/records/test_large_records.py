"""The page of a record: ten megabytes are read, searched and drawn as fast as one line."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

import pytest

from kcli.tui import routes
from kcli.tui.screens.record import beginning
from kcli.tui.tail import Seen
from kcli.tui.widgets.pager import HexLines, Pager, indented
from tests.tui.conftest import seen, shows, until, visit

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from textual.pilot import Pilot

    from tests.tui.conftest import Open

FAST = 0.2  # seconds of CPU, from the key to the drawn tab: what reads it all takes more than one
ROUNDS = 6  # of which the least counts: a busy machine adds to single ones


def record(value: bytes) -> routes.Record:
    return routes.Record("orders", 0, 1, Seen(1, "orders", 0, 1, 0, None, value, ()))


async def cost(pilot: Pilot[int], begin: Awaitable[object], words: str) -> float:
    """Seconds of CPU until these words are drawn; without those of looking for them, again and again."""
    begun, looking, there = time.process_time(), 0.0, False
    await begin
    async with asyncio.timeout(20.0):
        while not there:
            await pilot.pause(0.02)
            before = time.process_time()
            there = words in seen(pilot)
            looking += time.process_time() - before
    return time.process_time() - begun - looking


@pytest.mark.long
async def test_the_tabs_of_a_record_of_ten_megabytes_are_quick(dashboard: Open) -> None:
    row = {"id": 123_456_789, "name": "somebody", "tags": ["a", "b"], "nested": {"x": 1.5, "y": None}}
    value = json.dumps([row] * 110_000).encode()
    assert len(value) > 10_000_000
    last = f"{(len(value) - 1) // 16 * 16:08x}"
    keys = (("3", "00000000  5b 7b"), ("end", last), ("2", '[{"id": 123456789'), ("1", '    "id": 123456789,'))
    taken: dict[str, list[float]] = {key: [] for key in ("open", *(key for key, _ in keys))}
    async with dashboard(size=(120, 40), interval=3600.0) as pilot:
        for _ in range(ROUNDS):
            taken["open"].append(await cost(pilot, visit(pilot, record(value)), '"name": "somebody",'))
            for key, words in keys:
                taken[key].append(await cost(pilot, pilot.press(key), words))
            await pilot.press("escape")
    assert min(taken.pop("open")) < 2 * FAST  # most of it is what any page takes
    assert max(map(min, taken.values())) < FAST, taken


async def test_long_lines_are_wrapped_whole_and_wide_letters_stay_letters(dashboard: Open) -> None:
    async with dashboard(size=(80, 24)) as pilot:
        text = "x" * 100 + "END\n" + "漢" * 50 + "尾\n\nlast"
        await visit(pilot, record(text.encode()))
        await pilot.press("2")
        lines = [line.rstrip() for line in (await shows(pilot, "last")).splitlines()]
        assert any(line.strip() == "x" * 21 + "END" or line.endswith("xEND") for line in lines)
        assert sum(line.count("漢") for line in lines) == 50
        pager = pilot.app.screen.query_one("#text-text", Pager)
        assert pager.virtual_size.height == 2 + 2 + 1 + 1


@pytest.mark.parametrize("topic", ["orders", "a-topic-with-a-name-of-forty-four-characters"])
@pytest.mark.parametrize("width", [80, 120])
async def test_the_heading_cuts_a_long_key_and_keeps_the_size(dashboard: Open, topic: str, width: int) -> None:
    one = Seen(1, topic, 0, 1234567, 1_790_000_000_123, b"begin" + b"k" * 200 + b"end", b"v" * 1234, ())
    async with dashboard(size=(width, 24)) as pilot:
        page = await visit(pilot, routes.Record(topic, 0, 1234567, one))
        heading = (await shows(pilot, "[0] at 1234567  ")).splitlines()[1]
        assert heading.rstrip().endswith("end  value 1,234 bytes")
        assert "key begin" in heading
        assert len(heading.rstrip()) == width - 1
        assert ("2026-09-21 14:13:20.123" in heading) == (width == 120)
        assert heading.strip().startswith("orders[" if topic == "orders" else "a-topic-with")
        assert page.heading == heading.strip()


async def test_a_heading_without_room_ends_with_a_mark(dashboard: Open) -> None:
    async with dashboard(size=(80, 24)) as pilot:
        await visit(pilot, routes.Records(("orders",), why="word " * 30))
        assert (await shows(pilot, "Records of orders")).splitlines()[1].endswith("…")


@pytest.mark.long
async def test_a_filter_finds_lines_of_a_large_value(dashboard: Open) -> None:
    value = json.dumps([{"id": n} for n in range(40_000)]).encode()
    async with dashboard(size=(80, 24)) as pilot:
        await visit(pilot, record(value))
        await shows(pilot, '"id": 3')
        await pilot.press("slash", *'"id": 77', "enter")
        await until(pilot, lambda: '"id": 770' in seen(pilot) and '"id": 3\n' not in seen(pilot))


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"a": []},
        {"a": {}, "b": [1, 2, {"c": None}]},
        [[[]]],
        "x",
        {"q": 'a "b" {c} [d], e: f'},
        [1.5e3, -2, True],
    ],
)
def test_whole_json_is_indented_as_json_does_it(value: object) -> None:
    expected = json.dumps(value, indent=2).split("\n")
    assert indented(json.dumps(value)) == expected
    assert indented(json.dumps(value, separators=(",", ":"))) == expected


def test_json_that_ends_anywhere_is_indented_as_far_as_it_goes() -> None:
    text = json.dumps({"a": [1, {"b": 'some "quoted" text'}], "c": {}})
    for end in range(len(text)):
        assert "".join("".join(indented(text[:end])).split()) == "".join(text[:end].split())


def test_hex_lines_are_those_of_the_bytes() -> None:
    lines = HexLines(bytes(range(40)))
    assert len(lines) == 3
    assert lines[0].startswith("00000000  00 01 02")
    assert lines[2].endswith("  !\"#$%&'")
    assert max(map(len, lines)) <= HexLines.widest
    assert len(HexLines(b"")) == 0


def test_the_beginning_of_a_large_value_says_how_much_is_left() -> None:
    assert beginning(b"[" + b"1," * 200_000).endswith("bytes more: the tab Hex has all of them")
    assert beginning(b"\x1b[31m" * 100_000).startswith("\\x1b[31m") or "\x1b" not in beginning(b"\x1b" * 300_000)
