"""Screens for what an administrator looks after: transactions, ACLs, quotas, reassignments, schemas."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from kcli import codes
from kcli.acls import Acl
from kcli.admin.acl_check import Authorizer
from kcli.admin.acls import create_acls
from kcli.admin.quotas import alter_quotas, entity
from kcli.admin.reassign.reassignments import Ongoing, Share
from kcli.admin.transactions.hanging_transactions import OpenTransaction
from kcli.admin.transactions.producers import ProducerState
from kcli.client import Client
from kcli.model import TopicPartition
from kcli.registry.listing.opened import OpenRegistry
from kcli.registry.settings import RegistrySettings
from kcli.sandbox.thread import SandboxThread
from kcli.schemas import AVRO, Schema
from kcli.security.http import origin_of
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from kcli.tui import routes
from kcli.tui.app import Dashboard
from kcli.tui.screens.admin.acls import Acls
from kcli.tui.screens.admin.reassignments import Reassignments
from kcli.tui.screens.admin.transactions import Transactions, hanging_columns
from kcli.tui.screens.records import Records
from kcli.tui.session import LiveSession
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import seen, shows, until, visit

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.long

FIRST = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'
SECOND = (
    '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, '
    '{"name": "note", "type": "string", "default": ""}]}'
)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxThread]:
    """ACLs, a quota, a subject of two versions."""
    with SandboxThread(topics={"orders": 2}, registry=True, super_users=["User:ANONYMOUS"]) as one:
        asyncio.run(seed(one))
        yield one


def settings(sandbox: SandboxThread) -> ClientSettings:
    return ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))


def registry(sandbox: SandboxThread) -> RegistrySettings:
    return RegistrySettings(origins=(origin_of(sandbox.registry_url),), disk=False)


async def seed(sandbox: SandboxThread) -> None:
    async with Client(settings(sandbox)) as client:
        rules = [
            Acl("topic", "orders", "literal", "User:bob", "*", "read", "allow"),
            Acl("topic", "ord", "prefixed", "User:eve", "*", "all", "deny"),
        ]
        assert not any((await create_acls(client.cluster, rules)).values())
        alice = entity({"user": "alice", "client-id": None})
        assert not any((await alter_quotas(client.cluster, {alice: {"producer_byte_rate": 1048576.0}})).values())
    there = OpenRegistry(registry(sandbox))
    for text in (FIRST, SECOND):
        await there.client.register("orders-value", Schema(kind=AVRO, text=text))
    await there.close()


def board(sandbox: SandboxThread, interval: float = 0.5, **options: Any) -> Dashboard:
    return Dashboard(LiveSession(settings(sandbox), interval=interval, **options))


def test_a_hanging_transaction_has_the_offset_at_which_it_began_and_no_column_that_is_always_empty() -> None:
    """When it began is unknown: its coordinator has forgotten it."""
    row = OpenTransaction(
        at=TopicPartition("orders", 1), producer=ProducerState(open_since=1200), name="pay", hangs="x"
    )
    cells = {column.label: column.cell(row).text for column in hanging_columns()}
    assert cells["FROM OFFSET"] == "1,200"
    assert "–" not in cells.values()


async def test_the_line_and_the_palette_offer_the_pages_and_schemas_only_with_a_registry(
    sandbox: SandboxThread,
) -> None:
    async with board(sandbox).run_test(size=(120, 40)) as pilot:
        await pilot.press("colon")
        text = await shows(pilot, "reassignments")
        for name in ("transactions", "acls", "quotas"):
            assert name in text
        await pilot.press(*"schema")
        await pilot.pause()
        assert "\n schemas" not in seen(pilot)
        await pilot.press("escape", "colon", *"quotas", "enter")
        await shows(pilot, "Quotas (1)")
        await visit(pilot, "schemas")
        await shows(pilot, "No schema registry is configured")
    with_registry = board(sandbox, registry=registry(sandbox))
    async with with_registry.run_test(size=(120, 40)) as pilot:
        assert "schemas" in with_registry.state.places
        await pilot.press("colon", *"schemas", "enter")
        await shows(pilot, "Schemas (1)")


async def test_acls_and_the_principals_that_may_use_a_resource(sandbox: SandboxThread) -> None:
    async with board(sandbox).run_test(size=(120, 40)) as pilot:
        await visit(pilot, "acls")
        text = await shows(pilot, "ACLs (2)")
        assert "ord…" in text, "a prefix is seen to be one"
        assert f"$ kcli acls list -b {sandbox.bootstrap}" in text
        await pilot.press("slash", *"bob", "enter", "enter")
        await shows(pilot, "Access to topic orders  2 ACLs apply")
        rows = pilot.app.screen.query_one(Rows)
        may = {(row.operation, row.principal): (row.allowed, row.why) for row in rows.shown}
        assert may["read", "User:bob"] == (True, "allow User:bob read topic orders")
        assert may["write", "User:eve"][0] is False
        assert may["describe", "User:bob"][0] is True, "read implies it"
        assert ("write", "User:bob") not in may
        assert may["read", "User:*"] == (False, "no ACL allows it")
        assert may["write", "User:ANONYMOUS"] == (True, "super user")
        await shows(pilot, "$ kcli acls who-can read topic orders -b")
        page: Any = pilot.app.screen
        page.fetched(([], Authorizer(super_users=None)))  # as Kafka, which hides this setting
        await shows(pilot, "but not to super users, which the broker does not list")


async def test_hosts_of_acls_are_seen_on_80_cells_whatever_else_is_long(sandbox: SandboxThread) -> None:
    where = ("transactional-id", "ledger-writer-of-the-shop", "prefixed")
    long = Acl(*where, "User:ledger-of-the-shop", "192.168.100.200", "describe", "deny")
    async with board(sandbox, interval=3600.0).run_test(size=(80, 24)) as pilot:
        page = await visit(pilot, "acls")
        assert isinstance(page, Acls)
        await shows(pilot, "ACLs (2)")
        page.fetched([long])
        text = await shows(pilot, "ACLs (1)")
        heading, line = next(
            (one, text.splitlines()[n + 1]) for n, one in enumerate(text.splitlines()) if "HOST" in one
        )
        assert "192.168." in line[heading.index("HOST") :]
        assert "✖" in line, "whether it allows is its glyph"
        await visit(pilot, "acls topic orders")
        await shows(pilot, "HOST")


async def test_a_cluster_without_an_authorizer_says_so_and_has_no_quotas() -> None:
    with SandboxThread() as plain:
        plain.faults.error("DescribeAcls", codes.SECURITY_DISABLED, times=1_000)
        async with board(plain).run_test(size=(80, 24)) as pilot:
            await visit(pilot, "acls")
            await shows(pilot, "The brokers have no authorizer")
            await visit(pilot, "quotas")
            await shows(pilot, "No quotas yet. a sets one.")
            await pilot.press("a")
            await shows(pilot, "Set a quota")
            await visit(pilot, "reassignments")
            await shows(pilot, "No partition moves now")
            await visit(pilot, "transactions")
            await shows(pilot, "No producer has used a transactional id lately")


async def test_quotas_name_the_default_and_the_unit(sandbox: SandboxThread) -> None:
    async with board(sandbox).run_test(size=(80, 24)) as pilot:
        await visit(pilot, "quotas")
        await shows(pilot, "1MiB/s")
        line = next(line for line in seen(pilot).splitlines() if "1MiB/s" in line)
        assert line.split() == ["▌", "alice", "every", "other", "producer_byte_rate", "1MiB/s"]


async def test_an_open_transaction_comes_first_and_leads_to_the_record_it_blocks(sandbox: SandboxThread) -> None:
    async with Client(settings(sandbox)) as client:
        async with client.producer(ProducerSettings(transactional_id="ended-1")) as done, done.transaction():
            await done.send("orders", b"done", partition=0)
        async with client.producer(ProducerSettings(transactional_id="billing-1")) as producer:
            await producer.begin()
            await producer.send("orders", b"open", partition=1)
            await producer.flush()
            async with board(sandbox).run_test(size=(120, 30)) as pilot:
                await visit(pilot, "transactions")
                await shows(pilot, "Transactions (2), 1 open")
                rows = pilot.app.screen.query_one("#ids", Rows)
                assert [row.listed.name for row in rows.shown] == ["billing-1", "ended-1"]
                await shows(pilot, "◊ Ongoing")
                await pilot.press("2")
                await shows(pilot, "No transaction hangs")
                await shows(pilot, "$ kcli txn find-hanging")
                await pilot.press("1", "enter")
                await shows(pilot, "Transaction billing-1  Ongoing  open for")
                await shows(pilot, "$ kcli txn describe billing-1")
                await pilot.press("enter")
                await until(pilot, lambda: isinstance(pilot.app.screen, Records))
                await shows(pilot, "where an open transaction begins")
            await producer.abort()


async def test_an_unknown_transaction_is_not_an_error(sandbox: SandboxThread) -> None:
    async with board(sandbox).run_test(size=(80, 24)) as pilot:
        await visit(pilot, "transaction nobody-1")
        await shows(pilot, "no coordinator has this transactional id")


async def test_a_transaction_over_its_timeout_is_bad(sandbox: SandboxThread) -> None:
    from kcli.admin.transactions.transactions import Described, Listed

    old = int(time.time() * 1000) - 90_000
    async with board(sandbox, interval=3600.0).run_test(size=(80, 24)) as pilot:
        page = await visit(pilot, "transactions")
        assert isinstance(page, Transactions)
        await shows(pilot, "Transactions (")
        described = Described(name="late", state="Ongoing", timeout_ms=60_000, started=old)
        page.fetched(([(Listed(name="late", state="Ongoing"), described)], {}))
        await shows(pilot, "✖ Ongoing")
        assert "90s" in seen(pilot) or "1m3" in seen(pilot)


async def test_moves_show_what_is_left_and_the_rate_between_two_answers(sandbox: SandboxThread) -> None:
    at = TopicPartition("orders", 0)
    move = {at: Ongoing(replicas=[1, 2, 3], adding=[3], removing=[1])}
    async with board(sandbox, interval=3600.0).run_test(size=(120, 24)) as pilot:
        page = await visit(pilot, "reassignments")
        assert isinstance(page, Reassignments)
        await shows(pilot, "No partition moves now")
        page.fetched((move, {at: Share(size=1000 * 1024, left=600 * 1024)}, 10.0))
        page.fetched((move, {at: Share(size=1000 * 1024, left=400 * 1024)}, 12.0))
        text = await shows(pilot, "Reassignments in progress (1)")
        line = next(line for line in text.splitlines() if line.startswith("▌"))
        assert "100 KiB" in line, "a second"
        assert "400 KiB" in line
        assert line.split()[-1] == "4.0s"


async def test_subjects_versions_text_and_compatibility(sandbox: SandboxThread) -> None:
    option = f" --schema-registry {sandbox.registry_url}"
    app = board(sandbox, registry=registry(sandbox), registry_option=option)
    async with app.run_test(size=(160, 30)) as pilot:
        await visit(pilot, "schemas")
        await shows(pilot, "Schemas (1)")
        await shows(pilot, "BACKWARD")
        await shows(pilot, f"$ kcli registry list --levels{option} -b {sandbox.bootstrap}")
        await pilot.press("enter")
        await shows(pilot, "Subject orders-value  compatibility BACKWARD  version 2")
        await shows(pilot, "● FULL")
        await shows(pilot, "+ note: string")
        await pilot.press("down", "enter")
        await shows(pilot, "$ kcli registry describe orders-value@1")
        await shows(pilot, '"name": "id"')
        assert "note" not in seen(pilot)
        await visit(pilot, "schema nobody-value")
        await shows(pilot, "Subject nobody-value: it is not there (any more)")


@pytest.mark.parametrize(
    ("text", "route"),
    [
        ("transaction a b", routes.Transaction("a b")), ("acls topic orders", routes.Access("topic", "orders")),
        ("acls", routes.Acls()), ("acls nothing x", None), ("schema :.ctx:orders", routes.Subject(":.ctx:orders")),
        ("reassignments", routes.Reassignments()), ("transactions", routes.Transactions()),
        ("quotas x", None), ("schemas", routes.Subjects()),
    ],
)  # fmt: skip
def test_the_words_of_the_pages(text: str, route: routes.Route | None) -> None:
    assert routes.find(text) == route
