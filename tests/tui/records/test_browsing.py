"""Records of any place of a log: seek by time and offset, read on at both ends, export, edit and send again."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis.strategies import DataObject, booleans, data, integers, lists, sampled_from
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
from kcli.tui.screens.records import Records, from_time, from_words, option_of
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
        await shows(pilot, "expected a single position")
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


async def test_escape_takes_back_one_thing_at_a_time(world: World) -> None:
    """The filter, then the place, then the page."""
    await seed_times(world, 3, 200)
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "topics")
        await visit(pilot, "records wide")
        await shows(pilot, '"id": 599')
        await seek(pilot, "at", "2023-11-14T22:13:30Z")
        await shows(pilot, "Records of wide from 2023-11-14")
        await pilot.press("slash", *"user.id < 20", "enter")
        await until(pilot, lambda: len(places(pilot)) == 10)
        await pilot.press("escape")
        await until(pilot, lambda: len(places(pilot)) > 20)
        assert "user.id < 20" not in seen(pilot)
        assert "Records of wide from 2023-11-14" in seen(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: "from 2023-11-14" not in seen(pilot) and places(pilot)[-1:] == [(2, 199)])
        assert isinstance(pilot.app.screen, Records)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, Records))


async def test_the_words_of_a_search_stand_still_while_it_is_held(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await seed_times(world, 3, 200)
    go_on = threading.Event()

    async def slow(self: tail.Tail, client: Client) -> None:
        if not (self.filters and self._first):
            await follow(self, client)
        self.counts.searched, self.counts.total, self._search = 7, 600, tail._Search({}, {})
        await asyncio.to_thread(go_on.wait, 60)
        self.counts.searched = 600

    follow = tail.Tail.follow
    monkeypatch.setattr(tail.Tail, "follow", slow)
    async with world.open(size=(140, 40), interval=0.2) as pilot:
        await visit(pilot, "records wide")
        await shows(pilot, '"id": 599')
        await pilot.press("slash", *"user.id == 5", "enter", "home")
        await shows(pilot, "searched 7 of 600, found")
        await pilot.press("p")
        await shows(pilot, "HELD")
        go_on.set()
        await until(pilot, lambda: pilot.app.screen._tail.counts.searched == 600)  # type: ignore[attr-defined]
        pilot.app.screen.retitle()  # type: ignore[attr-defined]
        await shows(pilot, "searched 7 of 600, found")
        await pilot.press("p")
        await shows(pilot, "searched 600 of 600")


async def seed_late(world: World) -> None:
    """Two partitions by time; after each tenth record comes one whose timestamp is of a month before."""
    async with Client(world.settings()) as client:
        await create_topics(client.cluster, [NewTopic(topic="late", partitions=2)])
        async with client.producer(ProducerSettings()) as producer:
            for n in range(2):
                rows = [
                    (n, OLD + 1000 * i - (2_600_000_000 if i % 10 == 9 else 0), None, b"%d-%d" % (n, i), ())
                    for i in range(200)
                ]
                await producer.send_records("late", rows)
                await producer.flush()


async def test_records_of_old_timestamps_do_not_come_before_the_place_that_was_asked_for(world: World) -> None:
    await seed_late(world)
    by_time = [(n, i) for i in range(200) for n in range(2)]
    asked = [place for place in by_time if place[1] >= 50]
    asked.sort(key=lambda at: (at[1] - (at[1] % 10 == 9), at[0], at[1]))  # a late one follows the one before it
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "records late")
        await shows(pilot, "1-199")
        await seek(pilot, "at", "2023-11-14T22:14:10Z")
        await until(pilot, lambda: len(places(pilot)) == 300)
        assert places(pilot) == asked
        rows = pilot.app.screen.query_one(Rows)
        assert rows.row is not None
        assert rows.row.timestamp == OLD + 50_000
        await pilot.press("pageup")
        await until(pilot, lambda: len(places(pilot)) == 400)
        for n in range(2):
            assert offsets(pilot, n) == list(range(200))
        assert rows.row is not None
        assert rows.row.timestamp == OLD + 50_000


async def test_from_an_offset_on_all_partitions_are_in_the_order_of_offsets(world: World) -> None:
    """Although the records of one partition are all older than those of the other."""
    async with Client(world.settings()) as client:
        await create_topics(client.cluster, [NewTopic(topic="apart", partitions=2)])
        async with client.producer(ProducerSettings()) as producer:
            for n in range(2):
                rows = [(n, OLD + 10_000_000 * n - i, None, b"%d-%d" % (n, i), ()) for i in range(1500)]
                await producer.send_records("apart", rows)
                await producer.flush()
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "records apart")
        await shows(pilot, "1-1499")
        await seek(pilot, "number_sign", "1200")
        await until(pilot, lambda: len(places(pilot)) == 500)
        assert places(pilot) == [(n, i) for i in range(1200, 1450) for n in range(2)]
        assert pilot.app.screen.query_one(Rows).cursor == 0
        await pilot.press("pageup")
        await until(pilot, lambda: len(places(pilot)) == 1000)
        assert places(pilot) == [(n, i) for i in range(950, 1450) for n in range(2)]


async def test_topics_that_are_followed_together_are_in_the_order_of_time(world: World) -> None:
    async with Client(world.settings()) as client:
        names = ["first", "second", "third"]
        await create_topics(client.cluster, [NewTopic(topic=name, partitions=1) for name in names])
        async with client.producer(ProducerSettings()) as producer:
            for n, name in enumerate(names):
                rows = [(0, OLD + 3000 * i + 1000 * n, None, b"%d" % i, ()) for i in range(10)]
                await producer.send_records(name, rows)
                await producer.flush()
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "records first second third")
        await until(pilot, lambda: len(places(pilot)) == 30)
        times = [row.timestamp for row in pilot.app.screen.query_one(Rows).shown]
        assert times == sorted(times)


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
    """By the latest time so far of each partition: timestamps need not be in order."""
    logs = draw.draw(lists(lists(integers(0, 50), max_size=12), min_size=1, max_size=4))
    by_offset = draw.draw(booleans())
    ats = [TopicPartition("t", n) for n in range(len(logs))]
    ends = {at: len(log) for at, log in zip(ats, logs, strict=True)}
    search = tail._Search(dict.fromkeys(ats, 0), ends, by_offset=by_offset)
    got: list[Seen] = search.released(1000)
    places = [0] * len(logs)
    while any(place < len(log) for place, log in zip(places, logs, strict=True)):
        n = draw.draw(sampled_from([n for n, log in enumerate(logs) if places[n] < len(log)]))
        stop = draw.draw(integers(places[n] + 1, len(logs[n])))
        new = [Seen(0, "t", n, i, logs[n][i], None, None, ()) for i in range(places[n], stop)]
        search.take(ats[n], new, float(max(one.timestamp for one in new)), stop)
        places[n] = stop
        got += search.released(draw.draw(integers(0, 6)))
        assert search.searched == (len(got), sum(map(len, logs))), "what is held back is not behind it"
    got += search.released(1000)
    keys = {(n, i): i if by_offset else max(log[: i + 1]) for n, log in enumerate(logs) for i in range(len(log))}
    assert len(got) == len(keys)
    order = [keys[one.partition, one.offset] for one in got]
    assert order == sorted(order)
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


def test_a_record_without_a_timestamp_is_no_place_at_the_end() -> None:
    """In ListOffsets -1 is the end of a partition, and -2 its start."""
    assert [from_time(time) for time in (OLD, 0, -1)] == [Bound("time", OLD), Bound("time", 0), Bound("earliest")]
