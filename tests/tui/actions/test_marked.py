"""What is done with several marked rows in one plan: delete topics, delete and reset groups; a reset that waits until
the members have left."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from textual.widgets import Input, Select

from kcli.admin.groups.commits import write_commits
from kcli.admin.groups.groups import group_names
from kcli.admin.topics.topics import NewTopic, create_topics, wait_for_topics
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.settings import GroupSettings
from kcli.tui.actions.changes.groups import DeleteGroups
from kcli.tui.dialogs import reset
from kcli.tui.dialogs.change import Changing
from kcli.tui.dialogs.reset import Reset
from kcli.tui.widgets.rows import Rows
from tests.changes.undone import undo_files
from tests.tui.conftest import seen, shows, until, visit
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.pilot import Pilot

pytestmark = pytest.mark.long


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # the undo files of this test alone
    with a_world() as made:
        yield made


async def more_groups(world: World, *names: str) -> None:
    """Groups that have committed 40 in the first partition of `orders`."""
    async with Client(world.settings()) as client:
        for name in names:
            at = {TopicPartition(world.topic, 0): OffsetAndMetadata(offset=40)}
            await write_commits(Coordinators(client.cluster), name, at)


async def more_topics(world: World, *names: str) -> None:
    async with Client(world.settings()) as client:
        await create_topics(client.cluster, [NewTopic(topic=name, partitions=2) for name in names])
        await wait_for_topics(client.cluster, names)


async def mark(pilot: Pilot[int], table: Rows, *names: str) -> None:
    """By the key, row by row."""
    table.focus()
    for name in names:
        place = next(n for n, row in enumerate(table.shown) if table._key(row) == name)
        table.cursor = place
        await pilot.press("m")
    await shows(pilot, f"✓ {len(names)} marked")


async def confirm(pilot: Pilot[int], word: str) -> None:
    pilot.app.screen.query_one("#confirm", Input).focus()
    await pilot.press(*["space" if letter == " " else letter for letter in word], "enter")


def undo_rows() -> list[dict[str, Any]]:
    (path,) = undo_files(Path(os.environ["XDG_STATE_HOME"]))
    rows: list[dict[str, Any]] = json.loads(path.read_text())["offsets"]
    return rows


async def test_marked_topics_are_deleted_by_one_plan(world: World) -> None:
    await more_topics(world, "tmp-a", "tmp-b", "tmp-c")
    async with world.open(size=(150, 36)) as pilot:
        page = await visit(pilot, "topics")
        table = page.query_one(Rows)
        await until(pilot, lambda: len(table.shown) == 4)
        await mark(pilot, table, "tmp-a", "tmp-c")
        table.cursor = 0
        await pilot.press("a")
        text = await shows(pilot, "Actions on 2 marked topics")
        await pilot.press("j")
        await shows(pilot, "$ kcli topics delete tmp-a tmp-c --execute")
        assert "Trim" not in text
        await pilot.press("D")
        await until(pilot, lambda: isinstance(pilot.app.screen, Changing))
        text = await shows(pilot, "2 of 2 would change")
        assert "Delete 2 topics: this cannot be undone" in text
        await confirm(pilot, "tmp-a")
        await shows(pilot, "nothing was changed: 'tmp-a' is not 2 topics")
        await pilot.press(*["backspace"] * 5)
        await confirm(pilot, "2 topics")
        await shows(pilot, "2 deleted")
        await pilot.press("escape")
        await until(pilot, lambda: {row.topic.topic for row in table.shown} == {"orders", "tmp-b"})
        assert "marked" not in seen(pilot)


async def test_the_records_of_marked_topics_are_followed_together(world: World) -> None:
    await more_topics(world, "tmp-a", "tmp-b")
    async with world.open(size=(150, 36)) as pilot:
        await visit(pilot, "topics")
        table = pilot.app.screen.query_one(Rows)
        await until(pilot, lambda: {row.topic.topic for row in table.shown} >= {"tmp-a", "tmp-b", "orders"})
        await mark(pilot, table, "orders", "tmp-b")
        table.cursor = next(n for n, row in enumerate(table.shown) if row.topic.topic == "tmp-a")
        await pilot.press("t")
        await shows(pilot, "Records of orders, tmp-b")
        await shows(pilot, "$ kcli tail orders tmp-b")


async def test_a_topic_that_is_gone_meanwhile_says_so_and_the_others_go(world: World) -> None:
    from kcli.admin.topics.topics import delete_topics
    from kcli.tui.actions.changes.topics import DeleteTopics

    await more_topics(world, "tmp-a", "tmp-b")
    async with Client(world.settings()) as client:
        plan = await DeleteTopics("gone", "tmp-a", "tmp-b").plan(client, {})
        assert [row.result for row in plan.rows] == ["failed", "would delete", "would delete"]
        assert "gone" in str(plan.rows[0].error)
        await delete_topics(client.cluster, ["tmp-a"])
        await more_topics(world, "gone")  # was not in the plan
        assert plan.apply is not None
        await plan.apply(client.cluster)
        assert [row.result for row in plan.rows] == ["failed", "failed", "deleted"]
        assert "gone" in await client.cluster.topics()


async def test_marked_groups_are_deleted_and_one_file_undoes_it(world: World) -> None:
    await more_groups(world, "ci-1", "ci-2")
    async with world.open(size=(150, 36)) as pilot:
        table = pilot.app.screen.query_one(Rows)
        await until(pilot, lambda: len(table.shown) == 3)
        await mark(pilot, table, "billing", "ci-2")
        await pilot.press("a")
        text = await shows(pilot, "Actions on 2 marked groups")
        assert "Delete the 2 groups …" in text
        await pilot.press("D")
        text = await shows(pilot, "2 of 2 would change")
        assert "$ kcli groups delete billing ci-2 --execute" in text
        await confirm(pilot, "2 groups")
        text = await shows(pilot, "2 deleted")
        assert "To undo this: z, or kcli undo 1 --execute" in text.replace("\n", " ")
    async with Client(world.settings()) as client:
        assert await group_names(client.cluster) == ["ci-1"]
    assert sorted((row["group"], row["offset"]) for row in undo_rows()) == [
        ("billing", 40),
        ("billing", 40),
        ("ci-2", 40),
    ]


def test_internal_topics_of_streams_groups_go_with_them_where_the_form_says_so() -> None:
    change = DeleteGroups("app", "job", streams=True)
    assert change.command({"internal": "delete"}) == "kcli groups delete app job --delete-internal-topics --execute"
    assert change.command({"internal": ""}) == "kcli groups delete app job --execute"
    assert not DeleteGroups("app").asks


async def test_marked_groups_are_reset_by_one_plan(world: World) -> None:
    await more_groups(world, "ci-1", "ci-2")
    async with world.open(size=(150, 36)) as pilot:
        table = pilot.app.screen.query_one(Rows)
        await until(pilot, lambda: len(table.shown) == 3)
        await mark(pilot, table, "billing", "ci-2")
        await pilot.press("r")
        await until(pilot, lambda: isinstance(pilot.app.screen, Reset))
        text = await shows(pilot, "4 of 4 would change")
        assert "$ kcli groups reset billing ci-2 --all-topics --to-earliest --execute" in text
        assert "GROUP" in text
        pilot.app.screen.query_one("#form", Select).value = "shift"
        pilot.app.screen.query_one("#amount", Input).value = "-10"
        await shows(pilot, "3 of 4 would change")
        await confirm(pilot, "2 groups")
        await shows(pilot, "3 reset")
    assert await world.committed() == {0: 30, 1: 30}
    assert await world.committed("ci-2") == {0: 30}
    assert await world.committed("ci-1") == {0: 40}
    assert {(row["group"], row["offset"]) for row in undo_rows()} == {("billing", 40), ("ci-2", 40)}


async def test_a_reset_waits_until_the_members_have_left(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reset, "AGAIN", 0.1)
    async with Client(world.settings(client_id="worker")) as client, world.open(size=(150, 36)) as pilot:
        group = GroupSettings(group="billing", auto_commit=False)
        async with client.consumer(group=group) as consumer:
            await consumer.subscribe(["orders"])
            await consumer.poll(5.0)
            await pilot.press("r")
            await shows(pilot, "Type billing to do it once Empty:")
            await confirm(pilot, "billing")
            await shows(pilot, "waiting; escape cancels the reset. billing: the group is")
            await pilot.pause(0.5)
            assert await world.committed() == {0: 40, 1: 40}
        await shows(pilot, "2 reset")
    assert await world.committed() == {0: 0, 1: 0}
    assert {row["offset"] for row in undo_rows()} == {40}


async def test_a_reset_that_waits_is_not_made_once_its_dialog_is_closed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reset, "AGAIN", 0.1)
    async with Client(world.settings()) as client, world.open(size=(150, 36)) as pilot:
        async with client.consumer(group=GroupSettings(group="billing", auto_commit=False)) as consumer:
            await consumer.subscribe(["orders"])
            await consumer.poll(5.0)
            await pilot.press("r")
            await shows(pilot, "once Empty:")
            await confirm(pilot, "billing")
            await shows(pilot, "waiting; escape cancels the reset.")
            await pilot.press("escape")
            await until(pilot, lambda: not isinstance(pilot.app.screen, Reset))
        await pilot.pause(0.5)
    assert await world.committed() == {0: 40, 1: 40}
