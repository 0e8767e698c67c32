"""The menu of actions and the dialog of changes: what a row offers, plan, typed name, outcome, undo."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from textual.events import Key
from textual.widgets import Input, Select

from kcli.admin.configs import Resource, describe_configs
from kcli.admin.groups.offset_files import read as read_offsets
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.admin.transactions.transactions import Described, describe_transactions
from kcli.asking.offsets import EARLIEST, list_offsets
from kcli.changes.configs import read_undo
from kcli.client import Client
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.settings import ProducerSettings
from kcli.text.json_object import read_object
from kcli.tui.actions.changes.topics import AlterConfigs, CreateTopic, TrimTopic
from kcli.tui.actions.producing import described
from kcli.tui.dialogs.change import Changing
from kcli.tui.dialogs.menu import Menu
from kcli.tui.dialogs.produce import Produce
from kcli.tui.dialogs.reset import Reset
from kcli.tui.screens.groups import Groups
from kcli.tui.screens.page import Page
from kcli.tui.widgets.rows import Rows
from tests.changes.undone import undo_files
from tests.tui.conftest import seen, shows, until, visit
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.pilot import Pilot

    from kcli.tui.actions.changes.change import Change


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # the undo files of this test alone
    with a_world() as made:
        yield made


async def opened(pilot: Pilot[int], change: Change, ready: str = "would change") -> Changing:
    """The dialog of a change over the page in front, with its plan."""
    page: Any = pilot.app.screen
    assert isinstance(page, Page)
    page.begin(change)
    await until(pilot, lambda: isinstance(pilot.app.screen, Changing))
    await shows(pilot, ready)
    dialog = pilot.app.screen
    assert isinstance(dialog, Changing)
    return dialog


async def confirm(pilot: Pilot[int], word: str) -> None:
    pilot.app.screen.query_one("#confirm", Input).focus()
    await pilot.press(*word, "enter")


def undo_file() -> Path:
    (path,) = undo_files(Path(os.environ["XDG_STATE_HOME"]))
    return path


def kept_offsets(group: str) -> dict[int, int]:
    """The offsets of the undo file of a group, by partition."""
    saved = read_offsets(undo_file().read_text(), "undo").groups[group]
    return {at.partition: one.offset for at, one in saved.items() if one is not None}


async def test_a_row_says_what_can_be_done_with_its_key_and_its_command(world: World) -> None:
    async with world.open() as pilot:
        await shows(pilot, "billing")
        await pilot.press("a")
        await shows(pilot, "Actions on group billing")
        text = await shows(pilot, f"$ kcli acls who-can read group billing -b {world.sandbox.bootstrap}")
        labels = ("Its ACLs", "Acknowledge", "Reset its offsets …", "Delete the group …")
        assert sorted(labels, key=text.index) == list(labels), "what deletes comes last"
        await pilot.press("up", "ctrl+o")
        assert pilot.app.clipboard == f"kcli groups delete billing --execute -b {world.sandbox.bootstrap}"
        await pilot.press("r")
        await until(pilot, lambda: isinstance(pilot.app.screen, Reset))
        await pilot.press("escape")
        await visit(pilot, "topic orders")
        await shows(pilot, "OF THE LARGEST")
        await pilot.press("a")
        text = await shows(pilot, "Actions on topic orders")
        for label in ("Trim partition 0", "Elect its preferred leaders", "Delete the topic", "Produce a record"):
            assert label in text
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, Menu))


async def test_a_read_only_profile_shows_what_it_refuses(world: World) -> None:
    async with world.open(guard="read_only", profile="prod") as pilot:
        await shows(pilot, "billing")
        await pilot.press("a")
        await shows(pilot, "Profile prod is read-only")
        await pilot.press("D")
        assert isinstance(pilot.app.screen, Menu)
        await pilot.press("A")
        await shows(pilot, "Access to group billing")


async def test_a_topic_is_created_after_its_name_was_typed_and_the_command_that_undoes_it_is_shown(
    world: World,
) -> None:
    async with world.open(size=(150, 36)) as pilot:
        dialog = await opened(pilot, CreateTopic(), "name: a topic needs a name")
        for name, text in (("name", "audit"), ("partitions", "3"), ("configs", "retention.ms=7d")):
            dialog.query_one(f"#f-{name}", Input).value = text
        await shows(pilot, "3 partitions, 1 replicas")
        await shows(pilot, "$ kcli topics create audit -p 3 --config retention.ms=7d -b")
        await confirm(pilot, "audits")
        await shows(pilot, "nothing was changed: 'audits' is not audit")
        dialog.query_one("#confirm", Input).value = ""
        await confirm(pilot, "audit")
        await shows(pilot, "1 created.")
        await shows(pilot, "To undo this: z, or kcli undo 1 --execute")
    async with Client(world.settings()) as client:
        topic = (await describe_topics(client.cluster, ["audit"]))["audit"]
        assert isinstance(topic, Topic)
        assert len(topic.partitions) == 3
        assert await value_of(client, "audit", "retention.ms") == "604800000"


async def value_of(client: Client, topic: str, name: str) -> str | None:
    at = Resource("topic", topic)
    configs = (await describe_configs(client.cluster, [at], names=[name]))[at]
    assert isinstance(configs, list)
    return configs[0].value


async def test_a_wrong_number_is_said_at_once(world: World) -> None:
    async with world.open() as pilot:
        dialog = await opened(pilot, CreateTopic(), "name: a topic needs a name")
        dialog.query_one("#f-name", Input).value = "x"
        dialog.query_one("#f-partitions", Input).value = "no"
        await shows(pilot, "partitions: expected a number of 1 or more")
        await confirm(pilot, "x")
        await shows(pilot, "there is no plan yet")


async def test_a_change_that_the_end_of_the_dashboard_cuts_is_said(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = asyncio.Event()

    async def never(*_: object, **__: object) -> None:
        begun.set()
        await asyncio.sleep(600)

    async with world.open() as pilot:
        dialog = await opened(pilot, CreateTopic(), "name: a topic needs a name")
        dialog.query_one("#f-name", Input).value = "audit"
        await shows(pilot, "would change")
        monkeypatch.setattr(dialog.session, "change", never)
        await confirm(pilot, "audit")
        await asyncio.wait_for(begun.wait(), 10)
        pilot.app.exit(0)
    told = " ".join(capsys.readouterr().err.split())
    assert "A change was in progress: its outcome is unknown. `kcli history` lists it" in told


async def test_configs_are_changed_and_the_journal_has_what_was_set(world: World) -> None:
    async with world.open(size=(150, 36)) as pilot:
        dialog = await opened(pilot, AlterConfigs(Resource("topic", "orders")), "configs: KEY=VALUE")
        dialog.query_one("#f-configs", Input).value = "retention.ms=1h"
        await shows(pilot, "1 of 1 would change")
        await confirm(pilot, "orders")
        await shows(pilot, "1 done.")
        await shows(pilot, "To undo this: z, or kcli undo")
    async with Client(world.settings()) as client:
        assert await value_of(client, "orders", "retention.ms") == "3600000"
    ((at, operations),) = read_undo(read_object(undo_file().read_text())).items()
    assert at == Resource("topic", "orders")
    assert [(one.name, one.value) for one in operations] == [("retention.ms", None)]


async def test_a_value_of_the_cluster_in_a_field_is_drawn_without_what_a_terminal_acts_on(world: World) -> None:
    evil = "1:2\x1b]2;title\x07\x9b31m"
    async with world.open() as pilot:
        change = AlterConfigs(Resource("topic", "orders"), "leader.replication.throttled.replicas", evil)
        dialog = await opened(pilot, change, "␛]2;title")
        assert all(one.isprintable() for one in seen(pilot).replace("\n", ""))
        assert dialog.query_one("#f-configs", Input).value.endswith(evil)


async def test_records_before_an_offset_go(world: World) -> None:
    async with world.open(size=(120, 36)) as pilot:
        dialog = await opened(pilot, TrimTopic("orders", 1), "nothing to change")  # @-7d: nothing is so old
        dialog.query_one("#f-before", Input).value = "60"
        await shows(pilot, "60 offsets")
        await shows(pilot, "$ kcli topics trim orders:1 --before 60 --execute")
        await confirm(pilot, "orders")
        await shows(pilot, "1 trimmed.")
    async with Client(world.settings()) as client:
        starts = await list_offsets(client.cluster, {TopicPartition("orders", n): EARLIEST for n in range(2)})
        assert {at.partition: getattr(one, "offset", None) for at, one in starts.items()} == {0: 0, 1: 60}


async def test_a_topic_is_deleted_from_its_menu(world: World) -> None:
    async with world.open() as pilot:
        await pilot.press("ctrl+t")
        await shows(pilot, "Topics (1)")
        await pilot.press("a")
        await shows(pilot, "Actions on topic orders")
        await pilot.press("D")
        await shows(pilot, "2 partitions, 200 offsets")
        await shows(pilot, "Type orders to do it:")
        await confirm(pilot, "orders")
        await shows(pilot, "1 deleted.")
        await pilot.press("escape")
        await shows(pilot, "Topics (0)")


async def test_a_deleted_group_can_be_restored(world: World) -> None:
    async with world.open() as pilot:
        await shows(pilot, "billing")
        await pilot.press("a")
        await shows(pilot, "Actions on group billing")
        await pilot.press("D")
        await shows(pilot, "2 committed offsets")
        await confirm(pilot, "billing")
        await shows(pilot, "1 deleted.")
    assert kept_offsets("billing") == {0: 40, 1: 40}
    assert await world.committed() == {}


async def test_leaders_that_are_preferred_need_no_election(world: World) -> None:
    async with world.open() as pilot:
        await visit(pilot, "topic orders")
        await shows(pilot, "OF THE LARGEST")
        await pilot.press("a")
        await shows(pilot, "Actions on topic orders")
        await pilot.press("e")
        await shows(pilot, "not needed")
        await confirm(pilot, "orders")
        await shows(pilot, "nothing to change")


async def test_a_fenced_producer_has_no_open_transaction(world: World) -> None:
    async with Client(world.settings()) as client:
        async with client.producer(ProducerSettings(transactional_id="billing-1")) as producer:
            await producer.begin()
            await producer.send("orders", b"open", partition=0)
            await producer.flush()
            async with world.open() as pilot:
                await visit(pilot, "transactions")
                await shows(pilot, "1 open")
                await pilot.press("a")
                await shows(pilot, "Actions on transactional id billing-1")
                await pilot.press("F")
                await shows(pilot, "would fence")
                await confirm(pilot, "billing-1")
                await shows(pilot, "1 fenced.")
            known = (await describe_transactions(client.cluster, ["billing-1"]))["billing-1"]
            assert isinstance(known, Described)
            assert known.age is None
            await producer.abort_buffered()


async def test_a_hanging_transaction_is_aborted(world: World) -> None:
    world.sandbox.call(lambda inside: inside.faults.logs.hang_transaction("orders", 1, age=3600))
    async with world.open() as pilot:
        await visit(pilot, "transactions")
        await shows(pilot, "Transactional ids")
        await pilot.press("2")
        await shows(pilot, "no coordinator knows producer id")
        await pilot.press("a")
        await shows(pilot, "Abort it in this partition")
        await pilot.press("A")
        await shows(pilot, "would abort")
        await confirm(pilot, "orders")
        await shows(pilot, "1 aborted.")


async def test_a_protected_profile_wants_its_own_name(world: World) -> None:
    async with world.open(guard="protected", profile="prod", size=(150, 36)) as pilot:
        dialog = await opened(pilot, AlterConfigs(Resource("topic", "orders"), "retention.ms", "3600000"))
        await shows(pilot, "Type prod to do it:")
        assert "--confirm prod" in dialog.command
        await confirm(pilot, "orders")
        await shows(pilot, "'orders' is not prod")
        dialog.query_one("#confirm", Input).value = ""
        await confirm(pilot, "prod")
        await shows(pilot, "1 done.")


# -- fields of dialogs ---


async def test_what_is_typed_before_a_dialog_is_seen_is_in_none_of_its_fields(world: World) -> None:
    async with world.open() as pilot:
        await shows(pilot, "billing")
        for letter in "rlatest":
            pilot.app.post_message(Key(letter, letter))  # at once, as a terminal that was typed ahead in
        await until(pilot, lambda: isinstance(pilot.app.screen, Reset))
        await until(pilot, lambda: getattr(pilot.app.focused, "id", "") == "confirm")
        screen = pilot.app.screen
        assert screen.query_one("#form", Select).value == "earliest"
        assert not screen.query_one("#confirm", Input).value
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, Groups))
        for letter in "norders":
            pilot.app.post_message(Key(letter, letter))
        await until(pilot, lambda: isinstance(pilot.app.screen, Produce))
        await until(pilot, lambda: getattr(pilot.app.focused, "id", "") == "topic")
        assert not pilot.app.screen.query_one("#topic", Input).value


async def test_what_is_typed_behind_a_menus_key_is_in_no_field_of_its_change(world: World) -> None:
    async with world.open() as pilot:
        await pilot.press("ctrl+t")
        await shows(pilot, "in sync")
        await pilot.press("a")
        await shows(pilot, "Actions on topic orders")
        for letter in "corders":
            pilot.app.post_message(Key(letter, letter))
        await until(pilot, lambda: isinstance(pilot.app.screen, Changing))
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        assert not [field.value for field in pilot.app.screen.query(Input) if field.value]


async def test_keys_that_were_held_up_until_the_dialog_is_seen_are_for_none_of_its_fields(world: World) -> None:
    async with world.open() as pilot:
        await shows(pilot, "billing")
        await pilot.press("n")
        await until(pilot, lambda: getattr(pilot.app.focused, "id", "") == "topic")
        dialog = pilot.app.screen
        assert isinstance(dialog, Produce)
        for letter, wait in (("a", -0.1), ("b", 0.1), ("enter", -0.1), ("c", 0.1), ("escape", -0.1)):
            key = Key(letter, letter if len(letter) == 1 else None)
            key.time = dialog.seen_at + wait
            pilot.app.post_message(key)
            if letter == "c":
                await until(pilot, lambda: pilot.app.screen.query_one("#topic", Input).value != "b")
                assert pilot.app.screen.query_one("#topic", Input).value == "bc"
                assert getattr(pilot.app.focused, "id", "") == "topic"
        await until(pilot, lambda: isinstance(pilot.app.screen, Groups))


async def test_tab_goes_through_the_produce_form_as_it_is_read(world: World) -> None:
    async with world.open() as pilot:
        await shows(pilot, "billing")
        await pilot.press("n")
        await until(pilot, lambda: getattr(pilot.app.focused, "id", "") == "topic")
        order = []
        for _ in range(7):
            order.append(getattr(pilot.app.focused, "id", ""))
            await pilot.press("tab")
        assert order == ["topic", "partition", "key", "null-key", "value", "null-value", "headers"]


async def test_the_produce_form_says_what_is_wrong_while_one_types(world: World) -> None:
    async with world.open() as pilot:
        await shows(pilot, "billing")
        await pilot.press("n")
        await until(pilot, lambda: getattr(pilot.app.focused, "id", "") == "topic")
        await pilot.press(*"nope")
        await shows(pilot, "topic nope: the cluster has no such topic")
        async with Client(world.settings()) as client:
            assert "nope" not in await describe_topics(client.cluster), "asking creates nothing"
        screen = pilot.app.screen
        screen.query_one("#topic", Input).value = "orders"
        screen.query_one("#partition", Input).value = "2"
        await shows(pilot, "partition 2: orders has 2, from 0 to 1")
        screen.query_one("#partition", Input).value = "1"
        screen.query_one("#key", Input).focus()
        await pilot.press(*"k1", "tab", "tab", *'{"a": 1')
        await shows(pilot, "no JSON: Expecting ',' delimiter (line 1, column 8)")
        await pilot.press("}")
        await shows(pilot, "JSON, 1 field")
        await shows(pilot, "-k k1")
        await pilot.press("ctrl+s")
        await shows(pilot, "1 sent; the last one is in orders[1]")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        ("", "empty"),
        ("abc", "text, 3 bytes"),
        ("[1, 2]", "JSON, 2 items"),
        ("[7]", "JSON, 1 item"),
        ("{", "✖ no JSON"),
    ],
)
def test_the_form_says_what_a_value_is(value: str | None, words: str) -> None:
    assert described(value).startswith(words)


async def test_a_reset_plan_begins_with_what_changes_and_keeps_the_lag_at_80_columns(world: World) -> None:
    async with world.open(size=(80, 24)) as pilot:
        await shows(pilot, "billing")
        await pilot.press("r")
        await shows(pilot, "2 of 2 would change")
        rows = pilot.app.screen.query_one("#plan", Rows)
        first, second = rows.shown
        first.result = "unchanged"
        for change in (first, second):
            change.before, change.after = OffsetAndMetadata(1_234_567_890), OffsetAndMetadata(987_654_321)
            change.end = 2_234_567_890
        rows.put([first, second])
        text = await shows(pilot, "unchanged")
        assert rows.shown == [second, first]
        assert "LAG THEN" in text
        assert "1,246,913,569" in text
