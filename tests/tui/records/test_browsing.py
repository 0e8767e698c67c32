"""Records of any place of a log: seek by time and offset, read on at both ends, export, edit and send again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Input, TextArea

from kcli.cli.output.records.envelope import read_line
from kcli.client import Client
from kcli.errors import UsageError
from kcli.grammar.bound import Bound
from kcli.settings import ProducerSettings
from kcli.tui.actions.producing import Draft, draft_of
from kcli.tui.actions.saving import json_line, save_records
from kcli.tui.dialogs.produce import Produce
from kcli.tui.dialogs.records import Seek, place_of
from kcli.tui.screens import records as page
from kcli.tui.screens.records import Records, from_words, option_of
from kcli.tui.tail import Seen
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import shows, until, visit
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.pilot import Pilot

OLD = 1_700_000_000_000  # 2023-11-14 22:13:20 UTC


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with a_world() as one:
        yield one


async def seek(pilot: Pilot[int], key: str, words: str) -> None:
    await pilot.press(key)
    await until(pilot, lambda: isinstance(pilot.app.screen, Seek) and isinstance(pilot.app.focused, Input))
    await pilot.press(*words, "enter")


def offsets(pilot: Pilot[int], partition: int = 0) -> list[int]:
    return [row.offset for row in pilot.app.screen.query_one(Rows).shown if row.partition == partition]


async def test_an_offset_is_where_all_partitions_begin(world: World) -> None:
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "records orders")
        await shows(pilot, "order 199")
        await seek(pilot, "number_sign", "97")
        await shows(pilot, "Records of orders from 97")
        await until(pilot, lambda: offsets(pilot) == [97, 98, 99] and offsets(pilot, 1) == [97, 98, 99])
        await shows(pilot, f"$ kcli consume orders -o 97 -b {world.sandbox.bootstrap}")


async def test_a_time_finds_the_first_record_at_or_after_it(world: World) -> None:
    async with Client(world.settings()) as client:
        from kcli.admin.topics.topics import NewTopic, create_topics

        await create_topics(client.cluster, [NewTopic(topic="old", partitions=1)])
        async with client.producer(ProducerSettings()) as producer:
            rows = [(0, OLD + 1000 * n, None, b"at %d" % n, ()) for n in range(20)]
            await producer.send_records("old", rows)
            await producer.flush()
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "records old")
        await shows(pilot, "at 19")
        await seek(pilot, "at", "2023-11-14T22:13:35Z")
        await until(pilot, lambda: isinstance(pilot.app.screen, Records) and offsets(pilot) == [15, 16, 17, 18, 19])


async def test_what_is_no_place_is_said_and_nothing_moves(world: World) -> None:
    async with world.open() as pilot:
        await visit(pilot, "records orders")
        await shows(pilot, "order 199")
        await seek(pilot, "at", "yesterdayish")
        await shows(pilot, "one place, such as 4711")
        assert isinstance(pilot.app.screen, Seek)


async def test_page_up_reads_backwards_from_the_first_row_and_the_cursor_stays(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "AROUND", 20)
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "records orders")
        await shows(pilot, "order 199")
        rows = pilot.app.screen.query_one(Rows)
        first = min(offsets(pilot))
        assert first == 80, "a tail begins with the last twenty"
        await pilot.press("home")
        assert rows.cursor == 0
        here = rows.row
        await pilot.press("pageup")
        await until(pilot, lambda: min(offsets(pilot)) == 70)
        assert rows.row == here
        assert sorted(offsets(pilot)) == list(range(70, 100))
        await pilot.press("home", "home")
        await shows(pilot, "Records of orders from beginning")
        await until(pilot, lambda: min(offsets(pilot), default=-1) == 0)
        assert len(pilot.app.screen.query_one(Rows).shown) <= 60


async def test_page_down_reads_on_and_end_twice_follows_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "AROUND", 20)
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "records orders")
        await shows(pilot, "order 199")
        await seek(pilot, "number_sign", "10")
        await shows(pilot, "Records of orders from 10")
        await until(pilot, lambda: len(offsets(pilot)) + len(offsets(pilot, 1)) >= 20)
        most = max(offsets(pilot) + offsets(pilot, 1))
        await pilot.press("end", "pagedown")
        await until(pilot, lambda: max(offsets(pilot) + offsets(pilot, 1)) > most)
        await pilot.press("end", "end")
        await until(pilot, lambda: isinstance(pilot.app.screen, Records) and not pilot.app.screen.fixed)
        await shows(pilot, "order 199")


async def test_the_shown_records_are_written_as_produce_reads_them(world: World) -> None:
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "records orders")
        await shows(pilot, "order 199")
        await pilot.press("slash", *"order 19[0-9]", "enter")
        await until(pilot, lambda: len(pilot.app.screen.query_one(Rows).shown) == 10)
        await pilot.press("w")
        await shows(pilot, "10 records, as consume -J writes them")
    assert written() == sorted(b"order %d" % n for n in range(190, 200))


def written() -> list[bytes]:
    import os

    (path,) = Path(os.environ["XDG_STATE_HOME"]).glob("kcli/records/orders-*.ndjson")
    return sorted(read_line(line, 1)[3] or b"" for line in path.read_bytes().splitlines())


def test_bytes_that_are_no_text_come_back() -> None:
    record = Seen(1, "t", 3, 9, OLD, b"\xff\x00", None, (("h", b"\xfe"), ("n", None)))
    assert read_line(json_line(record).encode(), 1) == (3, OLD, b"\xff\x00", None, [("h", b"\xfe"), ("n", None)])


def test_a_file_that_cannot_be_written_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(Exception, match="nothing was saved"):
        save_records("t", [])


async def test_a_record_is_edited_and_sent_again(world: World) -> None:
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "records orders")
        await shows(pilot, "order 199")
        await pilot.press("end", "e")
        await until(pilot, lambda: isinstance(pilot.app.screen, Produce))
        await until(pilot, lambda: getattr(pilot.app.focused, "id", "") == "value")
        screen = pilot.app.screen
        assert screen.query_one("#value", TextArea).text.startswith("order 19")
        assert screen.query_one("#partition", Input).value in ("0", "1")
        screen.query_one("#value", TextArea).text += " again"
        await shows(pilot, "again")
        await pilot.press("ctrl+s")
        await shows(pilot, "1 sent")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, Records))
        values = pilot.app.screen.query_one(Rows)
        await until(pilot, lambda: any(row.value.endswith(b" again") for row in values.shown))


def test_a_draft_has_every_byte_of_its_record() -> None:
    record = Seen(1, "t", 3, 9, OLD, b"\xff", b"v\xfe", (("h", b"\xfd"), ("n", None)))
    draft = draft_of(record)
    assert isinstance(draft, Draft)
    assert (draft.value or "").encode("utf-8", "surrogateescape") == b"v\xfe"
    assert (draft.key or "").encode("utf-8", "surrogateescape") == b"\xff"
    assert draft.partition == 3


@pytest.mark.parametrize(
    ("text", "place"),
    [("#12", Bound("offset", 12)), ("12", Bound("offset", 12)), ("#-5", Bound("relative", 5)), ("end", Bound("latest")),
     ("start", Bound("earliest")), ("@-1h", Bound("time", 1_000_000)), ("@1700000000", Bound("time", OLD))],
)  # fmt: skip
def test_places_as_they_are_typed(text: str, place: Bound) -> None:
    assert place_of(text, 4_600_000) == place


@pytest.mark.parametrize("text", ["", "#", "@", "#x", "1-5", "stored"])
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        place_of(text, 0)


def test_places_as_the_command_has_them() -> None:
    places = [Bound("earliest"), Bound("offset", 5), Bound("relative", 9), Bound("time", OLD)]
    assert [option_of(one) for one in places] == ["beginning", "5", "-9", f"@{OLD}"]
    assert from_words(Bound("offset", 5)) == "5"
