"""Records of any place of a log: seek by time and offset, read on at both ends, export, edit and send again."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis.strategies import DataObject, data, integers, lists, sampled_from
from textual.widgets import Input, TextArea

from kcli.admin.topics.topics import NewTopic, create_topics
from kcli.client import Client
from kcli.errors import UsageError
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.settings import ProducerSettings
from kcli.tui import tail
from kcli.tui.actions.producing import Draft, draft_of
from kcli.tui.actions.saving import save
from kcli.tui.dialogs.produce import Produce
from kcli.tui.dialogs.records import Export, Seek, place_of
from kcli.tui.screens import records as page
from kcli.tui.screens.records import Records, from_words, option_of
from kcli.tui.tail import Seen
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import seen, shows, until, visit
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
        await pilot.press("pageup", "pageup")
        await until(pilot, lambda: rows.cursor == 0)
        here = rows.row
        await pilot.press("pageup")
        await until(pilot, lambda: len(rows.shown) == 60)
        assert rows.row == here
        assert [(row.timestamp, row.partition, row.offset) for row in rows.shown] == sorted(
            (row.timestamp, row.partition, row.offset) for row in rows.shown
        )
        await pilot.press("home")
        await shows(pilot, "Records of orders from beginning")
        await until(pilot, lambda: min(offsets(pilot), default=-1) == 0)
        assert len(pilot.app.screen.query_one(Rows).shown) == 20
        await pilot.press("pagedown", "home")
        await until(pilot, lambda: pilot.app.screen.query_one(Rows).cursor == 0)


async def test_page_down_reads_on_and_end_follows_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "AROUND", 20)
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "records orders")
        await shows(pilot, "order 199")
        await seek(pilot, "number_sign", "10")
        await shows(pilot, "Records of orders from 10")
        await until(pilot, lambda: len(offsets(pilot)) + len(offsets(pilot, 1)) >= 20)
        most = max(offsets(pilot) + offsets(pilot, 1))
        await pilot.press("pagedown", "pagedown")
        await until(pilot, lambda: max(offsets(pilot) + offsets(pilot, 1)) > most)
        await pilot.press("end")
        await until(pilot, lambda: isinstance(pilot.app.screen, Records) and not pilot.app.screen.fixed)
        await shows(pilot, "order 199")


async def seed_times(world: World, partitions: int, each: int) -> list[tuple[int, int]]:
    """A topic whose records take turns by time and are written a partition at a time; where each is, by time."""
    async with Client(world.settings()) as client:
        await create_topics(client.cluster, [NewTopic(topic="wide", partitions=partitions)])
        async with client.producer(ProducerSettings()) as producer:
            for n in range(partitions):
                rows = [
                    (n, OLD + 1000 * (partitions * i + n), None, b'{"user": {"id": %d}}' % (partitions * i + n), ())
                    for i in range(each)
                ]
                await producer.send_records("wide", rows)
                await producer.flush()
    return [(n, i) for i in range(each) for n in range(partitions)]


def places(pilot: Pilot[int]) -> list[tuple[int, int]]:
    return [(row.partition, row.offset) for row in pilot.app.screen.query_one(Rows).shown]


async def test_a_time_merges_the_records_of_all_partitions(world: World) -> None:
    by_time = await seed_times(world, 12, 200)
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "records wide")
        await shows(pilot, '"id": 2399')
        await seek(pilot, "at", "2023-11-14T22:13:20Z")
        await until(pilot, lambda: len(places(pilot)) == 500)
        assert places(pilot) == by_time[:500]
        await pilot.press(*["pagedown"] * 20)
        await until(pilot, lambda: len(places(pilot)) == 1000)
        assert places(pilot) == by_time[:1000]
        await pilot.press("end")
        await until(pilot, lambda: by_time[-1] in places(pilot))
        await pilot.press("home")
        await until(pilot, lambda: places(pilot) == by_time[:500])


async def test_page_up_reads_all_partitions_back_to_the_same_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_time = await seed_times(world, 3, 200)
    monkeypatch.setattr(page, "AROUND", 30)
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "records wide")
        await until(pilot, lambda: len(places(pilot)) == 60)
        await pilot.press("pageup", "pageup", "pageup", "pageup")
        await until(pilot, lambda: len(places(pilot)) == 90)
        assert places(pilot) == by_time[-90:]


async def test_another_place_keeps_the_filter_and_the_columns(world: World) -> None:
    by_time = await seed_times(world, 12, 200)
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "records wide")
        await shows(pilot, '"id": 2399')
        await pilot.press("c")
        await until(pilot, lambda: getattr(pilot.app.focused, "id", "") == "field")
        await pilot.press(*"user.id", "enter")
        await shows(pilot, "USER.ID")
        await pilot.press("slash", *"user.id > 2000 and user.id < 2004", "enter")
        await seek(pilot, "at", "2023-11-14T22:13:20Z")
        text = await shows(pilot, "searched 2,400 of 2,400, found 3")
        assert "USER.ID" in text
        assert places(pilot) == by_time[2001:2004]
        assert "--where 'value.user.id > 2000 and value.user.id < 2004'" in text


async def test_a_search_tells_how_far_it_is_and_escape_stops_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await seed_times(world, 12, 200)

    async def stalled(self: tail.Tail, client: Client) -> None:
        if self.filters and self._first:
            self.counts.searched, self.counts.total, self._search = 7, 2400, tail._Search({}, {})
            await asyncio.Event().wait()
        await follow(self, client)

    follow = tail.Tail.follow
    monkeypatch.setattr(tail.Tail, "follow", stalled)
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "records wide")
        await shows(pilot, '"id": 2399')
        await pilot.press("slash", *"user.id == 5", "enter", "home")
        await shows(pilot, "searched 7 of 2,400, found")
        await shows(pilot, "esc stops")
        await pilot.press("escape")
        await shows(pilot, "; stopped")
        assert "user.id == 5" in seen(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: "user.id == 5" not in seen(pilot))


async def test_an_export_has_all_that_the_filter_wants_and_a_name(world: World, tmp_path: Path) -> None:
    await seed_times(world, 3, 1000)
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "records wide")
        await shows(pilot, '"id": 2999')
        await pilot.press("slash", *"user.id < 1500", "enter", "w")
        await until(pilot, lambda: isinstance(pilot.app.screen, Export))
        text = await shows(pilot, "from the start to the end now")
        assert "-o beginning --where 'value.user.id < 1500' -e -J" in " ".join(text.split())
        line = pilot.app.screen.query_one(Input)
        assert line.value.startswith(str(tmp_path / "kcli" / "records" / "wide-"))
        line.value = str(tmp_path / "none" / "mine.ndjson")
        await pilot.press("enter")
        await shows(pilot, "there is no folder")
        line.value = str(tmp_path / "mine.ndjson")
        await pilot.press("enter")
        await shows(pilot, "1,500 records, as consume -J writes them")
    lines = [json.loads(line) for line in (tmp_path / "mine.ndjson").read_text().splitlines()]
    assert sorted(json.loads(line["value"])["user"]["id"] for line in lines) == list(range(1500))


async def test_an_export_that_is_cancelled_leaves_no_file(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def endless(self: tail.Tail, client: Client, write: object) -> None:
        self.counts.total = 7
        await asyncio.Event().wait()

    monkeypatch.setattr(tail.Tail, "export", endless)
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "records orders")
        await shows(pilot, "order 199")
        await pilot.press("w")
        await until(pilot, lambda: isinstance(pilot.app.screen, Export))
        await pilot.press("enter")
        await shows(pilot, "searched 0 of 7, found 0")
        await pilot.press("escape")
        await until(pilot, lambda: all(one.is_finished for one in pilot.app.workers if one.group == "export"))
    assert not os.listdir(tmp_path / "kcli" / "records")


@settings(max_examples=200)
@given(data())
def test_a_search_releases_records_in_the_order_of_a_merge(draw: DataObject) -> None:
    logs = draw.draw(lists(lists(integers(0, 50), max_size=12).map(sorted), min_size=1, max_size=4))
    ats = [TopicPartition("t", n) for n in range(len(logs))]
    search = tail._Search(dict.fromkeys(ats, 0), {at: len(log) for at, log in zip(ats, logs, strict=True)})
    got: list[Seen] = search.released(1000)
    places = [0] * len(logs)
    while any(place < len(log) for place, log in zip(places, logs, strict=True)):
        n = draw.draw(sampled_from([n for n, log in enumerate(logs) if places[n] < len(log)]))
        stop = draw.draw(integers(places[n] + 1, len(logs[n])))
        new = [Seen(0, "t", n, i, logs[n][i], None, None, ()) for i in range(places[n], stop)]
        wanted = [record for record in new if record.timestamp % 2]
        search.take(ats[n], wanted, float(new[-1].timestamp), stop)
        places[n] = stop
        got += search.released(1000)
    every = sorted((when, n, i) for n, log in enumerate(logs) for i, when in enumerate(log) if when % 2)
    assert sorted((one.timestamp, one.partition, one.offset) for one in got) == every
    assert [one.timestamp for one in got] == [when for when, _, _ in every]
    for n in range(len(logs)):
        offsets = [one.offset for one in got if one.partition == n]
        assert offsets == sorted(offsets)


def test_a_file_that_cannot_be_written_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(Exception, match="nothing was saved"):
        save("t", None, "")


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
