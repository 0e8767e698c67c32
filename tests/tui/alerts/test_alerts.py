"""Alerts: which changes are told and how; what is acknowledged or muted is quiet, also after a restart."""

from __future__ import annotations

import http.server
import itertools
import json
import os
import stat
import threading
from typing import TYPE_CHECKING, Any

import pytest
from textual.screen import ModalScreen
from textual.widgets._toast import Toast

from kcli.admin.groups.rows import Described
from kcli.errors import KcliError, UsageError
from kcli.lag.figures import Lag, Sample, Total
from kcli.lag.history import GroupStanding
from kcli.lag.partition_lag import PartitionFigures
from kcli.lag.status import BEHIND, GROWING, LOSING_DATA, OK, ORPHANED, STUCK
from kcli.lag.watch import LagSnapshot
from kcli.tui.alerts.alerting import Alert, Changes, Ways, notification, post, summary, ways_of
from kcli.tui.alerts.silences import Silence, Silences
from kcli.tui.app import Dashboard
from kcli.tui.messages import Noted, SnapshotArrived
from kcli.tui.navigation.rewinding import Rewound
from kcli.tui.session import LiveSession
from kcli.tui.text.incidents import board
from tests.tui.conftest import shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def snapshot(status: str, lag: int = 5000, group: str = "billing", time: float = 100.0) -> LagSnapshot:
    part = PartitionFigures(lag=Lag(sample=Sample(group=group, topic="orders", partition=0), lag=lag), status=status)
    standing = GroupStanding(
        partitions=[part],
        described=Described(group=group),
        total=Total(lag=lag, status=status, partitions=1, alike=1),
        status=status,
    )
    return LagSnapshot(time=time, groups=[standing])


def told(*statuses: str, lag: int = 5000, silences: Any = ()) -> list[tuple[str, str]]:
    changes = Changes()
    return [(a.before, a.now) for status in statuses for a in changes.see(snapshot(status, lag), silences)]


def test_a_status_is_told_once_when_it_lasts() -> None:
    assert told(STUCK, STUCK, STUCK) == [], "the first snapshot is how things are, not news"
    assert told(OK, STUCK) == []
    assert told(OK, STUCK, STUCK, STUCK) == [(OK, STUCK)]
    assert told(OK, GROWING, OK, GROWING, OK) == [], "it comes and goes"
    assert told(OK, STUCK, GROWING, STUCK, STUCK) == [(OK, STUCK)]
    assert told(OK, STUCK, STUCK, OK, OK) == [(OK, STUCK), (STUCK, OK)]
    assert told(OK, STUCK, STUCK, LOSING_DATA, LOSING_DATA) == [(OK, STUCK), (STUCK, LOSING_DATA)]
    assert told(LOSING_DATA, LOSING_DATA, STUCK, STUCK) == [], "it got better and is not well"
    steady = [OK, GROWING, GROWING, BEHIND, BEHIND, GROWING, GROWING, BEHIND, BEHIND]
    assert told(*steady) == [(OK, GROWING)], "it lags all the time, and grows now and then"
    assert told(*steady, OK, OK) == [(OK, GROWING), (GROWING, OK)]
    assert told(*steady, STUCK, STUCK, BEHIND, BEHIND) == [(OK, GROWING), (GROWING, STUCK), (STUCK, BEHIND)]
    assert told(OK, ORPHANED, ORPHANED, lag=3) == [], "a small orphan hardly matters"


def test_groups_of_kclis_own_progress_have_no_alerts() -> None:
    changes = Changes()
    seen = [changes.see(snapshot(status, group="kcli-copy.3b93ca67"), ()) for status in (OK, STUCK, STUCK, STUCK)]
    assert seen == [[], [], [], []]


def test_good_news_has_no_reason() -> None:
    bad, good = Alert("billing", OK, STUCK, 5000, 1.0, "why"), Alert("billing", STUCK, OK, 0, 2.0, "why")
    assert bad.words == "billing is ■ STUCK (was OK), lag 5,000: why"
    assert good.words == "billing is ● OK (was STUCK), lag 0"


def test_a_lag_that_is_known_in_part_is_a_lower_bound_and_an_unknown_one_no_number() -> None:
    part, none = (Alert("billing", OK, STUCK, lag, 1.0, "why", unknown=2) for lag in (5000, None))
    assert part.words == "billing is ■ STUCK (was OK), lag ≥ 5,000: why"
    assert none.words == "billing is ■ STUCK (was OK), lag –: why"
    changes = Changes()
    for status in (OK, STUCK, STUCK):
        now = snapshot(status)
        now.groups[0].total.lag, now.groups[0].total.unknown = None, 1
        alerts = changes.see(now, ())
    assert [(alert.lag, alert.unknown) for alert in alerts] == [(None, 1)]


def test_several_alerts_are_one_sentence_the_worst_first() -> None:
    bad = [Alert(name, OK, STUCK, 5, 1.0, "why") for name in ("search", "audit", "fraud", "billing")]
    alerts = [Alert("copy", STUCK, OK, 0, 1.0, ""), Alert("mail", OK, GROWING, 9, 1.0, "why"), *bad]
    assert summary(alerts[:1]) == "copy is ● OK (was STUCK), lag 0"
    assert summary(alerts) == "6 alerts: ■ STUCK search, audit, fraud and 1 more; ▲ GROWING mail; ● OK copy"


def test_what_is_acknowledged_is_quiet_until_its_status_changes(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    silences = Silences()
    silences.open("cluster/1")
    silences.put("billing", Silence(STUCK, "being restarted", 1.0))
    assert told(OK, STUCK, STUCK, silences=silences) == []
    assert told(OK, LOSING_DATA, LOSING_DATA, silences=silences) == [(OK, LOSING_DATA)]
    silences.put("audit", Silence("", "", 1.0))
    later = Silences()
    later.open("cluster/1")
    assert ("billing", STUCK) in later
    assert ("billing", LOSING_DATA) not in later
    assert ("audit", LOSING_DATA) in later
    file = tmp_path / "kcli" / "alerts" / "cluster_1.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    later.put("billing", None)
    assert "billing" not in json.loads(file.read_text())
    for text in ("{", "[1]", '{"billing": 3}', '{"billing": {"status": 4}}'):
        file.write_text(text)
        broken = Silences()
        broken.open("cluster/1")
        assert ("billing", STUCK) not in broken


def test_the_board_has_one_line_of_the_quiet_ones(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    silences, now = Silences(), snapshot(STUCK)
    silences.put("billing", Silence(STUCK, "x", 1.0))
    lines = ["  ".join(word.text for word in line.pieces) for line in board(now.groups, now, 5, silences=silences)]
    assert len(lines) == 2
    assert lines[1] == "acknowledged or muted: billing"


def test_ways_are_bell_desktop_and_webhooks() -> None:
    assert ways_of("bell, desktop,http://h/x") == Ways(True, True, ("http://h/x",))
    assert ways_of("") == Ways()
    with pytest.raises(UsageError, match="--alert mail: expected bell, desktop or"):
        ways_of("bell,mail")
    assert notification("a\x1b]52;c\x07b").count("\x1b") == 1, "a name of a group writes no sequence of its own"
    assert notification("a\x07b").count("\x07") == 1


@pytest.fixture
def hook() -> Iterator[tuple[str, list[dict[str, Any]], list[int]]]:
    """A webhook: its address, what it got, and what it answers next."""
    got: list[dict[str, Any]] = []
    answers: list[int] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(answers.pop() if answers else 204)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/secret", got, answers
        server.shutdown()
        thread.join()


async def test_a_webhook_gets_json_and_its_failure_hides_the_address(hook: Any) -> None:
    address, got, answers = hook
    alert = Alert("billing", OK, STUCK, 7, 9.0, "a reader does not move")
    await post(address, "prod", alert)
    assert got[0]["group"] == "billing"
    assert got[0]["status"] == STUCK
    assert got[0]["text"].startswith("prod: billing is ■ STUCK (was OK), lag 7: a reader")
    answers += [403, 429]
    with pytest.raises(KcliError, match="answered 403") as failure:
        await post(address, "prod", alert)
    assert not answers, "a webhook that is busy is asked again"
    assert "secret" not in str(failure.value)
    with pytest.raises(KcliError, match=r"the webhook at http://127.0.0.1:9 cannot be reached"):
        await post("http://127.0.0.1:9/secret", "prod", alert)


def test_an_address_of_a_webhook_that_is_wrong_is_not_shown() -> None:
    for wrong in ("https://", "https://me:zz1/zz2@host:y/x", "https://me:zz1,zz2@host/x", "http://h:y/zz1"):
        with pytest.raises(UsageError) as problem:
            ways_of(wrong)
        assert not any(part in str(problem.value) for part in ("zz1", "zz2")), problem.value


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with a_world() as one:
        yield one


async def test_the_dashboard_rings_writes_and_posts(world: World, hook: Any, monkeypatch: Any) -> None:
    address, got, _ = hook
    board = Dashboard(LiveSession(world.settings(), name="prod", interval=3600.0), ways=Ways(True, True, (address,)))
    rung: list[int] = []
    written: list[str] = []
    monkeypatch.setattr(board, "bell", lambda: rung.append(1))
    monkeypatch.setattr(board, "write_out", written.append)
    async with board.run_test(size=(120, 36), notifications=True) as pilot:
        await until(pilot, lambda: board.state.snapshot is not None)
        for n, status in enumerate((OK, STUCK, STUCK)):
            board._alerting.see(snapshot(status, group="search", time=1.0 + n))
        await shows(pilot, "search is ■ STUCK (was OK)")
        await until(pilot, lambda: got)
        assert rung == [1]
        assert written[0].startswith("\x1b]9;prod: search is ■ STUCK")
        assert got[0]["cluster"] == "prod"


async def test_alerts_come_while_the_screen_shows_the_past_too(world: World, monkeypatch: Any) -> None:
    session = LiveSession(world.settings(), name="prod", interval=0.2)
    board = Dashboard(session, ways=Ways(desktop=True))
    written: list[str] = []
    monkeypatch.setattr(board, "write_out", written.append)
    async with board.run_test(size=(120, 36), notifications=True) as pilot:
        await until(pilot, lambda: len(session.kept) >= 2)
        session.paused = True
        await pilot.press("comma")
        await until(pilot, lambda: isinstance(board.session, Rewound) and board.state.snapshot is not None)
        past = board.state.snapshot
        for n, status in enumerate((OK, STUCK, STUCK)):
            session._post(SnapshotArrived(snapshot(status, group="search", time=1.0 + n), session.trails))
        session._post(Noted("a sentence"))
        await shows(pilot, "search is ■ STUCK (was OK)")
        await shows(pilot, "a sentence")
        assert written[-1].startswith("\x1b]9;prod: search is ■ STUCK")
        assert board.state.snapshot is past


async def test_a_snapshot_that_is_shown_again_is_counted_once(world: World) -> None:
    session = LiveSession(world.settings(), interval=3600.0)
    board = Dashboard(session)
    async with board.run_test(size=(120, 36), notifications=True) as pilot:
        await until(pilot, lambda: board.state.snapshot is not None)
        for n, status in enumerate((OK, STUCK)):
            session._latest = snapshot(status, group="search", time=1.0 + n)
            session.resume(board.post_message)
        session.resume(board.post_message)
        again = session._latest
        await until(pilot, lambda: board.state.snapshot is again)
        await pilot.pause()
        assert not [one for one in board._notifications if "search is" in one.message]
        session._latest = snapshot(STUCK, group="search", time=3.0)
        session.resume(board.post_message)
        await shows(pilot, "search is ■ STUCK (was OK)")


async def test_a_status_is_acknowledged_with_a_reason_that_is_in_the_timeline(
    world: World, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setitem(os.environ, "XDG_STATE_HOME", str(tmp_path))
    session = LiveSession(world.settings(), name="prod", interval=1.0, remembers=True)
    board = Dashboard(session)
    async with board.run_test(size=(120, 40), notifications=True) as pilot:
        await shows(pilot, "◌ ORPHANED")
        await pilot.press("a", "K")
        await shows(pilot, "billing is ◌ ORPHANED: acknowledge it")
        await pilot.press(*"migrating", "enter")
        await until(pilot, lambda: ("billing", ORPHANED) in board.state.silences)
        await pilot.press("enter", "4")
        await shows(pilot, "ORPHANED acknowledged: migrating")
        await pilot.press("a")
        assert "Alert of it again" in await shows(pilot, "Alert of it")
        await pilot.press("M")
        await until(pilot, lambda: ("billing", ORPHANED) not in board.state.silences)
        await shows(pilot, "alerts are on again")


async def test_alerts_are_on_the_screen_one_at_a_time_on_two_lines_at_most(world: World) -> None:
    board = Dashboard(LiveSession(world.settings(), name="prod", interval=3600.0))

    times = itertools.count(1.0)

    def seen_at(status: str, *groups: str) -> LagSnapshot:
        return LagSnapshot(time=next(times), groups=[snapshot(status, group=group).groups[0] for group in groups])

    def alert(*groups: str) -> None:
        for status in (OK, STUCK, STUCK):
            board._alerting.see(seen_at(status, *groups))

    def toasts() -> list[Toast]:
        return [toast for toast in board.screen.query(Toast) if toast.is_attached]

    async with board.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: board.state.snapshot is not None)
        board.notify("kept", timeout=600, markup=False)
        alert(*(f"group-{'x' * 40}-{number}" for number in range(9)))
        text = await shows(pilot, "9 alerts: ■ STUCK group-x")
        assert "kept" in text
        (lines,) = (toast.size.height for toast in toasts() if "alerts" in str(toast.render()))
        assert lines <= 2
        bottom = [n for n, line in enumerate(text.splitlines()) if "9 alerts" in line]
        assert bottom >= [20], "above the keys, over the last rows"
        alert("search")
        text = await shows(pilot, "search is ■ STUCK (was OK)")
        assert "9 alerts" not in text
        assert "kept" in text
        assert [toast.size.height for toast in toasts()][-1] <= 2
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(board.screen, ModalScreen))
        alert("shipping")
        text = await shows(pilot, "shipping is ■ STUCK")
        assert "search is" not in text, "the page below the dialog does not draw it either"
        below = board.screen_stack[-2].query(Toast)
        assert [toast for toast in below if "search is" in str(toast.render())] == []
