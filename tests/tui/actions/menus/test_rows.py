"""An action of each page's menu, begun with `a`, planned, confirmed, and seen in the cluster; and its way back."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Input

from kcli.acls import Acl
from kcli.admin.configs import Resource, describe_configs
from kcli.admin.reassign.reassignments import list_reassignments
from kcli.asking.offsets import EARLIEST, list_offsets
from kcli.changes import journal
from kcli.model import TopicPartition
from kcli.tui.app import Dashboard
from kcli.tui.dialogs.menu import Menu
from kcli.tui.dialogs.produce import Produce
from kcli.tui.screens.brokers import Broker
from kcli.tui.screens.clusters import Clusters
from kcli.tui.screens.record import RecordView
from kcli.tui.widgets.rows import Rows
from tests.tui.actions.menus.conftest import ANN, BOB, MOVING
from tests.tui.conftest import seen, shows, until, visit

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from kcli.client import Client
    from tests.tui.actions.menus.conftest import Shop

pytestmark = pytest.mark.long


async def begin(pilot: Pilot[int], key: str, about: str, outcome: str = "1 of 1 would change") -> str:
    """Open the menu, which is about something, and one of its actions, whose plan is awaited."""
    await pilot.press("a")
    await shows(pilot, f"Actions on {about}")
    await pilot.press(key)
    return await shows(pilot, outcome)


async def fill(pilot: Pilot[int], field: str, text: str, outcome: str = "1 of 1 would change") -> str:
    pilot.app.screen.query_one(f"#f-{field}", Input).value = text
    return await shows(pilot, outcome)


async def confirm(pilot: Pilot[int], word: str, outcome: str) -> str:
    line = pilot.app.screen.query_one("#confirm", Input)
    line.focus()
    line.value = word
    await pilot.press("enter")
    return await shows(pilot, outcome)


async def kcli(shop: Shop, *words: str) -> int:
    """The exit code of a command in a process of its own."""
    line = (sys.executable, "-m", "kcli", *words, "-b", shop.sandbox.bootstrap)
    return await (await asyncio.create_subprocess_exec(*line)).wait()


def undo_numbers(command: str) -> list[str]:
    """The numbers of the changes of the journal that can be undone, of this command."""
    return [str(one.number) for one in journal.entries() if one.undoable and one.command.startswith(f"kcli {command}")]


async def config(shop: Shop, at: Resource, name: str) -> tuple[str | None, str]:
    """The value of a config, and what set it."""

    async def ask(client: Client) -> tuple[str | None, str]:
        configs = (await describe_configs(client.cluster, [at], names=[name]))[at]
        assert isinstance(configs, list)
        return configs[0].value, configs[0].source

    found: tuple[str | None, str] = await shop.ask(ask)
    return found


THREADS = "log.cleaner.threads"


async def test_configs_of_a_broker_and_of_all_brokers(shop: Shop, tmp_path: Path) -> None:
    async with shop.open() as pilot:
        await visit(pilot, "brokers")
        await shows(pilot, "Brokers (4)")
        await begin(pilot, "c", "broker 1", "such as log.cleaner.threads=2")
        text = await fill(pilot, "configs", f"{THREADS}=2")
        assert f"kcli configs set broker 1 {THREADS}=2 --execute" in text
        await confirm(pilot, "1", "nothing was changed")
        await confirm(pilot, "broker 1", "1 done.")
        assert await config(shop, Resource("broker", "1"), THREADS) == ("2", "broker")
        assert (await config(shop, Resource("broker", "2"), THREADS))[1] != "broker"
        await pilot.press("escape")
        await begin(pilot, "C", "broker 1", "such as log.cleaner.threads=2")
        text = await fill(pilot, "configs", f"{THREADS}=2")
        assert f"kcli configs set broker default {THREADS}=2 --execute" in text
        await confirm(pilot, "all brokers", "1 done.")
        assert await config(shop, Resource("broker", "2"), THREADS) == ("2", "all brokers")
    assert await kcli(shop, "undo", *undo_numbers("configs set broker 1"), "--execute") == 0
    assert await kcli(shop, "undo", *undo_numbers("configs set broker default"), "--execute") == 0
    assert (await config(shop, Resource("broker", "1"), THREADS))[1] not in ("broker", "all brokers")


async def test_setting_and_unsetting_at_once_are_two_commands_for_the_same_cluster(shop: Shop) -> None:
    async with shop.open(size=(220, 40)) as pilot:
        await visit(pilot, "brokers")
        await shows(pilot, "Brokers (4)")
        await begin(pilot, "c", "broker 1", "such as log.cleaner.threads=2")
        await fill(pilot, "configs", f"{THREADS}=2 message.max.bytes=", "1 of 2 would change")
        await pilot.press("ctrl+o")
        at = f"--execute -b {shop.sandbox.bootstrap}"
        sets, drops = f"set broker 1 {THREADS}=2", "unset broker 1 message.max.bytes"
        assert pilot.app.clipboard == f"kcli configs {sets} {at} && kcli configs {drops} {at}"


async def test_the_page_of_a_broker_changes_the_config_under_the_cursor(shop: Shop) -> None:
    async with shop.open() as pilot:
        page = await visit(pilot, "broker 2")
        assert isinstance(page, Broker)
        await shows(pilot, "leads")
        await pilot.press("a")
        await shows(pilot, "on broker 2")
        assert "Trim partition" in seen(pilot)
        await pilot.press("escape", "3")
        table = page.query_one("#configs", Rows)
        await until(pilot, lambda: table.shown and page.tab == "configs")
        table.cursor = next(n for n, one in enumerate(table.shown) if one.name == THREADS)
        await pilot.pause()
        await begin(pilot, "=", "broker 2")  # the default as an override
        await fill(pilot, "configs", f"{THREADS}=2")
        await confirm(pilot, "broker 2", "1 done.")
        fixed = next(n for n, one in enumerate(table.shown) if one.read_only)
        table.cursor = fixed
        assert "v" not in [act.key for act in page.acts()], "brokers refuse this one"
    assert await config(shop, Resource("broker", "2"), THREADS) == ("2", "broker")


async def test_the_heatmaps_menu_is_of_the_partition_under_the_cursor(shop: Shop) -> None:
    async with shop.open() as pilot:
        await visit(pilot, "heatmap")
        await shows(pilot, "orders[0]")
        await pilot.press("right")
        await shows(pilot, "orders[1]")
        await begin(pilot, "p", "orders[1]", "nothing to change")
        text = await fill(pilot, "before", "7")
        assert "kcli topics trim orders:1 --before 7 --execute" in text
        await confirm(pilot, "orders", "1 trimmed.")
    assert await starts(shop) == {0: 0, 1: 7}


async def starts(shop: Shop) -> dict[int, int]:
    async def ask(client: Client) -> dict[int, int]:
        found = await list_offsets(client.cluster, {TopicPartition("orders", n): EARLIEST for n in range(2)})
        return {at.partition: getattr(one, "offset", -1) for at, one in found.items()}

    found: dict[int, int] = await shop.ask(ask)
    return found


async def test_records_are_shown_whole_sent_again_and_trimmed_before_one(shop: Shop) -> None:
    async with shop.open() as pilot:
        page = await visit(pilot, "records orders")
        rows = page.query_one(Rows)

        async def send(client: Client) -> None:
            async with client.producer() as producer:
                for n in range(3):
                    await producer.send("orders", b'{"id": 9%d}' % n, b"new", partition=1)

        await until(pilot, lambda: len(rows.shown) == 40)  # all of before: what is sent now comes last
        await shop.ask(send)
        await until(pilot, lambda: rows.shown and rows.shown[-1].offset == 22)
        rows.cursor = len(rows.shown) - 2
        await pilot.press("a")
        text = await shows(pilot, "Actions on orders[1] at 21")
        assert "kcli consume orders -p 1 -o 21 -c 1 -J" in text
        await pilot.press("W")
        await until(pilot, lambda: isinstance(pilot.app.screen, RecordView))
        await pilot.press("a", "e")
        await until(pilot, lambda: isinstance(pilot.app.screen, Produce))
        await shows(pilot, '{"id": 91}')
        await pilot.press("escape", "escape")
        await until(pilot, lambda: pilot.app.screen is page)
        text = await begin(pilot, "T", "orders[1] at 21")
        assert "kcli topics trim orders:1 --before 21 --execute" in text
        await confirm(pilot, "orders", "1 trimmed.")
    assert await starts(shop) == {0: 0, 1: 21}


async def test_access_is_given_taken_and_its_rule_removed(shop: Shop, tmp_path: Path) -> None:
    async with shop.open() as pilot:
        page = await visit(pilot, "acls topic orders")
        rows = page.query_one(Rows)
        await until(pilot, lambda: rows.shown)

        async def at(operation: str, principal: str) -> None:
            await until(pilot, lambda: any(one[:2] == (operation, principal) for one in rows.shown))
            rows.cursor = next(n for n, one in enumerate(rows.shown) if one[:2] == (operation, principal))
            await pilot.pause()

        await at("write", "User:*")
        text = await begin(pilot, "A", "the access to topic orders")
        assert "kcli acls add --allow 'User:*' --operation write --topic orders --pattern literal --execute" in text
        await confirm(pilot, "orders", "1 added")
        everyone = Acl("topic", "orders", "literal", "User:*", "*", "write", "allow")
        assert await shop.acls() == {BOB, ANN, everyone}
        await pilot.press("escape", "ctrl+r")
        await at("read", "User:bob")
        text = await begin(pilot, "A", "the access to topic orders")
        assert "kcli acls add --deny User:bob" in text, "one that may can be denied"
        await pilot.press("escape")
        await begin(pilot, "D", "the access to topic orders")
        await confirm(pilot, "orders", "1 removed")
        assert await shop.acls() == {ANN, everyone}
        await pilot.press("escape")
        await at("read", "User:ANONYMOUS")
        assert [act.key for act in page.acts()] == ["N", "o"], "no ACL binds a super user"


async def test_a_move_is_cancelled_and_begun_again_by_undo(shop: Shop, tmp_path: Path) -> None:
    async def moving(client: Client) -> bool:
        return MOVING in await list_reassignments(client.cluster)

    async with shop.open() as pilot:
        await visit(pilot, "reassignments")
        await shows(pilot, "Reassignments in progress (1)")
        text = await begin(pilot, "X", "the move of payments[0]")
        assert "kcli reassign cancel payments:0 --keep-throttle --execute" in text
        await confirm(pilot, "payments", "1 cancelled.")
        assert not await shop.ask(moving)
        await pilot.press("escape")
        await shows(pilot, "No partition moves now")
        await begin(pilot, "e", "all topics", "nothing to change")
    assert await kcli(shop, "undo", *undo_numbers("reassign cancel"), "--execute", "--no-undo") == 0
    assert await shop.ask(moving)


async def test_a_subject_is_deleted_and_registered_again_by_undo(shop: Shop, tmp_path: Path) -> None:
    registry = shop.registry()
    try:
        async with shop.open() as pilot:
            await visit(pilot, "schemas")
            await shows(pilot, "BACKWARD")
            await begin(pilot, "c", "subject orders-value")  # the one of all subjects is offered as its own
            await fill(pilot, "level", "fully", "level: it is NONE")
            text = await fill(pilot, "level", "full")
            assert f"kcli registry compat orders-value --set full --execute{shop.option}" in text
            text = await confirm(pilot, "orders-value", "1 changed.")
            assert "To undo this: z, or kcli undo 1 --execute" in " ".join(text.split())
            assert await registry.client.level("orders-value", inherited=False) == "FULL"
            await pilot.press("escape")
            await begin(pilot, "D", "subject orders-value", "2 of 2 would change")
            await confirm(pilot, "orders-value", "2 deleted.")
            assert await registry.client.subjects() == ["payments-value"]
            await pilot.press("escape")
            await visit(pilot, "schema payments-value")
            await shows(pilot, "FULL")
            text = await begin(pilot, "d", "subject payments-value version 2")
            assert "kcli registry delete payments-value@2 --execute" in text
            await confirm(pilot, "payments-value@2", "1 deleted.")
            assert await registry.client.versions("payments-value") == [1]
        for number in undo_numbers("registry delete"):
            words = ("undo", number, "--execute", *shop.option.split())
            assert await kcli(shop, *words) == 0
        assert len(await registry.client.versions("payments-value")) == 2
        assert len(await registry.client.versions("orders-value")) == 2
    finally:
        await registry.close()


async def test_a_read_only_session_changes_no_schema(shop: Shop) -> None:
    async with shop.open(guard="read_only", profile="prod") as pilot:
        await visit(pilot, "schemas")
        await shows(pilot, "BACKWARD")
        await pilot.press("a", "D")
        await shows(pilot, "Profile prod is read-only")
        assert isinstance(pilot.app.screen, Menu)


async def test_a_protected_profile_changes_schemas_once_its_name_is_typed(shop: Shop) -> None:
    async with shop.open(guard="protected", profile="prod") as pilot:
        await visit(pilot, "schemas")
        await shows(pilot, "BACKWARD")
        text = await begin(pilot, "D", "subject orders-value", "2 of 2 would change")
        assert "--confirm prod" in text
        await confirm(pilot, "orders-value", "is not prod")
        await confirm(pilot, "prod", "2 deleted.")


async def test_another_cluster_is_opened_from_its_menu_and_its_commands_name_it(shop: Shop) -> None:
    profiles = dict.fromkeys(("prod", "staging"), shop.session)
    async with shop.open(profiles=profiles) as pilot:  # type: ignore[arg-type]
        page = await visit(pilot, "clusters")
        assert isinstance(page, Clusters)
        await shows(pilot, "staging")
        page.query_one(Rows).cursor = next(
            n for n, one in enumerate(page.query_one(Rows).shown) if one.name == "staging"
        )
        await pilot.press("a")
        text = await shows(pilot, "Actions on cluster staging")
        assert "$ kcli tui --profile staging" in text
        assert "--profile staging -b" not in text
        await pilot.press("d")
        await until(pilot, lambda: pilot.app.clipboard == "kcli doctor --profile staging")
        first = pilot.app
        assert isinstance(first, Dashboard)
        before = first.session
        await pilot.press("a", "o")
        await until(pilot, lambda: first.session is not before)
