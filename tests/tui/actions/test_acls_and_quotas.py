"""ACLs and quotas are changed on their pages: added, changed and removed, one row or the marked ones, with an undo
file that the command takes back."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Input

from kcli.acls import Acl
from kcli.admin.acls import create_acls, describe_acls
from kcli.admin.quotas import alter_quotas, describe_quotas, entity
from kcli.client import Client
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, parse_bootstrap
from kcli.tui.app import Dashboard
from kcli.tui.session import LiveSession
from kcli.tui.widgets.rows import Rows
from tests.changes.undone import undo_files
from tests.tui.conftest import seen, shows, until, visit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.pilot import Pilot

pytestmark = pytest.mark.long

BOB = Acl("topic", "orders", "literal", "User:bob", "*", "read", "allow")
EVE = Acl("topic", "ord", "prefixed", "User:eve", "10.0.0.7", "all", "deny")
ANN = Acl("group", "billing", "literal", "User:ann", "*", "read", "allow")
ALICE = entity({"user": "alice", "client-id": None})
EVERY = entity({"ip": None})
QUOTAS = {
    ALICE: {"producer_byte_rate": 1048576.0, "request_percentage": 50.0},
    EVERY: {"connection_creation_rate": 20.0},
}


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxThread]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with SandboxThread(topics={"orders": 2}, super_users=["User:ANONYMOUS"]) as one:
        yield one


def settings(sandbox: SandboxThread, **more: object) -> ClientSettings:
    return ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap), **more)  # type: ignore[arg-type]


def board(sandbox: SandboxThread, **more: object) -> Dashboard:
    return Dashboard(LiveSession(settings(sandbox, **more), interval=0.5))


async def kcli(sandbox: SandboxThread, *words: str) -> int:
    """The exit code of a command in a process of its own."""
    line = (sys.executable, "-m", "kcli", *words, "-b", sandbox.bootstrap)
    return await (await asyncio.create_subprocess_exec(*line)).wait()


def undo_file(folder: Path) -> Path:
    return undo_files(folder)[-1]


async def with_acls(sandbox: SandboxThread) -> None:
    async with Client(settings(sandbox)) as client:
        assert not any((await create_acls(client.cluster, [BOB, EVE, ANN])).values())


async def with_quotas(sandbox: SandboxThread) -> None:
    async with Client(settings(sandbox)) as client:
        assert not any((await alter_quotas(client.cluster, QUOTAS)).values())


async def acls(sandbox: SandboxThread) -> set[Acl]:
    async with Client(settings(sandbox)) as client:
        return set(await describe_acls(client.cluster))


async def quotas(sandbox: SandboxThread) -> object:
    async with Client(settings(sandbox)) as client:
        return await describe_quotas(client.cluster)


async def at(pilot: Pilot[int], row: object) -> Rows:
    """The table of the page, with the cursor on a row."""
    table = pilot.app.screen.query_one(Rows)
    await until(pilot, lambda: any(one == row or one[1:3] == row for one in table.shown))
    table.cursor = next(n for n, one in enumerate(table.shown) if one == row or one[1:3] == row)
    return table


async def fill(pilot: Pilot[int], **fields: str) -> None:
    for name, text in fields.items():
        pilot.app.screen.query_one(f"#f-{name}", Input).value = text
        await pilot.pause()


async def confirmed(pilot: Pilot[int], word: str, outcome: str) -> str:
    """Type the word; the text of the screen with the outcome."""
    field = pilot.app.screen.query_one("#confirm", Input)
    field.focus()
    field.value = word
    await pilot.press("enter")
    return await shows(pilot, outcome)


async def test_nothing_is_allowed_where_an_acl_denies(sandbox: SandboxThread) -> None:
    await with_acls(sandbox)
    dan = Acl("topic", "orders", "literal", "User:dan", "*", "read", "deny")
    async with Client(settings(sandbox)) as client:
        assert not any((await create_acls(client.cluster, [dan])).values())
    offered: dict[str, set[str]] = {}
    async with board(sandbox).run_test(size=(150, 40)) as pilot:
        page = await visit(pilot, "acls topic orders")
        rows = page.query_one(Rows)
        await until(pilot, lambda: rows.shown)
        for number, row in enumerate(rows.shown):
            rows.cursor = number
            if row.operation == "read":
                offered[row.principal] = {act.label for act in page.acts()}
    assert "Allow read to User:dan …" not in offered["User:dan"]
    assert "Remove the ACL that decides this …" in offered["User:dan"]
    assert "Allow read to User:eve …" in offered["User:eve"], "no ACL denies it from everywhere"
    assert "Deny read to User:bob …" in offered["User:bob"]


async def test_an_acl_is_removed_and_its_undo_file_brings_it_back(sandbox: SandboxThread, tmp_path: Path) -> None:
    await with_acls(sandbox)
    async with board(sandbox).run_test(size=(160, 36)) as pilot:
        await visit(pilot, "acls")
        await at(pilot, EVE)
        await pilot.press("a")
        text = await shows(pilot, "Remove the ACL …")
        assert "the ACL of User:eve for topic ord" in text
        await pilot.press("D")
        text = await shows(pilot, "1 of 1 would change")
        for word in ("--topic ord --pattern prefixed", "--principal User:eve", "--host 10.0.0.7", "--permission deny"):
            assert word in text
        await confirmed(pilot, "orders", "nothing was changed")
        assert await acls(sandbox) == {BOB, EVE, ANN}
        text = await confirmed(pilot, "ord", "1 removed")
        assert "kcli undo" in text
        assert await acls(sandbox) == {BOB, ANN}
    assert await kcli(sandbox, "undo", str(undo_file(tmp_path)), "--execute") == 0
    assert await acls(sandbox) == {BOB, EVE, ANN}


async def test_marked_acls_go_in_one_plan_and_no_command_is_claimed_for_them(sandbox: SandboxThread) -> None:
    await with_acls(sandbox)
    async with board(sandbox).run_test(size=(160, 36)) as pilot:
        await visit(pilot, "acls")
        for acl in (BOB, ANN):
            await at(pilot, acl)
            await pilot.press("m")
        await pilot.press("a")
        await shows(pilot, "no single command does this")
        await pilot.press("D")
        await shows(pilot, "2 of 2 would change")
        assert "kcli acls remove" not in seen(pilot)
        await confirmed(pilot, "2 ACLs", "2 removed")
        assert await acls(sandbox) == {EVE}


async def test_an_acl_is_added_for_the_resource_of_a_row(sandbox: SandboxThread) -> None:
    await with_acls(sandbox)
    async with board(sandbox).run_test(size=(160, 36)) as pilot:
        await visit(pilot, "acls")
        await at(pilot, EVE)
        await pilot.press("a", "N")
        await shows(pilot, "principal: missing")
        await fill(pilot, principal="zoe", operation="reed")
        await shows(pilot, "operation: expected one of read")
        await fill(pilot, operation="write", permission="deny", host="10.0.0.9")
        text = await shows(pilot, "1 of 1 would change")
        command = (
            "kcli acls add --deny zoe --deny-host 10.0.0.9 --operation write --topic ord --pattern prefixed --execute"
        )
        assert command in " ".join(text.split())
        await confirmed(pilot, "ord", "1 added")
        new = Acl("topic", "ord", "prefixed", "User:zoe", "10.0.0.9", "write", "deny")
        assert await acls(sandbox) == {BOB, EVE, ANN, new}
        assert await kcli(sandbox, *shlex.split(command)[1:]) == 0  # the command means the same: it exists
        assert await acls(sandbox) == {BOB, EVE, ANN, new}


async def test_without_acls_the_menu_adds_the_first(sandbox: SandboxThread) -> None:
    async with board(sandbox).run_test(size=(160, 36)) as pilot:
        await visit(pilot, "acls")
        await shows(pilot, "ACLs (0)")
        await pilot.press("a", "+")
        await shows(pilot, "an ACL needs the name of a topic")
        await fill(pilot, name="orders", principal="User:bob")
        await shows(pilot, "1 of 1 would change")
        await confirmed(pilot, "orders", "1 added")
        assert await acls(sandbox) == {BOB}


async def test_a_quota_is_changed_and_the_undo_file_has_what_was_set(sandbox: SandboxThread, tmp_path: Path) -> None:
    await with_quotas(sandbox)
    async with board(sandbox).run_test(size=(160, 36)) as pilot:
        await visit(pilot, "quotas")
        await at(pilot, (ALICE, "producer_byte_rate"))
        await pilot.press("a", "c")
        await shows(pilot, "nothing to change")
        await fill(pilot, limit="10MiB")
        text = await shows(pilot, "1 of 1 would change")
        line = "kcli quotas alter --user alice --client-id-default producer_byte_rate=10MiB --execute"
        assert line in " ".join(text.split())
        await fill(pilot, limit="ten")
        await shows(pilot, "ten")
        await fill(pilot, limit="10MiB")
        await shows(pilot, "1 of 1 would change")
        await confirmed(pilot, "alice", "1 done")
    found = await quotas(sandbox)
    assert isinstance(found, dict)
    assert found[ALICE]["producer_byte_rate"] == 10 * 1048576
    kept = json.loads(undo_file(tmp_path).read_text())["quotas"]
    assert kept == [{"entity": {"user": "alice", "client-id": None}, "quota": "producer_byte_rate", "value": 1048576.0}]


async def test_marked_quotas_are_removed_and_another_is_set(sandbox: SandboxThread) -> None:
    await with_quotas(sandbox)
    async with board(sandbox).run_test(size=(160, 36)) as pilot:
        await visit(pilot, "quotas")
        for row in ((ALICE, "producer_byte_rate"), (ALICE, "request_percentage")):
            await at(pilot, row)
            await pilot.press("m")
        await pilot.press("a", "D")
        text = await shows(pilot, "2 of 2 would change")
        assert "--delete producer_byte_rate --delete request_percentage" in " ".join(text.split())
        await confirmed(pilot, "2 quotas", "2 done")
        assert await quotas(sandbox) == {EVERY: {"connection_creation_rate": 20.0}}
        await pilot.press("escape", "u", "a", "+")
        await shows(pilot, "enter at least one of them")
        await fill(pilot, user="bob", quota="consumer_byte_rate", limit="5MiB/s")
        await shows(pilot, "1 of 1 would change")
        await confirmed(pilot, "bob", "1 done")
    assert (await quotas(sandbox))[entity({"user": "bob"})] == {"consumer_byte_rate": 5 * 1048576.0}  # type: ignore[index]


async def test_a_read_only_profile_changes_neither(sandbox: SandboxThread) -> None:
    await with_acls(sandbox)
    async with board(sandbox, guard="read_only").run_test(size=(160, 36)) as pilot:
        await visit(pilot, "acls")
        await at(pilot, BOB)
        await pilot.press("a")
        await shows(pilot, "Remove the ACL …")
        await pilot.press("D")
        await shows(pilot, "is read-only")
    assert await acls(sandbox) == {BOB, EVE, ANN}
