"""`z` undoes what kcli changed here: every kind of change, in the order of the journal, and only on its cluster."""

from __future__ import annotations

import asyncio
import json
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kcli.changes import journal
from kcli.changes.change import Undo as Kept
from kcli.changes.undo import undoable
from kcli.cli.main import main
from kcli.registry.settings import RegistrySettings
from kcli.security.http import origin_of
from kcli.settings import ClientSettings, parse_bootstrap
from kcli.tui.app import Dashboard
from kcli.tui.dialogs.undo import Undo
from kcli.tui.session import LiveSession
from tests.cli.commands.journal.test_undo import CHANGES, Kcli, kcli, made, sandbox
from tests.tui.conftest import shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.pilot import Pilot

    from kcli.sandbox.thread import SandboxThread

__all__ = ["kcli", "made", "sandbox"]  # fixtures


def undo_by_key(box: SandboxThread, word: str = "") -> str:
    """Press `z`, type the word, if there is one, and enter; what the dialog says then."""

    async def pressed() -> str:
        settings = ClientSettings(bootstrap=parse_bootstrap(box.bootstrap))
        registry = RegistrySettings(origins=(origin_of(box.registry_url),), disk=False)
        board = Dashboard(LiveSession(settings, interval=1.0, registry=registry))
        async with board.run_test(size=(140, 40), notifications=True) as pilot:
            await until(pilot, lambda: board.state.cluster_id)
            await pilot.press("z")
            await shows(pilot, "would change" if not word else f"Type {word} to do it")
            await pilot.press(*word, "enter")
            return await shows(pilot, ". To undo this: z, or kcli undo" if not word else " deleted.")

    return asyncio.run(pressed())


@pytest.mark.long
@pytest.mark.parametrize("kind", CHANGES)
def test_every_kind_of_change_is_undone_by_one_key(
    kind: str, made: Kcli, sandbox: SandboxThread, tmp_path: Path
) -> None:
    change, look = CHANGES[kind]
    look = look if "-J" in look else f"{look} --format ndjson"

    def state() -> list[str]:
        main(shlex.split(look))
        out = made._capsys.readouterr().out
        if kind == "reassign":
            return [str(partition["replicas"]) for partition in json.loads(out)["partitions"]]
        return sorted(line for line in out.splitlines() if '"error"' not in line)

    before = state()
    made(change.format(file=tmp_path / "file") + " --execute")
    assert state() != before
    said = undo_by_key(sandbox)
    assert f"-b {sandbox.bootstrap}" in said
    deadline = time.monotonic() + 20
    while state() != before:
        assert time.monotonic() < deadline, (before, state())
        time.sleep(0.1)
    (last, *_) = made.history()
    assert last["command"].startswith("kcli undo ")
    assert last["result"] == "done"


@pytest.mark.long
def test_a_level_of_the_registry_is_undone(made: Kcli, sandbox: SandboxThread) -> None:
    url = f"--schema-registry {sandbox.registry_url}"
    made(f"registry compat orders-value --set full --execute {url}")
    undo_by_key(sandbox)
    assert made.json(f"registry compat orders-value {url}")["levels"][0]["level"] == "BACKWARD"


@pytest.mark.long
def test_a_topic_that_was_created_is_deleted_only_after_its_name(made: Kcli, sandbox: SandboxThread) -> None:
    made("topics create fresh --execute")
    undo_by_key(sandbox, "fresh")
    assert "fresh" not in {topic["topic"] for topic in made.json("topics list")["topics"]}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with a_world() as one:
        yield one


async def done(pilot: Pilot[int], *keys: str) -> str:
    """`z`, keys of the dialog, and enter; what is on the screen when it is done."""
    await pilot.press("z")
    await until(pilot, lambda: isinstance(pilot.app.screen, Undo))
    await pilot.press(*keys)
    await shows(pilot, "would change")
    await pilot.press("enter")
    return await shows(pilot, "To undo this: z, or")


async def test_z_goes_back_step_by_step_and_the_arrows_to_older_changes(world: World) -> None:
    async with world.open(size=(150, 40)) as pilot:
        await pilot.press("z")
        await shows(pilot, "Nothing to undo")
        for at in (30, 20, 10):
            await reset(world, at)
            assert await world.committed() == {0: at, 1: at}
        text = await done(pilot)
        assert "Undo change 3" in text
        assert await world.committed() == {0: 20, 1: 20}
        await pilot.press("z")  # in the dialog that is done
        await shows(pilot, "Undo change 2")
        await pilot.press("up")
        await shows(pilot, "Undo change 1")
        await shows(pilot, "now; change 1 left 30")
        await pilot.press("down")
        await shows(pilot, "Undo change 2")
        await shows(pilot, "would change")
        await pilot.press("enter")
        await shows(pilot, "2 reset")
        assert await world.committed() == {0: 30, 1: 30}
        await pilot.press("escape")
        await done(pilot)
        assert await world.committed() == {0: 40, 1: 40}
        await pilot.press("escape", "z")
        await shows(pilot, "Nothing to undo")


async def reset(world: World, offset: int) -> None:
    words = f"groups reset billing --all-topics --to-offset {offset} --execute -q -b {world.sandbox.bootstrap}"
    assert await asyncio.to_thread(main, shlex.split(words)) == 0


async def test_a_protected_profile_wants_its_name_for_an_undo_too(world: World) -> None:
    await reset(world, 10)
    async with world.open(size=(150, 40), guard="protected", profile="prod") as pilot:
        await pilot.press("z")
        await shows(pilot, "Type prod to do it")
        await pilot.press("enter")
        await shows(pilot, "nothing was changed: '' is not prod")
        assert await world.committed() == {0: 10, 1: 10}
        await pilot.press(*"prod", "enter")
        await shows(pilot, "To undo this: z, or")
        assert await world.committed() == {0: 40, 1: 40}
    async with world.open(guard="read_only", profile="prod") as pilot:
        await pilot.press("z")
        await shows(pilot, "Profile prod is read-only")


def put(command: str, cluster: str = "one", *, changed: int = 1) -> int:
    """A change in the journal."""
    words = shlex.split(command)[1:]
    number = journal.begin(words, cluster, [], Kept(document={"schema": "kcli.groups.export/1", "offsets": []}))
    journal.end(number, "done" if changed else "failed", changed)
    return number


def test_the_next_to_undo_is_the_newest_that_was_not_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    first, second = put("kcli configs set topic a x=1"), put("kcli topics alter a")
    put("kcli groups delete b", "another")
    put("kcli groups delete c", changed=0)

    def numbers() -> list[int]:
        return [entry.number for entry in undoable({"one"})]

    assert numbers() == [second, first]
    undo = put(f"kcli undo -b host:9092 {second} --execute")
    assert numbers() == [first]
    put(f"kcli undo {first} --execute", changed=0)
    assert numbers() == [first], "an undo that failed undid nothing"
    put(f"kcli undo {undo} --execute")
    assert numbers() == [second, first], "the undo was undone"
