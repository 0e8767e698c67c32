"""What the screens look like, at three sizes: the recording of `kcli demo`, replayed, beside what it looked like.

All but one small picture are compared by `make nightly`. `KCLI_SNAPSHOTS=write` makes them anew. The colours are
compared where Textual is the version they were made with; the words and where they stand always.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import textual

from kcli.model import TopicPartition
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, parse_bootstrap
from kcli.tui import routes
from kcli.tui.app import Dashboard
from kcli.tui.messages import Connected
from kcli.tui.text.chart import Chart
from kcli.tui.widgets.plot import Plot
from tests.tui import pictures
from tests.tui.conftest import seen, shows, until, visit

if TYPE_CHECKING:
    from collections.abc import Iterator


SNAPSHOTS = Path(__file__).parent / "snapshots"
MADE_WITH = SNAPSHOTS / "textual.txt"
PAID = TopicPartition("payments", 1)
DRAWN = 10.0  # seconds
SIZES = [(80, 24), (120, 40), (200, 60)]


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield None
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread(control=True) as one:
        asyncio.run(pictures.seed(one.bootstrap))
        yield one


SMALL = ("groups", SIZES[0])
"""The picture that `make test` compares: it shows that the comparison bites."""


@pytest.mark.parametrize(
    ("name", "size"),
    [
        pytest.param(*case, id=f"{case[0]}-{case[1][0]}x{case[1][1]}", marks=[pytest.mark.pictures] * (case != SMALL))
        for case in itertools.product(("groups", "group"), SIZES)
    ],
)
async def test_a_screen_looks_as_it_did(name: str, size: tuple[int, int]) -> None:
    keys, words = pictures.REPLAYED[name]
    await same(f"{name}-{size[0]}x{size[1]}", *await pictures.replayed(keys, words, size))


PLACES: dict[str, tuple[routes.Route, tuple[str, ...], str]] = {
    "topic": (routes.Topic("orders"), (), "OF THE LARGEST"),
    "configs": (routes.Topic("orders"), ("3",), "flush.ms"),
    "broker": (routes.Broker(1), (), "● leader"),
    "around": (routes.Records(("payments",), around=(PAID, 5), next_of="billing"), (), "18 shown"),
    "reset": (routes.Group("billing"), ("r",), "would change"),
    "produce": (routes.Topic("orders"), ("n",), "NAME=VALUE"),
    "faults": (routes.Faults(), (), "move_leader"),
    "help": (routes.Group("billing"), ("question_mark",), "Keys"),
}
"""A screen of a sandbox whose every look is just now: the page, keys, words that are there then."""


@pytest.mark.pictures
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_screens_of_a_cluster_look_as_they_did(size: tuple[int, int], sandbox: SandboxThread) -> None:
    session = pictures.Still(
        ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap)), name="demo", aim="--profile demo", interval=3600.0
    )
    app = session.board = Dashboard(session)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.state.snapshot is not None)
        for name, (route, keys, words) in PLACES.items():
            await visit(pilot, route)
            await pilot.pause(0.3)
            await shows(pilot, " kcli demo")  # a dialog on a page that was never drawn has nothing behind it
            await pilot.press(*keys)
            await shows(pilot, words)
            app.post_message(Connected("demo", 1))
            for plot in app.screen.query(Plot):
                plot.put(Chart(points=[(0.0, 1.0), (5.0, 3.0)]))
                plot.title = "written per second"
            await pilot.pause(0.3)
            of = f"{name}-{size[0]}x{size[1]}"
            deadline = time.monotonic() + DRAWN
            while not saved(of, app.export_screenshot(title="kcli"), seen(pilot)) and time.monotonic() < deadline:
                await pilot.pause(0.1)  # a cursor blinks, and a busy machine draws late
            await same(of, app.export_screenshot(title="kcli"), seen(pilot))
            while len(app.screen_stack) > 2:
                await app.pop_screen()


@pytest.mark.pictures
async def test_the_light_theme_looks_as_it_did() -> None:
    keys, words = pictures.REPLAYED["group"]
    await same("group-light", *await pictures.replayed(keys, words, (80, 24), "kcli-light"))


async def test_without_colours_it_looks_as_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    keys, words = pictures.REPLAYED["groups"]
    picture, text = await pictures.replayed(keys, words, (100, 24))
    colours = {word.strip("\"';") for word in picture.split("fill: ")[1:] for word in word.split()[:1]}
    assert all(is_grey(colour) for colour in colours if colour.startswith("#")), colours
    assert "■ STUCK" in text
    assert "● OK" in text


def is_grey(colour: str) -> bool:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return max(red, green, blue) - min(red, green, blue) < 16


def saved(name: str, picture: str, text: str) -> bool:
    """Whether it looks as it did."""
    words, svg = (SNAPSHOTS / f"{name}.{kind}" for kind in ("txt", "svg"))
    if os.environ.get("KCLI_SNAPSHOTS") == "write":
        return True
    colours = MADE_WITH.read_text().strip() != textual.__version__ or picture == svg.read_text()
    return colours and text + "\n" == words.read_text()


async def same(name: str, picture: str, text: str) -> None:
    words, svg = SNAPSHOTS / f"{name}.txt", SNAPSHOTS / f"{name}.svg"
    if os.environ.get("KCLI_SNAPSHOTS") == "write":
        SNAPSHOTS.mkdir(exist_ok=True)
        words.write_text(text + "\n")
        svg.write_text(picture)
        MADE_WITH.write_text(textual.__version__ + "\n")
    assert text + "\n" == words.read_text()
    if MADE_WITH.read_text().strip() == textual.__version__:
        assert picture == svg.read_text(), f"{name} has other colours than tests/tui/snapshots/{svg.name}"
