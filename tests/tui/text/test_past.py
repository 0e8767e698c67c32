"""A dashboard that is opened again knows since when, and what happened."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kcli.admin.groups.commits import write_commits
from kcli.admin.groups.rows import Described
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.errors import KcliError
from kcli.lag import snapshot as lag_snapshot
from kcli.lag import watch
from kcli.lag.events import Event
from kcli.lag.figures import Total
from kcli.lag.formats.past import Point
from kcli.lag.history import GroupStanding
from kcli.lag.watch import LagSnapshot
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.tui import session as session_module
from kcli.tui.alerts.alerting import Alerting
from kcli.tui.app import Dashboard
from kcli.tui.session import LiveSession
from kcli.tui.trails import TRAIL, Lasting, Trails
from tests.tui.conftest import shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from textual.pilot import Pilot

    from kcli.lag.snapshot import Snapshot
    from kcli.tui.alerts.alerting import Alert


def prepend(path: Path, now: float) -> None:
    """Two snapshots before what is there, twelve and six minutes ago, and that a member left."""
    data = path.read_bytes()
    whole = json.loads(data.split(b"\n")[0])
    whole["events"] = []
    past = [whole | {"time": now - 720, "events": [[now - 720, "billing", "left", "pod-7 left", "", -1, 0]]}]
    past.append(whole | {"time": now - 360})
    path.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in past) + data)


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as one:
        yield one


async def test_lag_status_and_events_survive_a_restart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, world: World
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    begun = LiveSession(world.settings(), interval=0.2, remembers=True)
    app = Dashboard(begun)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: begun._past is not None and begun._past.writes)
        assert begun._past is not None
        path = Path(begun._past.path)
        await until(pilot, lambda: b'"billing":[120,' in path.read_bytes())
        status = begun.trails._since["billing"][0]
    now = time.time()
    prepend(path, now)
    session = LiveSession(world.settings(), interval=0.2, remembers=True)
    again = Dashboard(session)
    async with again.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: (lasting := session.trails.since("billing")) and lasting.begun < now - 700)
        assert session._past is not None
        assert session._past.writes, "the session before gave it back"
        assert session.trails._since["billing"][0] == status
        assert session.trails.of("billing")[0][0] < now - 700
        await shows(pilot, "LAST 12m")
        assert [event.text for event in await session.events("billing")][:1] == ["pod-7 left"]


async def test_a_history_that_cannot_be_kept_is_said_once_and_nothing_else_fails(
    monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null/nowhere")
    app = Dashboard(LiveSession(world.settings(), interval=0.2, remembers=True))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await shows(pilot, "No history is kept: ")
        look = app.state.snapshot
        await until(pilot, lambda: app.state.snapshot is not look)
        assert app.state.problem == ""


def test_what_a_file_says_is_put_before_what_was_seen() -> None:
    trails = Trails()
    group = GroupStanding(described=Described(group="g"), total=Total(lag=9), status="STUCK")
    trails.add(LagSnapshot(time=10_000.0, groups=[group]))
    points = [Point(time=10_000.0 - 60 * n, lag=n, status="STUCK" if n < 20 else "OK") for n in range(90, 0, -1)]
    events = [Event(time=9000.0, group="g", text="then"), Event(time=9000.0, group="gone", text="then")]
    trails.begin({"g": points, "gone": points}, events)
    assert trails.since("g") == Lasting(10_000.0 - 60 * 19, 10_000.0 - 60 * 90)
    assert trails.of("g")[-1] == (10_000.0, 9)
    assert trails.of("g") == sorted(trails.of("g"))
    assert trails.span <= TRAIL * 5.0
    assert [event.text for event in trails.events("g")] == ["then"]
    assert trails.events("gone") == []
    gap = Trails()
    gap.add(LagSnapshot(time=10_000.0, groups=[group]))
    gap.begin({"g": [Point(time=5000.0, lag=1, status="STUCK")]}, [])
    assert gap.since("g") == Lasting(10_000.0, 10_000.0), "what was between is not known"
    trails.add(LagSnapshot(time=10_005.0, groups=[GroupStanding(described=Described(group="g"), status="OK")]))
    assert trails.since("g") == Lasting(10_005.0, 10_000.0 - 60 * 90)


@pytest.mark.parametrize(("seconds", "since"), [(90.0, 10_000.0 - 60 * 19), (600.0, 10_600.0)])
def test_a_status_that_is_seen_again_soon_after_a_start_lasts_since_before(seconds: float, since: float) -> None:
    """A group is STUCK only after a while without a commit: until then it is BEHIND for a new dashboard."""
    trails = Trails()
    trails.add(LagSnapshot(time=10_000.0, groups=[GroupStanding(described=Described(group="g"), status="BEHIND")]))
    points = [Point(time=10_000.0 - 60 * n, lag=n, status="STUCK" if n < 20 else "OK") for n in range(90, 0, -1)]
    trails.begin({"g": points}, [])
    assert trails.since("g") == Lasting(10_000.0, 10_000.0 - 60 * 90)
    stuck = GroupStanding(described=Described(group="g"), status="STUCK")
    trails.add(LagSnapshot(time=10_000.0 + seconds, groups=[stuck]))
    assert trails.since("g") == Lasting(since, 10_000.0 - 60 * 90)


async def test_what_is_noted_after_the_last_refresh_is_kept_when_the_dashboard_is_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, world: World
) -> None:
    """A note that a refresh has taken and the file has not got yet; one that no refresh has taken."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    session = LiveSession(world.settings(), interval=3600.0, remembers=True)
    app = Dashboard(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: session._past is not None and session._past.writes and session._past._due)
        taken = threading.Event()

        async def hang(*_: object) -> None:
            taken.set()
            await asyncio.sleep(600)

        session._count = hang  # type: ignore[assignment, method-assign]
        session.note(Event(time=time.time(), group="billing", kind="note", text="pod-7 restarted"))
        await until(pilot, taken.is_set)
        session.note(Event(time=time.time(), group="billing", kind="note", text="muted"))
    assert session._past is not None
    kept = [event.text for event in session._past.read(time.time()).events]
    assert kept == ["pod-7 restarted", "muted"]


async def test_what_was_noted_is_kept_although_the_refresh_that_took_it_failed_half_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, world: World
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    session = LiveSession(world.settings(), interval=0.2, remembers=True)
    app = Dashboard(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: session._past is not None and session._past.writes and session._past._due)
        count, failed = session._count, threading.Event()

        async def fail_once(client: Client, snapshot: LagSnapshot) -> None:
            if snapshot.events and not failed.is_set():
                failed.set()
                raise KcliError("no broker answers")
            await count(client, snapshot)

        session._count = fail_once  # type: ignore[method-assign]
        session.note(Event(time=time.time(), group="billing", kind="note", text="pod-7 restarted"))
        await until(pilot, failed.is_set)
        for _ in range(2):  # when the second is there, the first is in the file or waits for its line
            look = app.state.snapshot
            await until(pilot, lambda look=look: app.state.snapshot is not look)  # type: ignore[misc]
    assert session._past is not None
    kept = [event.text for event in session._past.read(time.time()).events if event.kind == "note"]
    assert kept == ["pod-7 restarted"]


class Restarts:
    """A dashboard that is opened again and again on a cluster whose group has a member that does nothing, at times
    that the test chooses."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.now = float(round(time.time()))
        self.alerts: list[str] = []

    def time(self) -> float:
        return self.now

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[tuple[Pilot[int], LiveSession]]:
        session = LiveSession(self.world.settings(), interval=3600.0, remembers=True)
        app = Dashboard(session)
        async with app.run_test(size=(120, 40)) as pilot:
            await until(
                pilot, lambda: app.state.snapshot is not None and session._past is not None and session._past._due
            )
            yield pilot, session

    async def after(self, seconds: float, pilot: Pilot[int], session: LiveSession) -> str:
        """The status of the group that many seconds later."""
        self.now += seconds
        session.refresh_now()
        await until(pilot, lambda: session._latest is not None and session._latest.time == self.now)
        return self.status(session)

    def status(self, session: LiveSession) -> str:
        assert session._latest is not None
        return next(group.status for group in session._latest.groups if group.described.group == self.world.group)

    async def until_stuck(self) -> float:
        """Since when the group is stuck for a dashboard that is closed then."""
        async with self.open() as (pilot, session):
            begun = self.now
            assert self.status(session) == "BEHIND"
            assert await self.after(45.0, pilot, session) == "STUCK"
            for _ in range(3):
                assert await self.after(61.0, pilot, session) == "STUCK"
        assert self.alerts == ["STUCK"]
        return begun


@pytest.fixture
def restarts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, world: World) -> Restarts:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    one, take, tell = Restarts(world), lag_snapshot.take, Alerting._tell

    async def owned(*words: Any, **named: Any) -> Snapshot:
        shot = await take(*words, **named)
        for sample in (sample for group in shot.groups for sample in group.samples):
            sample.owned = True
        return shot

    def told(alerting: Alerting, alert: Alert) -> None:
        one.alerts.append(alert.now)
        tell(alerting, alert)

    monkeypatch.setattr(watch, "take", owned)
    monkeypatch.setattr(Alerting, "_tell", told)
    monkeypatch.setattr(session_module, "Watch", partial(watch.Watch, clock=one.time))
    return one


async def changes(session: LiveSession) -> list[str]:
    return [event.text for event in await session.events(World.group) if event.kind == "status"]


@pytest.mark.parametrize("closed", [60.0, 170.0, 600.0])
async def test_a_group_that_stands_still_is_stuck_on_the_first_picture_after_a_restart(
    restarts: Restarts, closed: float
) -> None:
    begun = await restarts.until_stuck()
    restarts.now += closed
    async with restarts.open() as (pilot, session):
        assert session._latest is not None
        assert restarts.status(session) == "STUCK"
        assert session._latest.time - session._latest.groups[0].partitions[0].still == begun
        await until(pilot, lambda: (lasting := session.trails.since(World.group)) and lasting.begun < begun + 200)
        for _ in range(3):
            assert await restarts.after(20.0, pilot, session) == "STUCK"
        assert await changes(session) == ["orders[0-1]: BEHIND is now STUCK"], "that of the first session"
    assert restarts.alerts == ["STUCK"]


async def test_a_group_that_moved_while_no_dashboard_was_open_is_stuck_only_when_it_is_again(
    restarts: Restarts,
) -> None:
    await restarts.until_stuck()
    restarts.now += 60.0
    async with Client(restarts.world.settings()) as client:
        at = {TopicPartition(World.topic, n): OffsetAndMetadata(offset=41) for n in range(2)}
        await write_commits(Coordinators(client.cluster), World.group, at)
    async with restarts.open() as (pilot, session):
        assert restarts.status(session) == "BEHIND"
        assert session._latest is not None
        assert session._latest.groups[0].partitions[0].still == 0.0
        assert await restarts.after(45.0, pilot, session) == "STUCK"
        lasting = session.trails.since(World.group)
        assert lasting is not None
        assert lasting.begun == restarts.now, "it was not so all the time"
        assert await changes(session) == ["orders[0-1]: BEHIND is now STUCK"] * 2
        await restarts.after(5.0, pilot, session)
    assert restarts.alerts == ["STUCK"] * 2


def spoil(folder: Path, damage: str) -> None:
    (file,) = folder.rglob("*.still")
    if damage == "no file":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-9])


@pytest.mark.parametrize("damage", ["no file", "damaged"])
async def test_without_the_offsets_of_before_a_group_is_stuck_after_a_while_and_lasts_since_before(
    restarts: Restarts, tmp_path: Path, damage: str
) -> None:
    begun = await restarts.until_stuck()
    spoil(tmp_path, damage)
    restarts.now += 60.0
    async with restarts.open() as (pilot, session):
        assert restarts.status(session) == "BEHIND"
        assert await restarts.after(45.0, pilot, session) == "STUCK"
        lasting = session.trails.since(World.group)
        assert lasting is not None
        assert lasting.begun < begun + 200
