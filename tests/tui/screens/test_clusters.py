"""All clusters: a line per profile with the counts of the head; one that fails says why; enter goes there."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from kcli.admin.cluster.cluster import cluster_id
from kcli.admin.groups.rows import Described
from kcli.client import Client
from kcli.errors import UsageError
from kcli.lag.figures import Total
from kcli.lag.formats.past import Past
from kcli.lag.history import GroupStanding
from kcli.lag.status import OK, ORPHANED, STUCK
from kcli.lag.watch import LagSnapshot
from kcli.model import TopicPartition
from kcli.settings import ClientSettings, GroupSettings, parse_bootstrap
from kcli.tui.alerts.incidents import Incident
from kcli.tui.alerts.silences import Silence, Silences
from kcli.tui.app import Dashboard
from kcli.tui.messages import Inspected, SnapshotArrived, SnapshotFailed
from kcli.tui.screens.clusters import BEAT, ClusterRow, Clusters
from kcli.tui.screens.clusters import _brokers as brokers
from kcli.tui.session import LiveSession, Session
from kcli.tui.widgets.columns import Cell
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import seen, shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # the history of this test alone
    with a_world() as one:
        yield one


def board_of(world: World) -> Dashboard:
    def live(name: str) -> LiveSession:
        return LiveSession(world.settings(), name=name, interval=1.0, remembers=name == "staging")

    def dead() -> LiveSession:
        return LiveSession(ClientSettings(bootstrap=parse_bootstrap("127.0.0.1:9")), name="dead", interval=1.0)

    def secret() -> LiveSession:
        raise UsageError("the keyring is locked")

    profiles: dict[str, Callable[[], Session]] = {
        "prod": lambda: live("prod"),
        "staging": lambda: live("staging"),
        "dead": dead,
        "locked": secret,
    }
    return Dashboard(live("prod"), profiles=profiles)


@pytest.mark.long
async def test_a_line_per_profile_the_worst_first_and_enter_goes_there(world: World) -> None:
    board = board_of(world)
    async with board.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: board.state.snapshot is not None)
        await pilot.press("colon", *"clusters", "enter")
        await shows(pilot, "Clusters (4), 4 with incidents", 60)
        await shows(pilot, "the keyring is locked")
        await until(pilot, lambda: seen(pilot).count("◌1") == 3, 60)  # the head, prod and staging
        lines = [line.split()[0] for line in seen(pilot).replace("▌", " ").splitlines() if line[2:3].isalpha()]
        assert [name for name in lines if name in ("prod", "staging", "dead", "locked")] == [
            "dead", "locked", "prod", "staging",
        ]  # fmt: skip
        sessions = dict(board.screen._sessions)  # type: ignore[attr-defined]
        await pilot.press("G", "enter")
        await until(pilot, lambda: board.session.name == "staging")
        await until(pilot, lambda: type(board.screen).__name__ == "Groups")
        assert sessions
        assert all(session._client is None for session in sessions.values()), "their connections end with the page"


def test_a_row_counts_no_group_of_kclis_own_and_says_how_bad_it_is() -> None:
    def group(name: str, status: str, lag: int) -> GroupStanding:
        return GroupStanding(described=Described(group=name), total=Total(lag=lag), status=status)

    look = LagSnapshot(groups=[group("a", STUCK, 5), group("b", OK, 1), group("kcli-copy.x", ORPHANED, 900)])
    row, well = ClusterRow("prod", look), ClusterRow("prod", LagSnapshot(groups=[group("b", OK, 1)]))
    assert (row.counts, row.lag) == ({STUCK: 1, OK: 1}, 6)
    dead = ClusterRow("dead", problem="refused")
    assert sorted([well, row, dead], key=lambda one: one.severity) == [dead, row, well]
    assert brokers(ClusterRow("p", brokers=3, down=1)) == Cell("2/3", "bad")
    assert brokers(ClusterRow("p", brokers=3)) == Cell("3/3", "")


async def test_clusters_are_asked_seldom_and_keep_no_history_and_ctrl_r_asks_all_at_once(world: World) -> None:
    board = board_of(world)
    async with board.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: board.state.snapshot is not None)
        await pilot.press("colon", *"clusters", "enter")
        await until(pilot, lambda: isinstance(board.screen, Clusters) and len(board.screen._sessions) == 2)
        page = board.screen
        assert isinstance(page, Clusters)
        assert {session.interval for session in page._sessions.values()} == {BEAT}
        assert not any(session.remembers for session in page._sessions.values())
        before = {name: session.hurried for name, session in page._sessions.items()}
        await pilot.press("ctrl+r")
        await until(pilot, lambda: all(one.hurried == before[name] + 1 for name, one in page._sessions.items()))
        page._heard("staging", SnapshotFailed(UsageError("gone")))
        assert page._rows["staging"].problem == "gone"
        page._heard("staging", SnapshotArrived(LagSnapshot(), board.session.trails))
        assert page._rows["staging"].problem == ""


async def test_another_cluster_is_judged_by_its_own_history_and_by_what_is_acknowledged_there(world: World) -> None:
    async with Client(world.settings()) as client:
        name = await cluster_id(client.cluster)
        assert name is not None
        settings = GroupSettings(group=World.group, instance_id="pod-7", auto_commit=False, session_timeout=600.0)
        async with client.consumer(group=settings) as consumer:  # a member that is away and stays in its group
            await consumer.subscribe([World.topic])
            await consumer.poll(0.5)
    past = Past(name)
    past.open(time.time())
    past.stand({World.group: {TopicPartition(World.topic, n): (40, time.time() - 900, False, ()) for n in range(2)}})
    past.close()
    down = Incident("DOWN", "broker 3", "left the cluster", "broker 3")
    silences = Silences()
    silences.open(name)
    silences.put("cluster/DOWN/broker 3", Silence("DOWN", "patching", time.time()))
    board = board_of(world)
    async with board.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: board.state.snapshot is not None)
        await pilot.press("colon", *"clusters", "enter")
        await until(pilot, lambda: isinstance(board.screen, Clusters) and len(board.screen._sessions) == 2)
        page = board.screen
        assert isinstance(page, Clusters)
        await until(pilot, lambda: page._rows["staging"].snapshot is not None)
        assert page._rows["staging"].counts == {STUCK: 1}, "without its history it would be BEHIND"
        page._heard("staging", Inspected([down, down._replace(name="broker 4")]))
        assert page._rows["staging"].urgent == 1


async def test_enter_on_the_cluster_that_is_open_shows_its_groups_and_changes_nothing(world: World) -> None:
    board = board_of(world)
    async with board.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: board.state.snapshot is not None)
        session = board.session
        await pilot.press("colon", *"clusters", "enter")
        await until(pilot, lambda: isinstance(board.screen, Clusters))
        rows = board.screen.query_one(Rows)
        await until(pilot, lambda: len(rows.shown) == 4)
        rows.cursor = next(n for n, row in enumerate(rows.shown) if row.name == "prod")
        await pilot.press("enter")
        await until(pilot, lambda: type(board.screen).__name__ == "Groups")
        await pilot.pause(0.3)
        assert board.session is session
