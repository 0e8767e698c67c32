"""What the menus offer is what kcli does: each command is read by the parser, and each plan is made by kcli itself."""

from __future__ import annotations

import asyncio
import shlex
from typing import TYPE_CHECKING

from kcli.cli.main import main
from kcli.cli.parsing import parser, resolver
from kcli.tui.screens.page import Page
from kcli.tui.widgets.rows import Rows
from kcli.tui.widgets.tabs import Tabs
from tests.tui.conftest import until, visit

if TYPE_CHECKING:
    import pytest
    from textual.pilot import Pilot

    from tests.tui.actions.menus.conftest import Shop

PLACES = {
    "groups": ("groups",), "group billing": ("partitions", "members", "topics", "events"), "topics": ("topics",),
    "topic orders": ("partitions", "groups", "configs"), "records orders": ("records",), "brokers": ("brokers",),
    "broker 1": ("replicas", "disks", "configs"), "heatmap": ("heat",), "transactions": ("ids", "hanging"),
    "acls": ("acls",), "acls topic orders": ("access",), "acls group billing": ("access",),
    "acls cluster kafka-cluster": ("access",), "quotas": ("quotas",), "reassignments": ("moves",),
    "schemas": ("subjects",), "schema orders-value": ("versions",), "clusters": ("clusters",),
}  # fmt: skip
EMPTY = {"members", "events", "ids", "hanging", "records"}
"""Tables without a row here: groups without members, no transactions, no record since the page was opened."""
OPEN = ("kcli produce", "kcli tail", "kcli tui", "kcli doctor", "kcli config show")
"""Commands that do not end, or are of a profile."""
BLANKS = ("TOPIC", "USER", "QUOTA=LIMIT", "PRINCIPAL", "KEY=VALUE", "=LIMIT")
"""Words in the place of an empty field."""


async def offered(pilot: Pilot[int], session: object) -> dict[str, str]:
    """The commands of all menus and all pages, each with the page it is from."""
    found: dict[str, str] = {}
    for place, tables in PLACES.items():
        page = await visit(pilot, place)
        for table in tables:
            if page.query(Tabs):
                page.action_tab(table)
            rows = page.query_one(f"#{table}", Rows)
            await until(pilot, lambda rows=rows, table=table: rows.shown or table in EMPTY)  # type: ignore[misc]
            await pilot.pause()
            for row in range(max(len(rows.shown), 1)):
                rows.cursor = row
                for act in page.acts():
                    if act.command:
                        found[act.command if act.elsewhere else page.session.aimed(act.command)] = f"{place}: {act.key}"
            found[page.command] = place
    return found


def parsed(line: str) -> str:
    """What is wrong with a command, "" for nothing."""
    chosen = resolver.find(shlex.split(line)[1:])
    if chosen is None:
        return "no command"
    try:
        return "" if parser.parse(chosen[0], chosen[1]) is not None else "help"
    except Exception as problem:  # noqa: BLE001 - the sentence is the outcome
        return str(problem)


def test_every_offered_command_is_read_and_every_plan_is_made(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    async def collect() -> dict[str, str]:
        async with shop.open(profiles={"prod": shop.session}) as pilot:
            assert isinstance(pilot.app.screen, Page)
            return await offered(pilot, shop)

    lines = asyncio.run(collect())
    assert len({where.partition(":")[0] for where in lines.values()}) == len(PLACES)
    each = {one: where for line, where in lines.items() for one in split(line)}
    wrong = {one: (where, parsed(one)) for one, where in each.items() if parsed(one)}
    assert wrong == {}, wrong
    plans = {one: where for one, where in each.items() if not one.startswith(OPEN) and "--watch" not in one}
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
