"""All clusters: a line per profile with the counts of the head; one that fails says why; enter goes there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kcli.errors import UsageError
from kcli.settings import ClientSettings, parse_bootstrap
from kcli.tui.app import Dashboard
from kcli.tui.session import LiveSession, Session
from tests.tui.conftest import seen, shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as one:
        yield one


def board_of(world: World) -> Dashboard:
    def live(name: str) -> LiveSession:
        return LiveSession(world.settings(), name=name, interval=1.0)

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


async def test_a_line_per_profile_the_worst_first_and_enter_goes_there(world: World) -> None:
    board = board_of(world)
    async with board.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: board.state.look is not None)
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
