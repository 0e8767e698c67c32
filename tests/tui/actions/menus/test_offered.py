"""What the menus offer is what kcli does: each command is read by the parser, and each plan is made by kcli itself."""

from __future__ import annotations

import asyncio
import shlex
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from kcli.admin.groups.groups import find_groups
from kcli.admin.groups.rows import Described
from kcli.asking.coordinators import Coordinators
from kcli.cli.main import main
from kcli.cli.parsing import parser, resolver
from kcli.client import Client
from kcli.lag.history import GroupStanding
from kcli.lag.status import TXN_BLOCKED
from kcli.settings import GroupSettings, ProducerSettings
from kcli.tui import routes
from kcli.tui.actions.menus import of_group
from kcli.tui.alerts.silences import Silences
from kcli.tui.widgets.frames import Tabs
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import until, visit
from tests.tui.every_page import EVERY, RECORD

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from kcli.tui.screens.page import Page
    from tests.tui.actions.menus.conftest import Shop

PLACES: dict[routes.Route, tuple[str, ...]] = {
    routes.Groups(): ("groups",),
    routes.Group("billing"): ("partitions", "members", "topics", "events"),
    routes.Topics(): ("topics",),
    routes.Topic("orders"): ("partitions", "groups", "configs"),
    routes.Records(("orders",)): ("records",),
    routes.Record("orders", 0, 3, RECORD): (),
    routes.Brokers(): ("brokers",),
    routes.Broker(1): ("replicas", "disks", "configs"),
    routes.Heatmap(): ("heat",),
    routes.Transactions(): ("ids", "hanging"),
    routes.Transaction("loader"): (),
    routes.Acls(): ("acls",),
    routes.Access("topic", "orders"): ("access",),
    routes.Access("group", "billing"): ("access",),
    routes.Access("cluster", "kafka-cluster"): ("access",),
    routes.Quotas(): ("quotas",),
    routes.Reassignments(): ("moves",),
    routes.Subjects(): ("subjects",),
    routes.Subject("orders-value"): ("versions",),
    routes.Alerts(): ("now", "switches", "told"),
    routes.Clusters(): ("clusters",),
    routes.Faults(): ("faults", "pending", "brokers"),
}
"""Each page, and its tables; that of a member is opened by the id that it has."""
EMPTY = {"members", "events", "hanging", "records", "pending", "now", "told"}
"""Tables without a row here: groups without members, no hanging transaction, no record since the page was opened."""
OPEN = ("kcli produce", "kcli tail", "kcli tui", "kcli doctor", "kcli config show", "kcli faults ")
"""Commands that do not end, are of a profile, or have no plan."""
REFUSED = ("kcli groups delete live", "kcli groups reset live")
"""Of a group that has a member."""
BLANKS = ("TOPIC", "USER", "QUOTA=LIMIT", "PRINCIPAL", "KEY=VALUE", "=LIMIT")
"""Words in the place of an empty field."""


async def seeded(shop: Shop) -> routes.Member:
    """A transactional id, and a member that is away and stays in its group."""
    async with Client(shop.settings()) as client:
        async with client.producer(ProducerSettings(transactional_id="loader")) as loader, loader.transaction():
            await loader.send("payments", b"done", partition=1)
        settings = GroupSettings(group="live", instance_id="pod-7", auto_commit=False, session_timeout=600.0)
        async with client.consumer(group=settings) as consumer:
            await consumer.subscribe(["payments"])
            await consumer.poll(0.5)
        group = (await find_groups(Coordinators(client.cluster), ["live"]))[0]["live"]
    return routes.Member("live", group.members[0].member_id)  # type: ignore[union-attr]


async def offered(pilot: Pilot[int], places: dict[routes.Route, tuple[str, ...]]) -> dict[str, str]:
    """The commands of all menus and all pages, each with the page it is from."""
    found: dict[str, str] = {}
    for place, tables in places.items():
        page = await visit(pilot, place)
        for table in tables:
            if page.query(Tabs):
                page.action_tab(table)
            rows = page.query_one(f"#{table}", Rows)
            await until(pilot, lambda rows=rows, table=table: rows.shown or table in EMPTY)  # type: ignore[misc]
            await pilot.pause()
            for row in range(max(len(rows.shown), 1)):
                rows.cursor = row
                found |= commands(page, place)
        found |= commands(page, place)
        found[page.command] = str(place)
    return found


SAME = {
    "r": ("groups.reset", "group.reset"), "n": ("page.produce",), "t": ("topics.records", "topic.records"),
    "e": ("records.edit",), "w": ("records.export",), "x": ("faults.broker",), "c": ("faults.clear",),
    "K": ("alerts.acknowledge",), "M": ("alerts.mute",),
}  # fmt: skip
"""Letters of menus that are keys of a page too, with what they do there: the same."""


def clashing(page: Page) -> list[str]:
    """Letters of the menu that mean something else on the page, and what deletes before what does not."""
    bound = {key: one.binding.id or "" for key, one in page.active_bindings.items()}
    found = []
    for act in page.acts():
        on = bound.get({"+": "plus", "=": "equals_sign"}.get(act.key, act.key), "")
        if on and on not in SAME.get(act.key, ()) and not on.startswith("replay."):
            found.append(f"{act.key} is {act.label} in the menu, and {on} on the page")
        found += [f"{act.key} moves in the menu"] if act.key in "jk" else []
    return found


def commands(page: Page, place: routes.Route) -> dict[str, str]:
    """Those of the menu as it is now."""
    assert clashing(page) == [], place
    acts = [act for act in page.acts() if act.command]
    return {act.command if act.elsewhere else page.session.aimed(act.command): f"{place}: {act.key}" for act in acts}


def parsed(line: str) -> str:
    """What is wrong with a command, "" for nothing."""
    chosen = resolver.find(shlex.split(line)[1:])
    if chosen is None:
        return "no command"
    try:
        return "" if parser.parse(chosen[0], chosen[1]) is not None else "help"
    except Exception as problem:  # noqa: BLE001 - the sentence is the outcome
        return str(problem)


@pytest.mark.long
def test_every_offered_command_is_read_and_every_plan_is_made(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    async def collect() -> dict[str, str]:
        places = PLACES | {await seeded(shop): ("partitions",)}
        assert {type(place) for place in places} == set(EVERY)
        async with shop.open(profiles={"prod": shop.session}) as pilot:
            return await offered(pilot, places)

    lines = asyncio.run(collect())
    assert len({where.partition(": ")[0] for where in lines.values()}) == len(PLACES) + 1
    each = {one: where for line, where in lines.items() for one in split(line)}
    wrong = {one: (where, parsed(one)) for one, where in each.items() if parsed(one)}
    assert wrong == {}, wrong
    plans = {one: where for one, where in each.items() if not one.startswith(OPEN + REFUSED) and "--watch" not in one}
    assert sum("--execute" in one for one in plans) > 20
    refused = {}
    first = {where: one for one, where in reversed(plans.items()) if not any(blank in one for blank in BLANKS)}
    for where, one in first.items():
        code = main(shlex.split(one.replace("--execute", "--dry-run"))[1:])
        said = capsys.readouterr()
        if code:
            refused[one] = (where, code, said.err)
    assert refused == {}, refused


def split(line: str) -> list[str]:
    """The commands of a line."""
    first, *rest = line.split(" && kcli ")
    return [first, *(f"kcli {one}" for one in rest)]


def test_the_menu_of_a_group_that_waits_for_a_transaction_leads_to_those_that_are_open() -> None:
    state = SimpleNamespace(silences=Silences())
    page = cast("Page", SimpleNamespace(session=SimpleNamespace(live=False), state=state, begin=None, go=None))
    group = GroupStanding(described=Described(group="ledger"))
    assert "Open transactions" not in [act.label for act in of_group(page, "ledger", list, group)]
    group.status = TXN_BLOCKED
    assert "Open transactions" in [act.label for act in of_group(page, "ledger", list, group)]
