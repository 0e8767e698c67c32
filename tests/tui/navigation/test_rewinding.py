"""Back from now to what the screens showed before, and on to now again; what is kept for it is bounded."""

from __future__ import annotations

import asyncio
import threading
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from kcli.admin.groups.commits import write_commits
from kcli.admin.groups.rows import Described
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.errors import ConnectError
from kcli.lag.figures import Sample
from kcli.lag.formats.recording import read
from kcli.lag.snapshot import GroupSnapshot, Snapshot
from kcli.lag.watch import LagSnapshot, Watch
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.tui.app import Dashboard
from kcli.tui.beat import kept as module
from kcli.tui.beat.kept import Kept
from kcli.tui.dialogs.help import Help
from kcli.tui.messages import ChangeProfile, Connected, Noted, SnapshotArrived, SnapshotFailed, Unseen, posting
from kcli.tui.navigation.rewinding import Recent, Rewound
from kcli.tui.routes import Records, Topic
from kcli.tui.screens.group import Group
from kcli.tui.session import LiveSession, Muted
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import seen, shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textual.message import Message
    from textual.pilot import Pilot

    from kcli.tui.routes import Route
    from kcli.tui.session import Post

LAG = 120
"""What the group has not read at the beginning."""


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as one:
        yield one


def board(pilot: Pilot[int]) -> Dashboard:
    assert isinstance(pilot.app, Dashboard)
    return pilot.app


def lag(pilot: Pilot[int]) -> int | None:
    """The lag of the group in the newest snapshot that is shown."""
    look = board(pilot).state.snapshot
    return None if look is None or not look.groups else look.groups[0].total.lag


async def read_all(world: World, pilot: Pilot[int]) -> LiveSession:
    """Let the group commit all records once its lag was seen twice; the session."""
    session = board(pilot).session
    assert isinstance(session, LiveSession)
    await until(pilot, lambda: lag(pilot) == LAG and len(session.kept) >= 2)
    async with Client(world.settings()) as client:
        at = {TopicPartition(world.topic, n): OffsetAndMetadata(offset=100) for n in range(2)}
        await write_commits(Coordinators(client.cluster), world.group, at)
    await until(pilot, lambda: lag(pilot) == 0 and session.kept.lines()[-1][0] >= look_time(pilot))
    return session


def look_time(pilot: Pilot[int]) -> float:
    look = board(pilot).state.snapshot
    assert look is not None
    return look.time


async def test_the_live_screen_goes_back_and_on_to_now_again(world: World) -> None:
    async with world.open(interval=0.2) as pilot:
        live = await read_all(world, pilot)
        await pilot.press("less_than_sign")
        await until(pilot, lambda: isinstance(board(pilot).session, Rewound) and lag(pilot) is not None)
        for _ in range(100):
            if lag(pilot) == LAG:
                break
            await pilot.press("less_than_sign")
            await pilot.pause(0.02)
        text = await shows(pilot, "REWOUND")
        assert lag(pilot) == LAG
        assert "‖" in text, "the line of a replay is there"
        assert "ctrl+r: now" in text, "the key that leaves the past"
        assert f"$ kcli lag --watch -b {live.bootstrap}" in text
        many = len(live.kept)
        await until(pilot, lambda: len(live.kept) > many)
        assert lag(pilot) == LAG, "the cluster is watched, the screen stays"
        for _ in range(1000):
            if board(pilot).session is live:
                break
            await pilot.press("greater_than_sign")
            await pilot.pause(0.02)
        await until(pilot, lambda: board(pilot).session is live and lag(pilot) == 0)
        assert "REWOUND" not in seen(pilot)
        before = look_time(pilot)
        await until(pilot, lambda: look_time(pilot) > before)


@pytest.mark.long
async def test_the_page_its_tab_and_its_cursor_are_the_same_in_the_past(world: World) -> None:
    async with world.open(interval=0.2) as pilot:
        live = await read_all(world, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Group))
        await until(pilot, lambda: len(pilot.app.screen.query_one("#partitions", Rows).shown) == 2)
        await pilot.press("down", "slash", *"orders", "enter")
        at = pilot.app.screen.query_one("#partitions", Rows).at
        await pilot.press("comma")
        await until(pilot, lambda: isinstance(board(pilot).session, Rewound) and lag(pilot) is not None)
        page = pilot.app.screen
        assert isinstance(page, Group)
        await until(pilot, lambda: page.query_one("#partitions", Rows).row is not None)
        rows = page.query_one("#partitions", Rows)
        assert (rows.at, rows.wanted, rows.cursor) == (at, "orders", 1)
        await pilot.press("r")
        await shows(pilot, "The screen shows the past")
        assert pilot.app.screen is page, "no reset of the past"
        await pilot.press("ctrl+r")
        await until(pilot, lambda: board(pilot).session is live and isinstance(pilot.app.screen, Group))


async def test_a_page_that_is_not_of_the_past_says_so_once_the_past_is_there(world: World) -> None:
    async with world.open(interval=0.2) as pilot:
        await read_all(world, pilot)
        await pilot.press("ctrl+t", "comma")
        await until(pilot, lambda: isinstance(board(pilot).session, Rewound) and lag(pilot) is not None)
        await shows(pilot, "Not of the past")


async def test_keys_are_acted_upon_while_the_past_is_worked_out(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    gate, lines = threading.Event(), []

    def held(text: str) -> tuple[float, Snapshot]:
        lines.append(text)
        assert gate.wait(20.0)
        return read(text)

    monkeypatch.setattr("kcli.tui.replay.read", held)
    async with world.open(interval=0.2) as pilot:
        live = await read_all(world, pilot)
        await until(pilot, lambda: len(live.kept) > 3)
        await pilot.press("comma")
        await until(pilot, lambda: isinstance(board(pilot).session, Rewound) and lines)
        session = board(pilot).session
        assert isinstance(session, Rewound)
        await shows(pilot, "going back …")
        assert "Going back …" in await shows(pilot, "GROUP"), "the cluster is not said to have no groups"
        assert "No groups yet" not in seen(pilot)
        await pilot.press("comma", "comma")
        aim = len(session.times) - 4
        await shows(pilot, f"→ {datetime.fromtimestamp(session.times[aim]):%H:%M:%S} …")
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, Help))
        await pilot.press("escape")
        assert (session.to, len(lines)) == (aim, 1), "the first of them is still waited for"
        gate.set()
        await until(pilot, lambda: session.at == aim and lag(pilot) is not None)
        assert len(lines) == 1 + aim + 1, "what is no longer wanted is left after its first group"
        assert "→" not in seen(pilot).split("‖")[1].splitlines()[0]


@pytest.mark.long
@pytest.mark.parametrize("steps", ["<!<", "<!<!", "<<!", "!<<"])
async def test_keys_in_one_go_keep_the_pages_that_are_open(steps: str, world: World) -> None:
    async with world.open(interval=0.2) as pilot:
        live = await read_all(world, pilot)
        await until(pilot, lambda: len(live.kept) > 4)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Group))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: len(board(pilot).pages) == 2)
        board(pilot).go(Topic(world.topic))
        board(pilot).go(Records((world.topic,)))
        await until(pilot, lambda: len(board(pilot).pages) == 4 and pilot.app.screen.is_mounted)
        routes = [page.route for page in board(pilot).pages]
        for step in steps:
            before = [id(page) for page in board(pilot).pages]
            board(pilot).action_step(-1) if step == "<" else board(pilot).action_now()
            for _ in range(50):  # in the middle of opening them again, where there is such a middle
                if [id(page) for page in board(pilot).pages] != before:
                    break
                await asyncio.sleep(0)
        past = steps.endswith("<")
        await until(pilot, lambda: board(pilot)._rewinding._wanted is None)
        await until(pilot, lambda: isinstance(board(pilot).session, Rewound) is past and lag(pilot) is not None)
        assert [page.route for page in board(pilot).pages] == routes
        session = board(pilot).session
        if isinstance(session, Rewound):
            assert session.to == len(session.times) - 1 - steps.rpartition("!")[2].count("<")
        await until(pilot, lambda: pilot.app.screen.is_mounted)


async def test_in_the_past_a_lost_connection_is_told_once_and_once_that_it_is_back(
    monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    def told(words: str) -> int:
        return sum(words in sentence for sentence in sentences)

    def note(words: str, **_: object) -> None:
        sentences.append(words)

    sentences: list[str] = []

    async def fail(self: Watch) -> LagSnapshot:
        failed.append(1)
        raise ConnectError("no broker answers")

    failed: list[int] = []
    async with world.open(interval=0.2) as pilot:
        live = await read_all(world, pilot)
        monkeypatch.setattr(board(pilot), "notify", note)
        await pilot.press("comma")
        await until(pilot, lambda: isinstance(board(pilot).session, Rewound) and lag(pilot) is not None)
        with monkeypatch.context() as lost:
            lost.setattr(Watch, "refresh", fail)
            await until(pilot, lambda: len(failed) > 2)
            await until(pilot, lambda: told("The live cluster cannot be refreshed: no broker answers"))
            await pilot.press("ctrl+r")
            await until(pilot, lambda: board(pilot).session is live and board(pilot).state.trouble is not None)
            await pilot.press("comma")
            await until(pilot, lambda: isinstance(board(pilot).session, Rewound) and lag(pilot) is not None)
            many = len(failed)
            await until(pilot, lambda: len(failed) > many + 2)
            assert told("cannot be refreshed") == 1, "it was known already"
        await until(pilot, lambda: told("The live cluster is refreshed again."))
        many = len(live.kept)
        await until(pilot, lambda: len(live.kept) > many + 2)
        assert told("refreshed again") == 1


async def test_what_another_time_had_still_to_tell_is_left(world: World) -> None:
    async with world.open(interval=0.2) as pilot:
        live = await read_all(world, pilot)
        from_now, newest = live._post, board(pilot).state.snapshot
        assert newest is not None
        await pilot.press("comma")
        await until(pilot, lambda: isinstance(board(pilot).session, Rewound) and lag(pilot) is not None)
        past, rewound = board(pilot).state.snapshot, board(pilot).session
        assert past is not None
        from_now(SnapshotArrived(newest, live.trails))  # as one that was queued when the key was pressed
        await pilot.pause()
        assert board(pilot).state.snapshot is past
        await pilot.press("ctrl+r")
        await until(pilot, lambda: board(pilot).session is live and lag(pilot) == 0)
        for message in (
            SnapshotArrived(past, rewound.trails),
            SnapshotFailed(ConnectError("long ago")),
            Connected("c", 9, 9),
        ):
            rewound._post(message)
        await pilot.pause()
        state = board(pilot).state
        assert state.snapshot is not past
        assert (state.trouble, state.brokers, state.down) == (None, 1, 0)


async def test_snapshots_of_another_cluster_alert_no_longer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world.open(interval=3600.0) as pilot:
        live, other = board(pilot).session, LiveSession(world.settings())
        heard: list[LagSnapshot] = []
        monkeypatch.setattr(board(pilot)._alerting, "see", heard.append)
        for source, many in ((live, 1), (other, 1), (live, 2)):
            posting(source, pilot.app.post_message)(Unseen(LagSnapshot()))
            await pilot.pause()
            assert len(heard) == many
        await other.close()


def test_in_the_past_brokers_that_stop_and_answer_again_are_told() -> None:
    heard: list[Message] = []
    muted = Muted(heard.append, lost=False, down=0)
    for down in (0, 1, 1, 0, 0):
        muted(Connected("c", 3, down))
    words = [message.words for message in heard if isinstance(message, Noted)]
    assert words == [f"Of the live cluster {up} of 3 brokers answer." for up in (2, 3)]


async def test_it_ends_from_the_past_too(world: World) -> None:
    async with world.open(interval=0.2) as pilot:
        live = await read_all(world, pilot)
        await pilot.press("comma")
        await until(pilot, lambda: isinstance(board(pilot).session, Rewound))
    with pytest.raises(Exception, match="closed"):
        await asyncio.wait_for(live.ask(lambda client: client.cluster.topics()), 10.0)


async def test_without_anything_older_a_sentence_says_so(world: World) -> None:
    async with world.open(interval=3600.0) as pilot:
        await until(pilot, lambda: lag(pilot) == LAG)
        live = board(pilot).session
        await pilot.press("comma")
        await shows(pilot, "Nothing older was seen yet.")
        assert board(pilot).session is live


async def test_another_profile_ends_a_way_back_that_is_under_way(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    def dashboard(session: LiveSession) -> Dashboard:
        return Dashboard(session, profiles={"prod": lambda: LiveSession(world.settings(), name="prod", interval=0.2)})

    begun = asyncio.Event()

    async def hang(routes: Sequence[Route]) -> None:
        begun.set()
        await asyncio.sleep(600)

    async with world.open(interval=0.2, app=dashboard) as pilot:
        await read_all(world, pilot)
        monkeypatch.setattr(board(pilot)._rewinding, "_reopen", hang)
        await pilot.press("comma")
        await until(pilot, begun.is_set)
        (way,) = [worker for worker in board(pilot).workers if worker.group == "rewind"]
        board(pilot).post_message(ChangeProfile("prod"))
        await until(pilot, lambda: board(pilot).session.name == "prod" and lag(pilot) == 0)
        assert way.is_cancelled


async def test_a_way_back_ends_where_another_session_came_meanwhile(
    monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    opened: list[str] = []

    async def note(self: Rewound, post: Post) -> None:
        opened.append("rewound")

    monkeypatch.setattr(Rewound, "open", note)
    async with world.open(interval=0.2) as pilot:
        live = await read_all(world, pilot)
        rewinding = board(pilot)._rewinding

        async def turn(routes: Sequence[Route]) -> None:
            opened.append("pages")
            board(pilot).state.turn(live)

        monkeypatch.setattr(rewinding, "_reopen", turn)
        await rewinding._show(Rewound(live, 1))
        assert opened == ["pages"]

        async def stop(self: Rewound) -> None:
            board(pilot).state.turn(live)

        monkeypatch.setattr(Rewound, "stop", stop)
        board(pilot).state.turn(Rewound(live, 1))
        await rewinding._show(Rewound(live, 1))
        assert board(pilot).session is live
        assert opened == ["pages"], "once, above"


async def test_commands_of_the_past_name_the_same_registry(world: World) -> None:
    live = LiveSession(world.settings(), registry_option="--schema-registry http://registry:8081")
    assert Rewound(live, 1).registry_option == live.registry_option
    await live.close()


def shot(end: int) -> Snapshot:
    samples = [Sample(group="g", topic="t", partition=n, committed=1, end=end, start=0) for n in range(20)]
    return Snapshot(groups=[GroupSnapshot(described=Described(group="g"), samples=samples)])


def test_what_is_kept_comes_back_and_is_half_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHARE", 1e9)
    kept = Kept()
    for n in range(1000):
        kept.add(10.0 * n, shot(n))
    recent = Recent(kept)
    assert (recent.times[0], recent.times[-1]) == (9990.0 - module.REACH, 9990.0)
    time, snapshot = read(recent.line(0))
    assert (time, snapshot.groups[0].samples[0].end) == (recent.times[0], recent.times[0] / 10)


def test_what_is_kept_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHARE", 1e9)
    monkeypatch.setattr(module, "MOST", 2000)
    kept = Kept()
    for n in range(100):
        kept.add(1.0 * n, shot(n))
    assert 0 < sum(len(data) for _, data in kept.lines()) <= 2000
    assert kept.lines()[-1][0] == 99.0


def test_a_snapshot_larger_than_all_that_may_be_kept_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 10)
    kept = Kept()
    kept.add(1.0, shot(1))
    assert kept.lines() == []


def test_a_clock_that_is_set_back_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHARE", 1e-9)
    kept = Kept()
    kept.add(1000.0, shot(1))
    kept.add(1001.0, shot(2))
    kept.add(400.0, shot(3))
    assert [time for time, _ in kept.lines()] == [400.0]
    assert kept._size == len(kept.lines()[0][1])


async def test_what_cannot_be_kept_is_shown_all_the_same(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    def fail(self: Kept, moment: float, snapshot: Snapshot) -> None:
        raise ValueError("nothing can be kept")

    monkeypatch.setattr(Kept, "add", fail)
    async with world.open(interval=0.2) as pilot:
        await until(pilot, lambda: lag(pilot) == LAG)
        before = look_time(pilot)
        await until(pilot, lambda: look_time(pilot) > before)


def test_large_snapshots_are_kept_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHARE", 1 / 256)
    ticks = iter(range(1000))
    monkeypatch.setattr("time.thread_time", lambda: next(ticks) / 8)  # each costs an eighth of a second
    kept = Kept()
    for n in range(20):
        kept.add(8.0 * n, shot(n))
    assert [time for time, _ in kept.lines()] == [0.0, 32.0, 64.0, 96.0, 128.0]
