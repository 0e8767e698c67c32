"""What keys do beyond the screens: palette, keymap file, themes, windows, plots, snapshots, --debug, members."""

from __future__ import annotations

import asyncio
import os
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual.command import CommandPalette
from textual.events import Paste
from textual.widgets import Input

from kcli.admin.groups.commits import write_commits
from kcli.admin.topics.topics import NewTopic, create_topics
from kcli.asking.coordinators import Coordinators
from kcli.cli.commands.tui import _theme
from kcli.client import Client
from kcli.errors import KcliError, UsageError
from kcli.lag.formats.recording import read
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.settings import GroupSettings
from kcli.tui.actions import keys
from kcli.tui.app import Dashboard
from kcli.tui.beat.leaving import CHANGES
from kcli.tui.messages import ChangeProfile
from kcli.tui.screens.group import Group, Member
from kcli.tui.screens.groups import Groups
from kcli.tui.screens.page import Page
from kcli.tui.session import LiveSession
from kcli.tui.widgets.plot import Plot
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import seen, shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from textual.pilot import Pilot

    from kcli.model import Cluster, Node


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with a_world() as made:
        yield made


@pytest.fixture(scope="module")
def other() -> Iterator[World]:
    with a_world() as made:
        yield made


@pytest.fixture
def half() -> Iterator[World]:
    with a_world(brokers=2) as made:
        yield made


def board(pilot: Pilot[int]) -> Dashboard:
    assert isinstance(pilot.app, Dashboard)
    return pilot.app


# -- palette ---


async def palette(pilot: Pilot[int], words: str) -> None:
    """Open it and paste these words: a driver that types waits up to a second for each key."""
    await pilot.press("ctrl+p")
    await until(pilot, lambda: isinstance(pilot.app.screen, CommandPalette) and isinstance(pilot.app.focused, Input))
    assert pilot.app.focused is not None
    pilot.app.focused.post_message(Paste(words))


@pytest.mark.long
async def test_the_palette_goes_to_places_acts_and_changes_the_theme(world: World) -> None:
    async with world.open() as pilot:
        await palette(pilot, "group billing")
        await shows(pilot, "Go to group billing")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Group))
        await palette(pilot, "Reset")
        await until(pilot, lambda: re.search(r"Reset +r ", seen(pilot)))
        await pilot.press("enter")
        await shows(pilot, "Reset the offsets of group billing")
        await pilot.press("escape")
        await palette(pilot, "kcli-light")
        await shows(pilot, "Theme kcli-light")
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.theme == "kcli-light")


async def test_the_palette_begins_with_what_can_be_done_here_a_line_each(world: World) -> None:
    async with world.open(size=(200, 60)) as pilot:
        await pilot.press("ctrl+p")
        text = await shows(pilot, "Go to topic orders")
        lines = [line[50:150].split() for line in text.splitlines()]
        reset, back, topic = (lines.index(words.split()) for words in ("Reset r", "Filter /", "Go to topic orders"))
        assert reset < back < topic
        assert sum(line[:4] == ["Back", "to", "where", "I"] for line in lines) == 1
        assert [line for line in lines if "groups" in map(str.lower, line)] == ["Go to groups ^g".split()]
        region = pilot.app.screen.query_one(Input).region
        assert 50 <= region.x < region.right <= 150


HOSTILE = "[/red] [link=x]\x1b[31mgroup"


async def test_names_that_look_like_markup_are_names(other: World) -> None:
    async with Client(other.settings()) as client:
        at = {TopicPartition("orders", 0): OffsetAndMetadata(offset=1)}
        await write_commits(Coordinators(client.cluster), HOSTILE, at)
    async with other.open() as pilot:
        await shows(pilot, "[/red]")
        await palette(pilot, "red")
        text = await shows(pilot, "Go to group [/red]")
        assert "\x1b" not in text
        await pilot.press("escape", "escape")
        rows = pilot.app.screen.query_one(Rows)
        await until(pilot, lambda: isinstance(pilot.app.screen, Groups))
        rows.cursor = next(n for n, one in enumerate(rows.shown) if one.described.group == HOSTILE)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Group) and pilot.app.screen.partition is not None)
        await pilot.press("r")
        await shows(pilot, "1 of 1 would change")
        assert "\x1b" not in seen(pilot)


async def test_another_profile_is_another_cluster_and_what_was_shown_is_gone(world: World, other: World) -> None:
    def open_other() -> LiveSession:
        return LiveSession(other.settings(guard="protected", profile="prod"), name="prod", interval=0.2)

    def dashboard(session: LiveSession) -> Dashboard:
        return Dashboard(session, profiles={"prod": open_other})

    async with world.open(app=dashboard) as pilot:
        first = board(pilot).state.cluster_id
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Group))
        board(pilot).post_message(ChangeProfile("prod"))
        await until(pilot, lambda: board(pilot).state.cluster_id not in (None, first), 10.0)
        await until(pilot, lambda: board(pilot).state.snapshot is not None)
        assert isinstance(pilot.app.screen, Groups)
        assert "prod PROTECTED" in seen(pilot)


async def fenced(cluster: Cluster) -> list[Node]:
    """As brokers before 4.0, which do not list dead ones."""
    return []


@pytest.mark.parametrize("lists_dead", [True, False])
async def test_a_broker_that_was_dead_before_the_profile_was_opened_is_counted(
    world: World, half: World, monkeypatch: pytest.MonkeyPatch, lists_dead: bool
) -> None:
    """The brokers that live do not list it in their metadata; those before 4.0 name it in replicas alone."""
    if not lists_dead:
        monkeypatch.setattr("kcli.tui.session.fenced_brokers", fenced)
    async with Client(half.settings()) as client:
        await create_topics(client.cluster, [NewTopic(topic="wide", partitions=2, replication_factor=2)])
    half.sandbox.call(lambda inside: inside.faults.cluster.stop_broker(2))

    def opens() -> LiveSession:
        return LiveSession(half.settings(), name="half", interval=0.2)

    async with world.open(app=lambda session: Dashboard(session, profiles={"half": opens})) as pilot:
        await shows(pilot, "▏1/1 ▏")
        board(pilot).post_message(ChangeProfile("half"))
        await until(pilot, lambda: "half ▏" in seen(pilot) and board(pilot).state.brokers)
        assert not lists_dead or "▏1/2 ▏" in seen(pilot).splitlines()[0]
        await shows(pilot, "▏1/2 ▏")
        await until(pilot, lambda: re.search("broker 2 +DOWN", seen(pilot)))


async def test_another_profile_waits_until_the_change_under_way_has_ended(world: World, other: World) -> None:
    go, done = threading.Event(), []

    def opens(name: str) -> Callable[[], LiveSession]:
        return lambda: LiveSession(other.settings(), name=name, interval=0.2)

    def dashboard(session: LiveSession) -> Dashboard:
        return Dashboard(session, profiles={name: opens(name) for name in ("test", "prod")})

    async def slow(client: Client) -> int:
        await asyncio.to_thread(go.wait, 60)
        return len(await client.cluster.nodes())

    async with world.open(app=dashboard) as pilot:
        first = board(pilot).session

        async def change() -> None:
            done.append(await first.change(slow))

        try:
            board(pilot).run_worker(change(), group=CHANGES)
            for name in ("test", "prod"):  # the second takes the place of the first, and cuts no change
                board(pilot).post_message(ChangeProfile(name))
                await shows(pilot, f"A change is under way: {name} opens when it has ended")
                await pilot.pause()
            assert board(pilot).session is first
            assert done == []
        finally:
            go.set()
        await until(pilot, lambda: board(pilot).session.name == "prod")
        assert done == [1]


@pytest.mark.parametrize("way", ["escape", "again"])
async def test_a_profile_that_waits_for_a_change_can_be_cancelled(world: World, way: str) -> None:
    go, opened = threading.Event(), []

    def dashboard(session: LiveSession) -> Dashboard:
        return Dashboard(session, profiles={"prod": lambda: opened.append(1) or session})  # type: ignore[func-returns-value]

    async with world.open(app=dashboard) as pilot:
        first = board(pilot).session
        try:
            change = board(pilot).run_worker(asyncio.to_thread(go.wait, 60), group=CHANGES)
            await pilot.press("ctrl+t")
            for _ in range(2):
                board(pilot).post_message(ChangeProfile("prod"))
                await until(pilot, lambda: board(pilot).state.waits == "prod")
                if way == "escape":
                    await pilot.press("escape")
                else:
                    board(pilot).post_message(ChangeProfile("prod"))
                await shows(pilot, "prod is not opened.")
                await until(pilot, lambda: not board(pilot).state.waits)
                assert type(pilot.app.screen).__name__ == "Topics", "escape leaves the page the next time"
        finally:
            go.set()
        await change.wait()
        await until(pilot, lambda: not [one for one in board(pilot).workers if one.group == "profile"])
        assert (board(pilot).session is first, opened) == (True, [])
        await pilot.press("escape")
        await until(pilot, lambda: type(pilot.app.screen).__name__ == "Groups")
        assert not pilot.app.screen.check_action("back", ())


async def test_escape_at_the_moment_the_profile_stops_waiting_opens_nothing(world: World) -> None:
    opened = []

    def dashboard(session: LiveSession) -> Dashboard:
        return Dashboard(session, profiles={"prod": lambda: opened.append(1) or session})  # type: ignore[func-returns-value]

    async with world.open(app=dashboard) as pilot:
        page, state = pilot.app.screen, board(pilot).state
        assert isinstance(page, Page)
        state.waits = "prod"
        await page.action_back()
        state.waits = ""  # the change ended before the app heard of the key
        await pilot.pause()
        assert not [one for one in board(pilot).workers if one.group == "profile"]
        assert not opened
        board(pilot).action_up()
        assert pilot.app.screen is page, "the first page is never left"


async def test_a_session_that_is_not_used_after_all_is_closed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = LiveSession(world.settings(), name="prod")
    waits: list[int] = []

    async def cut(workers: object) -> None:
        waits.append(1)
        if len(waits) == 2:
            raise asyncio.CancelledError

    def dashboard(session: LiveSession) -> Dashboard:
        return Dashboard(session, profiles={"prod": lambda: fresh})

    async with world.open(app=dashboard) as pilot:
        monkeypatch.setattr("kcli.tui.app.ended", cut)
        with pytest.raises(asyncio.CancelledError):
            await board(pilot)._change_profile("prod")
        with pytest.raises(KcliError, match="closed"):
            await fresh._thread.run(asyncio.sleep(0))
        assert board(pilot).session is not fresh


async def test_a_profile_that_cannot_be_used_is_said_and_nothing_changes(world: World) -> None:
    def broken() -> LiveSession:
        raise UsageError("profile broken: sasl.password: there is no variable KAFKA_PASSWORD")

    def dashboard(session: LiveSession) -> Dashboard:
        return Dashboard(session, profiles={"broken": broken})

    async with world.open(app=dashboard) as pilot:
        board(pilot).post_message(ChangeProfile("broken"))
        await shows(pilot, "there is no variable")
        look = board(pilot).state.snapshot
        await until(pilot, lambda: board(pilot).state.snapshot is not look)


# -- keys and themes ---


def write_keys(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "keys.toml"
    path.write_text(text)
    monkeypatch.setenv("KCLI_KEYS", str(path))


async def test_a_key_of_the_file_does_it_and_the_old_one_does_not(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_keys(tmp_path, '"app.topics" = "f6"\ngroup.reset = ["R", "ctrl+e"]\n', monkeypatch)

    def dashboard(session: LiveSession) -> Dashboard:
        return Dashboard(session, keymap=keys.load())

    async with world.open(app=dashboard) as pilot:
        await pilot.press("ctrl+t")
        await pilot.pause(0.1)
        assert isinstance(pilot.app.screen, Groups)
        await pilot.press("f6")
        await shows(pilot, "Topics (1)")
        await pilot.press("escape", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Group))
        await pilot.press("question_mark")
        await shows(pilot, "f6")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('"group.rest" = "R"', "unknown action group.rest; did you mean group.reset"),
        ('"group.reset" = "ctlr+x"', r"'ctlr\+x' is not a key; did you mean ctrl\+x"),
        ('"group.reset" = 7', "expected a key"),
        ('"group.reset" = "1"', "are both on 1"),
        ('"app.help" = "ctrl+q"', r"app.help: ctrl\+q always quits"),
        ('"group.reset"', "keys.toml"),
    ],
)
def test_a_keymap_that_cannot_be_is_refused(
    text: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_keys(tmp_path, text, monkeypatch)
    with pytest.raises(UsageError, match=sentence):
        keys.load()


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ('"rows.down" = "down,ctrl+n"\n"group.reset" = "R"\n', []),
        (
            '# mine\n"app.quit" = "j"\n',
            ["2: j is used more than once: rows.down takes precedence over app.quit (stays on ctrl+q)"],
        ),
        (
            "[app]\nhelp = 'k,?'\n",
            ["2: k is used more than once: rows.up takes precedence over app.help (stays on question_mark)"],
        ),
        (
            'rows.down = ["q"]\n',
            ["1: q is used more than once: rows.down takes precedence over app.quit (stays on ctrl+q)"],
        ),
        (
            '"page.filter" = "r"',
            [
                "1: r is used more than once: page.filter takes precedence over group.reset (no key is left), "
                "groups.reset"
            ],
        ),
        (
            '"app.palette" = "j"',
            ["1: j is used more than once: app.palette takes precedence over rows.down (stays on down)"],
        ),
        ('"app.pause" = "P"', []),
    ],
)
def test_a_key_that_is_taken_is_told_with_its_line_and_what_stays(
    text: str, sentences: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_keys(tmp_path, text, monkeypatch)
    told = keys.taken(keys.load())
    assert len(told) == len(sentences), told
    for one, said in zip(told, sentences, strict=True):
        assert one.startswith(f"{tmp_path / 'keys.toml'}:{said}"), one


@pytest.mark.parametrize("text", ['"app.quit" = "j"', '"app.quit" = "ctrl+q,j"'])
async def test_whatever_the_file_says_there_is_a_way_out(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    write_keys(tmp_path, text, monkeypatch)

    def dashboard(session: LiveSession) -> Dashboard:
        return Dashboard(session, keymap=keys.load())

    async with world.open(app=dashboard) as pilot:
        await shows(pilot, "rows.down", 20)  # the sentence, wherever its lines end
        await pilot.press("j")
        await pilot.pause()
        assert pilot.app.is_running, "it moves the cursor"
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not pilot.app.is_running, 20)


def test_without_a_file_there_is_no_keymap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert keys.load() == {}
    monkeypatch.setenv("KCLI_KEYS", str(tmp_path / "none.toml"))
    with pytest.raises(UsageError, match="file not found"):
        keys.load()


def test_every_binding_has_an_id_of_its_own_and_stands_in_the_listing() -> None:
    known = keys.every()
    assert {"app.quit", "rows.enter", "group.reset", "page.save", "produce.send", "faults.clear"} <= set(known)
    assert all(one.what for one in known.values())
    lines = keys.listing({"group.reset": "R"}).splitlines()
    assert len(lines) == len(known)
    assert any(line.split() == ["group.reset", "R", "Reset"] for line in lines)


def test_a_theme_that_is_none_is_refused_with_the_nearest() -> None:
    assert _theme(None) == "kcli-dark"
    assert _theme("nord") == "nord"
    with pytest.raises(UsageError, match="did you mean kcli-light"):
        _theme("kcli-ligth")


# -- windows, plots, snapshots ---


async def test_brackets_change_what_rates_are_taken_over(world: World) -> None:
    async with world.open() as pilot:
        await pilot.press("right_square_bracket")
        await shows(pilot, "rates over 120 s")
        assert board(pilot).session.window == 120
        for _ in range(9):
            await pilot.press("left_square_bracket")
        assert board(pilot).session.window == 15


async def test_t_shows_time_lag_and_lag_again(world: World) -> None:
    async with world.open() as pilot:
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Group))
        plot = pilot.app.screen.query_one(Plot)
        await until(pilot, lambda: plot.title.startswith("lag"))
        await pilot.press("t")
        await until(pilot, lambda: plot.title.startswith("time lag"))
        await until(pilot, lambda: "s┤" in seen(pilot))
        await pilot.press("t")
        await until(pilot, lambda: plot.title.startswith("lag"))


async def test_s_keeps_the_look_and_the_screen_and_says_where(world: World) -> None:
    async with world.open(size=(160, 40)) as pilot:
        await pilot.press("s")
        await shows(pilot, "Saved")
    found = saved()
    assert sorted(path.suffix for path in found) == [".ndjson", ".svg"]
    for path in found:
        text = path.read_text()
        if path.suffix == ".ndjson":
            assert "billing" in [one.described.group for one in read(text)[1].groups]  # and what other tests made
        else:
            assert text.startswith("<svg")
            assert "billing" in text
        path.unlink()


def saved() -> list[Path]:
    return list((Path(os.environ["XDG_STATE_HOME"]) / "kcli" / "snapshots").iterdir())


async def test_a_snapshot_that_cannot_be_written_is_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null/nowhere")
    async with world.open() as pilot:
        await pilot.press("s")
        await shows(pilot, "nothing was saved")


async def test_debug_tells_memory_frames_and_what_is_kept(world: World) -> None:
    def dashboard(session: LiveSession) -> Dashboard:
        return Dashboard(session, debug=True)

    async with world.open(app=dashboard, size=(140, 30)) as pilot:
        text = await shows(pilot, "frame ")
        line = next(line for line in text.splitlines() if "mem " in line)
        assert re.search(r"mem [\d.]+ [MG]iB", line)
        assert "queued" in line
        await pilot.press("colon", *"records orders", "enter")
        await shows(pilot, "records in ring")


# -- members and topics ---


@pytest.mark.long
async def test_enter_on_a_member_shows_its_partitions(world: World) -> None:
    async with Client(world.settings(client_id="worker")) as client:
        group = GroupSettings(group="reading", auto_commit=False)
        async with client.consumer(group=group) as consumer:
            await consumer.subscribe(["orders"])
            await consumer.poll(5.0)
            await consumer.commit()
            async with world.open() as pilot:
                await pilot.press("colon", *"group reading", "enter", "2")
                await shows(pilot, "worker")
                rows = pilot.app.screen.query_one("#members", Rows)
                await until(pilot, lambda: rows.row is not None)
                await pilot.press("enter")
                await until(pilot, lambda: isinstance(pilot.app.screen, Member))
                text = await shows(pilot, "2 partitions")
                assert "kcli groups members reading" in text
                assert [one.lag.sample.partition for one in pilot.app.screen.query_one(Rows).shown] == [0, 1]


async def test_x_leaves_only_topics_that_are_unhealthy(other: World) -> None:
    async with other.open() as pilot:
        await pilot.press("ctrl+t")
        await shows(pilot, "Topics (1)")
        await pilot.press("x")
        text = await shows(pilot, "Every topic is healthy.")
        assert "Topics (0 unhealthy of 1)" in text
        other.sandbox.faults.cluster.no_leader("orders", 1)
        await shows(pilot, "1 without leader", 10.0)
        other.sandbox.faults.cluster.move_leader("orders", 1, 1)
        await shows(pilot, "Topics (0 unhealthy of 1)", 10.0)
        await pilot.press("x")
        await shows(pilot, "Topics (1)")


async def test_a_topic_has_a_plot_of_what_is_written(world: World) -> None:
    async with world.open() as pilot:
        await pilot.press("ctrl+t")
        await shows(pilot, "Topics (1)")
        await pilot.press("enter")
        await shows(pilot, "written per second  now 0", 10.0)
