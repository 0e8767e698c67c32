"""A large terminal is used: no page leaves most of it empty, and none costs a slow line much."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, parse_bootstrap
from kcli.tui import routes
from kcli.tui.app import Dashboard
from kcli.tui.screens.page import Page
from kcli.tui.session import LiveSession
from kcli.tui.tail import Seen
from kcli.tui.text.chart import FIGURES
from kcli.tui.widgets.plot import Plot
from tests.tui import admin_pictures
from tests.tui.conftest import repaint, seen, until, visit
from tests.tui.every_page import EVERY
from tests.tui.playground.still import seed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.pilot import Pilot

LARGE = 200, 60
MOST_EMPTY = 0.4
MOST_BYTES = 30_000
BESIDE, ABOVE = 4, 1
"""Cells around something drawn that are no empty room: gaps between columns, and between lines."""
VALUE = b'{"order": 3, "items": [{"sku": "b-17", "count": 2}, {"sku": "a-4", "count": 1}], "paid": true}'
FULL = {
    routes.Group: routes.Group("search-indexer-old"),
    routes.Member: routes.Member("search-indexer-old", "nobody-1"),
    routes.Topic: routes.Topic("devices.telemetry.raw"),
    routes.Records: routes.Records(("billing.invoices",)),
    routes.Record: routes.Record("orders", 0, 3, Seen(0, "orders", 0, 3, 1_795_265_117_000, b"k", VALUE, [])),
    routes.Access: routes.Access("topic", "payments"),
}
"""Where there is more to see than in the cluster that other tests share."""


@pytest.fixture(scope="module")
def busy() -> Iterator[SandboxThread]:
    """Thirty topics, seven groups, ACLs, quotas and schemas."""
    with SandboxThread(registry=True, super_users=["User:ANONYMOUS"]) as sandbox:
        asyncio.run(seed(sandbox.bootstrap))
        asyncio.run(admin_pictures.administer(sandbox))
        yield sandbox


def empty(pilot: Pilot[int]) -> float:
    """The part of the screen with nothing on it or near it. A chart is full: where it has no line, little happened."""
    screen = pilot.app.screen
    ground = screen.rich_style.bgcolor
    rows = [
        [
            letter not in " \u2800" or (style is not None and style.bgcolor != ground)
            for text, style, _ in strip
            for letter in text
        ]
        for strip in screen._compositor.render_strips()
    ]
    for plot in screen.query(Plot):
        if plot.is_on_screen and plot._drawing.rows:
            at = plot.content_region
            for y in range(at.y, at.bottom):
                rows[y][at.x + FIGURES : at.right] = [True] * (at.width - FIGURES)
    high, wide = len(rows), len(rows[0])
    used = 0
    for y in range(high):
        near = [any(column) for column in zip(*rows[max(y - ABOVE, 0) : y + ABOVE + 1], strict=True)]
        used += sum(any(near[max(x - BESIDE, 0) : x + BESIDE + 1]) for x in range(wide))
    return 1 - used / (high * wide)


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("size", [(120, 40), LARGE], ids=["120x40", "200x60"])
async def test_no_page_is_mostly_empty_or_many_bytes(busy: SandboxThread, size: tuple[int, int]) -> None:
    settings = ClientSettings(bootstrap=parse_bootstrap(busy.bootstrap))
    session = LiveSession(settings, interval=1.0, registry=admin_pictures.registry(busy))
    app, told, wrong = Dashboard(session), [], []
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.state.trails is not None and len(app.state.trails.whole) > 2)
        for kind, usual in EVERY.items():
            page = await visit(pilot, FULL.get(kind, usual))
            await until(pilot, lambda page=page: page.is_there)  # type: ignore[misc]
            if kind is routes.Transactions:
                await admin_pictures.put(page, [admin_pictures.transactions()])
            if kind is routes.Reassignments:
                await admin_pictures.put(page, admin_pictures.moves())
            await settled(pilot)
            share = empty(pilot) if size == LARGE else 0.0
            written = len(repaint(app).encode())
            told.append(f"{kind.__name__:14} {share:6.1%} empty {written:7,} bytes")
            if written > MOST_BYTES or share > MOST_EMPTY:
                wrong.append(f"{told[-1]}\n{seen(pilot)}")
            while len(app.screen_stack) > 2:
                await app.pop_screen()
    print(*told, sep="\n")
    assert not wrong, "\n".join(wrong)


async def settled(pilot: Pilot[int]) -> None:
    """Until the page has what it asked for, and is laid out with it."""
    page = pilot.app.screen
    assert isinstance(page, Page)
    for _ in range(20):
        before = [part.region for part in page.query("*")]
        await pilot.pause(0.4)
        if before == [part.region for part in page.query("*")]:
            return
