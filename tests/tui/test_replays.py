"""A recording on the screens: the same commands with --replay, and a sentence for what it does not hold."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kcli.admin.groups.rows import Described
from kcli.errors import UsageError
from kcli.lag.figures import Sample
from kcli.lag.formats.recording import line, read
from kcli.lag.snapshot import GroupSnapshot, Snapshot
from kcli.model import TopicPartition
from kcli.tui.app import Dashboard
from kcli.tui.messages import SnapshotArrived
from kcli.tui.replay import Recording, ReplaySession
from kcli.tui.screens.group import Group
from kcli.tui.screens.groups import Groups
from tests.tui.conftest import seen, shows, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from textual.message import Message
    from textual.pilot import Pilot

pytestmark = pytest.mark.long


def shot(n: int) -> Snapshot:
    sample = Sample(group="billing", topic="orders", partition=0, committed=10 * n, end=20 * n + 5, start=0)
    return Snapshot(groups=[GroupSnapshot(described=Described(group="billing", state="Empty"), samples=[sample])])


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Thirty looks, a second apart."""
    monkeypatch.chdir(tmp_path)
    path = Path("incident.ndjson")
    path.write_text("".join(line(1_700_000_000.0 + n, shot(n)) for n in range(30)))
    return path


@contextlib.asynccontextmanager
async def replay(path: Path) -> AsyncIterator[Pilot[int]]:
    app = Dashboard(ReplaySession(path))
    async with app.run_test(size=(120, 34), notifications=True) as pilot:
        await until(pilot, lambda: app.state.snapshot is not None)
        yield pilot


async def test_commands_name_the_recording_and_no_broker_is_counted(recording: Path) -> None:
    async with replay(recording) as pilot:
        text = await shows(pilot, "billing")
        assert f"$ kcli lag --replay {recording}" in text
        assert "0/0" not in text
        assert "RECORDING" in text
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Group))
        await shows(pilot, f"$ kcli lag billing --by partition --replay {recording}")
        await pilot.press("colon", *"topics", "enter")
        await shows(pilot, f"$ kcli tui --replay {recording}")


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (["r"], "This is a recording: a reset needs a cluster."),
        (["n"], "This is a recording: producing needs a cluster."),
        (["enter"], "This is a recording: reading records needs a"),
    ],
)
async def test_what_needs_a_cluster_is_refused_with_one_sentence(
    recording: Path, keys: list[str], sentence: str
) -> None:
    async with replay(recording) as pilot:
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Group) and pilot.app.screen.partition is not None)
        await pilot.press(*keys)
        await shows(pilot, sentence)
        assert isinstance(pilot.app.screen, Group)


@pytest.mark.parametrize(
    ("place", "what"),
    [("topics", "topics"), ("brokers", "brokers"), ("topic orders", "partitions and configs of a topic"),
     ("records orders", "records"), ("faults", "faults")],
)  # fmt: skip
async def test_pages_say_what_is_not_recorded(recording: Path, place: str, what: str) -> None:
    async with replay(recording) as pilot:
        await pilot.press("colon", *place, "enter")
        await shows(pilot, f"Not in a recording: {what}. It holds groups, their members and lag.")
        assert "error" not in seen(pilot).lower()


async def test_a_way_there_and_back_in_one_go_keeps_what_was_known(recording: Path) -> None:
    session = ReplaySession(recording)
    posted: list[Message] = []
    await session.open(posted.append)
    try:
        await ended(session)
        before = [one for one in posted if isinstance(one, SnapshotArrived)]
        assert len(before) == 1
        session.step(-1)
        await asyncio.sleep(0)  # what was known is given up
        session.step(1)
        await ended(session)
        known = await session.lags("billing", [TopicPartition("orders", 0)], [session.clock()])
        assert known == [[10 * 29 + 5]]
    finally:
        await session.close()


async def ended(session: ReplaySession) -> None:
    async with asyncio.timeout(20):
        while session.going:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.005)


async def test_a_place_that_is_asked_for_before_anything_is_shown_is_noted(recording: Path) -> None:
    session = ReplaySession(recording)
    session.go(3)
    session.rate_over(5.0)
    assert (session.to, session.going) == (3, False)


async def test_space_plays_and_pauses_and_is_called_so(recording: Path) -> None:
    async with replay(recording) as pilot:
        assert "space Play" in seen(pilot)
        app = pilot.app
        assert isinstance(app, Dashboard)
        assert isinstance(app.session, ReplaySession)
        session = app.session
        assert session.paused
        await pilot.press("space")
        await until(pilot, lambda: not session.paused)
        await until(pilot, lambda: session.at == 0 or session.at == 1)  # from the beginning, it was at its end
        await pilot.press("space")
        await until(pilot, lambda: session.paused)


async def test_a_topic_of_a_recording_has_its_groups_and_windows_change(recording: Path) -> None:
    async with replay(recording) as pilot:
        await pilot.press("colon", *"topic orders", "enter", "2")
        await shows(pilot, "billing")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, Groups))
        await pilot.press("right_square_bracket")
        await shows(pilot, "rates over 120 s")
        await shows(pilot, "billing")


def cut_off(path: Path) -> None:
    """As when the disk is full, or the copy was made too early."""
    path.write_text(path.read_text()[:-40])


async def test_a_recording_that_was_cut_off_is_shown_up_to_its_last_whole_line(recording: Path) -> None:
    cut_off(recording)
    async with replay(recording) as pilot:
        await shows(pilot, "ends in the middle of a line")
        board = pilot.app
        assert isinstance(board, Dashboard)
        assert board.state.snapshot is not None
        assert board.state.snapshot.time == 1_700_000_028.0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('"time":1700000003.0', '"time":1700000003000.0'), "4: its time is 1700000003000, which is not a valid time"),
        (('"time":1700000003.0', '"time":NaN'), "4: its time is nan"),
        (('"time":1700000003.0,', ""), "4: not a line of a lag recording: it has no 'time'"),
    ],
)
def test_a_line_that_makes_no_sense_is_named(recording: Path, change: tuple[str, str], says: str) -> None:
    recording.write_text(recording.read_text().replace(*change))
    with pytest.raises(UsageError) as told:
        ReplaySession(recording)
    assert f"--replay {recording}:{says}" in str(told.value)


async def test_a_recording_that_goes_while_it_is_shown_is_told_and_the_screen_stays(recording: Path) -> None:
    async with replay(recording) as pilot:
        for spoil, says in (
            (lambda: recording.write_text(""), "the file was changed meanwhile"),
            (recording.unlink, "No such file"),
        ):
            spoil()
            await pilot.press("comma")
            await shows(pilot, says)
            assert "billing" in seen(pilot)
            assert pilot.app.is_running


def test_a_recording_is_opened_without_reading_what_its_lines_hold(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []

    def noted(text: str) -> tuple[float, Snapshot]:
        lines.append(text)
        return read(text)

    monkeypatch.setattr("kcli.tui.replay.read", noted)
    opened = Recording(recording)
    assert opened.times == [1_700_000_000.0 + n for n in range(30)]
    assert lines == [opened.line(29)], "the line of the refresh that is shown first"


def damaged(path: Path, number: int) -> None:
    """Spoil a line in its middle."""
    lines = path.read_text().splitlines(keepends=True)
    lines[number] = lines[number].replace('"committed":', '"committed"')
    path.write_text("".join(lines))


async def test_a_damaged_refresh_is_told_when_it_is_to_be_shown_and_others_are(recording: Path) -> None:
    damaged(recording, 28)
    async with replay(recording) as pilot:
        await shows(pilot, "billing")
        app = pilot.app
        assert isinstance(app, Dashboard)
        assert isinstance(app.session, ReplaySession)
        await pilot.press("comma")
        await shows(pilot, "is damaged, or the file was changed")
        assert app.session.at == 29
        app.session.go(20)
        await until(pilot, lambda: app.session.clock() == 1_700_000_020.0)


def test_a_recording_whose_newest_refresh_is_damaged_is_refused(recording: Path) -> None:
    damaged(recording, 29)
    with pytest.raises(UsageError, match=f"--replay {recording}:30: not a line"):
        Recording(recording)
