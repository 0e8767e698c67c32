"""Changes that end without a response: what may be done is unknown, keeps its undo, and is not done again unseen."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import AsyncMock, MagicMock

import pytest
from textual.widgets import Input

from kcli.admin.configs import Resource, alter_configs
from kcli.admin.topics.topics import NewTopic, create_topics
from kcli.changes import configs
from kcli.client import Client
from kcli.errors import ConnectError, KcliError, UnknownOutcome
from kcli.registry.errors import RegistryError
from kcli.schemas import Schema
from kcli.security.http import NotInTime, Unavailable
from kcli.tui.actions.changes.change import carry_out
from kcli.tui.actions.changes.schemas import DeleteSubject, SetLevel
from kcli.tui.actions.changes.topics import AlterConfigs, CreateTopic
from kcli.tui.dialogs.change import Changing
from kcli.tui.dialogs.produce import Produce
from kcli.tui.dialogs.reset import Reset
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from kcli.tui.actions.changes.change import Change
    from kcli.tui.app import Dashboard

LOST = UnknownOutcome("it is unknown whether it took effect; check before you repeat it: no answer")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # the undo files of this test alone
    with a_world() as made:
        yield made


async def planned(pilot: Pilot[int], change: Change, field: str, text: str) -> Changing:
    """The dialog of a change, with the plan of what is in its field."""
    cast("Any", pilot.app.screen).begin(change)
    await until(pilot, lambda: isinstance(pilot.app.screen, Changing))
    dialog = pilot.app.screen
    assert isinstance(dialog, Changing)
    dialog.query_one(f"#f-{field}", Input).value = text
    await shows(pilot, "1 of 1 would change")
    return dialog


async def confirm(pilot: Pilot[int], word: str) -> None:
    field = pilot.app.screen.query_one("#confirm", Input)
    field.value = word
    field.focus()
    await pilot.press("enter")


async def test_configs_without_a_response_are_unknown_and_keep_their_undo(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unanswered(cluster: Any, wanted: Any, *, dry_run: bool = False) -> Any:
        return await alter_configs(cluster, wanted, dry_run=True) if dry_run else dict.fromkeys(wanted, LOST)

    monkeypatch.setattr(configs, "alter_configs", unanswered)
    async with world.open(size=(150, 36)) as pilot:
        await planned(pilot, AlterConfigs(Resource("topic", "orders")), "configs", "retention.ms=1h")
        await confirm(pilot, "orders")
        await shows(pilot, "1 unknown. it is unknown whether it took effect; check before you repeat it")
        await shows(pilot, "To undo this: z, or kcli undo")


async def test_after_an_error_the_plan_is_made_anew_and_the_error_stays(world: World) -> None:
    async with world.open(size=(150, 36)) as pilot:
        dialog = await planned(pilot, CreateTopic(), "name", "audit")
        change = dialog.session.change
        cast("Any", dialog.session).change = AsyncMock(side_effect=ConnectError("no broker is there"))
        async with Client(world.settings()) as client:
            await create_topics(client.cluster, [NewTopic(topic="audit")])
        await confirm(pilot, "audit")
        await until(pilot, lambda: not dialog.query_one("#plan", Rows).shown)
        await shows(pilot, "no broker is there")
        cast("Any", dialog.session).change = change
        await confirm(pilot, "audit")
        await shows(pilot, "there is no plan yet")


async def test_a_change_that_may_be_done_is_not_offered_again(world: World) -> None:
    async with world.open(size=(150, 36)) as pilot:
        dialog = await planned(pilot, CreateTopic(), "name", "audit")
        cast("Any", dialog.session).change = AsyncMock(side_effect=LOST)
        await confirm(pilot, "audit")
        await shows(pilot, "1 unknown. it is unknown whether it took effect")
        assert dialog.query_one("#confirm", Input).disabled


async def test_after_an_error_a_reset_is_planned_anew_and_the_error_stays(world: World) -> None:
    async with world.open(size=(150, 36)) as pilot:
        await pilot.press("r")
        await shows(pilot, "2 of 2 would change")
        dialog, session = pilot.app.screen, cast("Dashboard", pilot.app).session
        assert isinstance(dialog, Reset)
        before = dialog._plan
        cast("Any", session).change = AsyncMock(side_effect=ConnectError("no broker is there"))
        await confirm(pilot, "billing")
        await until(pilot, lambda: dialog._plan not in (None, before))
        await shows(pilot, "no broker is there")


async def test_a_record_before_that_is_under_way_is_a_reason_to_wait(world: World) -> None:
    answered = asyncio.Event()

    async def late(*_: object, **__: object) -> tuple[int, int]:
        await answered.wait()
        return 0, 7

    async with world.open() as pilot:
        await pilot.press("n")
        await until(pilot, lambda: isinstance(pilot.app.screen, Produce))
        pilot.app.screen.query_one("#topic", Input).value = "orders"
        cast("Any", cast("Dashboard", pilot.app).session).change = late
        await pilot.press("ctrl+s")
        await shows(pilot, "sending …")
        await pilot.press("ctrl+s")
        await shows(pilot, "the previous record is still being sent: send this one when its outcome is known")
        answered.set()
        await shows(pilot, "1 sent")


@pytest.mark.parametrize(
    ("problem", "result"),
    [
        (NotInTime("it did not answer within 30 s", sent=True), "unknown"),
        (Unavailable("its leader did not answer", status=504), "unknown"),
        (Unavailable("busy", status=503), "failed"),
        (ConnectError("nothing listens there"), "failed"),
        (RegistryError("the mode forbids it", 422, 42205), "failed"),
    ],
)
async def test_what_a_registry_was_asked_for_and_did_not_answer_is_unknown(
    problem: KcliError, result: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    registry: Any = MagicMock(folder="")
    registry.name, registry.client = "http://registry", MagicMock(deletes_softly=True)
    registry.client.level = AsyncMock(return_value="BACKWARD")
    registry.client.set_level = AsyncMock(side_effect=problem)
    plan = await SetLevel("orders-value", "FULL").plan(registry, {"level": "FULL"})
    assert plan.apply is not None
    undo: list[int] = []
    line = "kcli registry compat orders-value --set FULL --execute"
    await carry_out(plan, registry, line, print, undo.append)
    assert plan.rows[0].result == result
    assert bool(undo) == (result == "unknown")


async def test_a_subject_whose_deletion_was_not_answered_keeps_its_undo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    registry: Any = MagicMock(folder="")
    registry.name = "http://registry"
    registry.client = MagicMock(deletes_softly=True)
    for name, answer in (
        ("versions", [1]),
        ("version", Schema(subject="orders-value", version=1, text="{}")),
        ("referenced_by", []),
    ):
        setattr(registry.client, name, AsyncMock(return_value=answer))
    registry.client.delete_subject = AsyncMock(side_effect=NotInTime("it did not answer", sent=True))
    plan = await DeleteSubject("orders-value").plan(registry, {})
    undo: list[int] = []
    await carry_out(plan, registry, "kcli registry delete orders-value --execute", print, undo.append)
    assert undo == [1]
    assert [row.result for row in plan.rows] == ["unknown"]
    assert str(plan.rows[0].error).startswith("it is unknown whether it took effect; check before you repeat it")
