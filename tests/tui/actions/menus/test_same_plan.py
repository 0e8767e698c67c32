"""A form of the dashboard plans what the command under it plans: row by row, with the same values."""

from __future__ import annotations

import asyncio
import json
import shlex
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from kcli.admin.configs import Resource
from kcli.admin.groups.rows import Member
from kcli.admin.quotas import entity
from kcli.cli.main import main
from kcli.client import Client
from kcli.model import TopicPartition
from kcli.tui.actions.changes.change import Change
from kcli.tui.actions.changes.groups import DeleteGroups, RemoveMember
from kcli.tui.actions.changes.rules import AddAcl, RemoveAcls, RemoveQuotas, SetQuota
from kcli.tui.actions.changes.schemas import DeleteSubject, SetLevel
from kcli.tui.actions.changes.topics import (
    AddPartitions,
    AlterConfigs,
    CancelMove,
    CreateTopic,
    DeleteTopics,
    ElectLeaders,
    TrimTopic,
)
from kcli.tui.actions.changes.transactions import Abort, Fence
from kcli.tui.dialogs.reset import Resetting
from kcli.tui.dialogs.undo import Undoing
from tests.tui.actions.menus.conftest import ANN, BOB, MOVING
from tests.tui.actions.menus.test_offered import seeded, split

if TYPE_CHECKING:
    from tests.tui.actions.menus.conftest import Shop

ORDERS, ALICE = Resource("topic", "orders"), entity({"user": "alice"})
AT = TopicPartition("orders", 1)
FORMS: list[tuple[Change, dict[str, str]]] = [
    (CreateTopic(), {"name": "new", "partitions": "3", "replicas": "2", "configs": "retention.ms=7d"}),
    (CreateTopic(), {"name": "plain", "partitions": "", "replicas": "", "configs": ""}),
    (AddPartitions("orders"), {"partitions": "5"}),
    (TrimTopic("orders"), {"before": "end"}),
    (TrimTopic("orders", 1), {"before": "7"}),
    (TrimTopic("orders", 0), {"before": "-3"}),
    (TrimTopic("orders"), {"before": "@-7d"}),
    (ElectLeaders("orders"), {}),
    (ElectLeaders(), {}),
    (DeleteTopics("orders"), {}),
    (DeleteTopics("orders", "payments"), {}),
    (CancelMove(MOVING), {}),
    (AlterConfigs(ORDERS), {"configs": "retention.ms=7d cleanup.policy=compact"}),
    (AlterConfigs(Resource("broker", "1")), {"configs": "log.cleaner.threads=2"}),
    (DeleteGroups("billing"), {}),
    (AddAcl(BOB), {"principal": "ann", "operation": "write", "permission": "deny", "host": "10.0.0.1"}),
    *((AddAcl(), {"kind": kind, "name": name, "pattern": pattern, "principal": "User:ann", "operation": "describe",
                  "permission": "allow", "host": "*"})
      for kind, name, pattern in (("topic", "new", "literal"), ("group", "app-", "prefixed"),
                                  ("cluster", "", "literal"), ("transactional-id", "t", "literal"))),
    (RemoveAcls(ANN), {}),
    (SetQuota(ALICE), {"quota": "producer_byte_rate", "limit": "10MiB"}),
    *((SetQuota(), {"user": user, "client-id": client, "ip": ip, "quota": quota, "limit": limit})
      for user, client, ip, quota, limit in (("bob", "", "", "request_percentage", "50%"),
                                             ("bob", "<default>", "", "consumer_byte_rate", "5MiB"),
                                             ("", "", "10.0.0.1", "connection_creation_rate", "5"))),
    (RemoveQuotas((ALICE, "producer_byte_rate")), {}),
    (SetLevel("orders-value"), {"level": "full"}),
    (DeleteSubject("orders-value"), {}),
    (DeleteSubject("orders-value", 1), {}),
    (Fence("loader"), {}),
    *(
        (Resetting(["billing"], at), {"form": form, "amount": amount, "scope": scope})
        for at, scope in ((AT, "partition"), (AT, "topic"), (None, "group"))
        for form, amount in (("earliest", ""), ("latest", ""), ("offset", "3"), ("shift", "-2"), ("time", "-1h"),
                             ("duration", "90m"), ("place", "-1"))
    ),
]  # fmt: skip
NEEDS_A_WORLD = {RemoveMember, Abort, Undoing}
"""A member's id is known once it has joined; an open transaction and an undo have tests of their own."""


def every(kind: type[Any]) -> set[type[Any]]:
    """The forms, by their class."""
    return {one for below in kind.__subclasses__() for one in {below, *every(below)}}


def test_every_form_is_compared() -> None:
    for name in ("groups", "rules", "schemas", "topics", "transactions"):
        import_module(f"kcli.tui.actions.changes.{name}")
    known = {form for form in every(Change) if form.__module__.startswith("kcli.")}
    assert known == {type(form) for form, _ in FORMS} | NEEDS_A_WORLD


def planned(capsys: pytest.CaptureFixture[str], line: str) -> list[dict[str, Any]]:
    """The rows of the plan that the commands of a line show."""
    rows: list[dict[str, Any]] = []
    for command in split(line):
        words = [word for word in shlex.split(command)[1:] if word != "--execute"]
        assert main([*words, "--dry-run", "-J"]) == 0, (command, capsys.readouterr())
        document = json.loads(capsys.readouterr().out)
        rows += [row for some in document.values() if isinstance(some, list) for row in some if "result" in row]
    return rows


async def of_form(shop: Shop, form: Change, given: dict[str, str]) -> list[dict[str, Any]]:
    if form.of_registry:
        registry = shop.registry()
        try:
            return [row.as_json() for row in (await form.plan(registry, given)).rows]
        finally:
            await registry.close()
    async with Client(shop.settings()) as client:
        return [row.as_json() for row in (await form.plan(client, given)).rows]


def compared(shown: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    """The command has every row of the form, with its values, and no other."""
    assert rows
    mine = [{name: row.get(name) for name in rows[0]} for row in shown]
    assert sorted(map(repr, mine)) == sorted(map(repr, rows))


async def test_a_form_plans_what_its_command_plans(
    shop: Shop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCLI_BOOTSTRAP", shop.sandbox.bootstrap)
    member = await seeded(shop)
    gone = RemoveMember("live", Member(member_id=member.member_id, instance_id="pod-7"))
    for form, given in [*FORMS, (gone, {})]:
        rows = await of_form(shop, form, given)
        line = form.command(given) + (shop.option if form.of_registry else "")
        shown = await asyncio.to_thread(planned, capsys, line)
        compared(shown, rows)
