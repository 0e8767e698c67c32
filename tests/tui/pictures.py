"""`make screenshots`: the pictures of docs/tui.md, the same bytes each time.

Groups are those of `kcli demo`, from a recording of its first minute and a half (docs/pictures/demo.ndjson.gz); topics
and records are a sandbox's, written with timestamps of that minute. Times are shown in UTC.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import math
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kcli.admin.groups.commits import write_commits
from kcli.admin.topics.topics import NewTopic, create_topics, wait_for_topics
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.errors import UsageError
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from kcli.tui.actions.keys import every
from kcli.tui.app import Dashboard
from kcli.tui.messages import Connected
from kcli.tui.replay import ReplaySession
from kcli.tui.routes import find
from kcli.tui.session import LiveSession, Session
from kcli.tui.text.chart import Chart
from kcli.tui.widgets.plot import Plot
from tests.tui import admin_pictures
from tests.tui.conftest import seen, shows, until
from tests.tui.picture_font import portable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from textual.pilot import Pilot

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
PAGE = PICTURES.parent / "tui.md"
FROM, TO = "<!-- keys: written by `make screenshots` -->", "<!-- end of keys -->"
SIZE = (110, 30)
BEGUN = 1_795_265_117_000  # ms: when the recording was made
STUCK = ("down", "enter")

RATES = [400 + 60 * math.sin(n / 7) + 90 * math.sin(n / 17) for n in range(120)]

REPLAYED: dict[str, tuple[tuple[str, ...], str]] = {
    "groups": ((), "ledger"),
    "group": (STUCK, "Group fraud"),
    "help": ((*STUCK, "question_mark"), "Keys"),
}
"""A picture of the recording: keys, and words that must be there then."""

LIVE: dict[str, tuple[str, tuple[str, ...], str]] = {
    "topic": ("topic orders", (), "OF THE LARGEST"),
    "records": ("records orders payments", (), '"payment": 59'),
    "record": ("records payments", ("enter",), "Decoded"),
    "reset": ("group billing", ("r",), "orders"),
}
"""A picture of the sandbox: where it begins, keys, words."""


@contextlib.contextmanager
def recording() -> Iterator[Path]:
    """The recording, unpacked; its name is the same wherever it is, for it is seen."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        path = Path("demo.ndjson")
        path.write_bytes(gzip.decompress((PICTURES / "demo.ndjson.gz").read_bytes()))
        yield path


async def replayed(
    keys: tuple[str, ...], words: str, size: tuple[int, int] = SIZE, theme: str = "kcli-dark"
) -> tuple[str, str]:
    """The dashboard on the recording, after these keys: as a picture and as text."""
    with recording() as path:
        app = Dashboard(ReplaySession(path), theme=theme)
        return await _pressed(app, keys, words, size)


async def _pressed(app: Dashboard, keys: tuple[str, ...], words: str, size: tuple[int, int]) -> tuple[str, str]:
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.state.snapshot is not None)
        await pilot.press(*keys)
        await shows(pilot, words)
        await pilot.pause(0.3)
        return app.export_screenshot(title="kcli"), seen(pilot)


class Still(LiveSession):
    """A cluster whose every look is just now, and whose records have no age."""

    dated = 0
    board: Dashboard | None = None

    def clock(self) -> float:
        look = self.board.state.snapshot if self.board is not None else None
        return look.time if look is not None else 0.0


def still(bootstrap: str, **options: Any) -> Still:
    """A session that looks once, at the profile `demo`."""
    settings = ClientSettings(bootstrap=parse_bootstrap(bootstrap))
    return Still(settings, **{"name": "demo", "aim": "--profile demo", "interval": 3600.0, **options})


async def seed(bootstrap: str) -> None:
    """Orders and payments with the timestamps of the recording; `billing` has read half of the orders."""
    async with Client(ClientSettings(bootstrap=parse_bootstrap(bootstrap))) as client:
        topics = {"orders": 6, "payments": 3}
        await create_topics(client.cluster, [NewTopic(topic=name, partitions=n) for name, n in topics.items()])
        await wait_for_topics(client.cluster, topics)
        async with client.producer(ProducerSettings()) as producer:
            for n in range(6):
                rows = [
                    (n, BEGUN + 400 * i, b"customer-%d" % (i * 7 % 50), _json(order=6 * i + n, items=1 + i % 8), ())
                    for i in range(60 + 25 * (n * n % 7))
                ]
                await producer.send_records("orders", rows)
                await producer.flush()
            for i in range(60):
                value = _json(payment=i, amount=round(11.5 + i * 7.25, 2), currency="EUR", state="accepted")
                key, headers = b"account-%d" % (i % 9), [("trace", b"%032x" % (i * 7919))]
                await producer.send("payments", value, key, headers, i % 3, BEGUN + 60_000 + 250 * i)
            await producer.flush()
        at = {TopicPartition("orders", n): OffsetAndMetadata(offset=30) for n in range(6)}
        await write_commits(Coordinators(client.cluster), "billing", at)


def _json(**fields: object) -> bytes:
    return json.dumps(fields).encode()


async def live(bootstrap: str, place: str, keys: tuple[str, ...], words: str) -> str:
    """The dashboard on the sandbox, from a place on, after these keys."""
    session = still(bootstrap)
    app = session.board = Dashboard(session, place=find(place))
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.state.snapshot is not None)
        await pilot.pause(1.0)
        await pilot.press(*keys)
        await shows(pilot, words)
        await settled(pilot)
        app.post_message(Connected("demo", 1))
        if place.startswith(
            "topic "
        ):  # how fast it is written to depends on the clock: the plot gets points of its own
            plot = app.screen.query_one(Plot)
            plot.title = f"written per second  now {RATES[-1]:.0f}"
            plot.put(Chart(points=[(BEGUN / 1000 + 5 * n, rate) for n, rate in enumerate(RATES)]))
        await pilot.pause(0.3)
        return app.export_screenshot(title="kcli")


async def administered(sandbox: SandboxThread, name: str, size: tuple[int, int] = SIZE) -> str:
    """A page for administrators, on a sandbox with ACLs, quotas and schemas."""
    place, words, answers = admin_pictures.PLACES[name]
    registry = admin_pictures.registry(sandbox)
    session = still(sandbox.bootstrap, registry=registry, registry_option=admin_pictures.REGISTRY)
    app = session.board = Dashboard(session, place=find(place))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.state.snapshot is not None)
        await pilot.pause(0.5)
        if answers is not None:
            await admin_pictures.put(app.screen, answers())
        await shows(pilot, words)
        app.post_message(Connected("demo", 1))
        await settled(pilot)
        return app.export_screenshot(title="kcli")


async def all_clusters(sandbox: SandboxThread, size: tuple[int, int] = SIZE) -> str:
    """The page of all profiles: one that is well, one that cannot be reached, one without its secret."""

    def dead() -> LiveSession:
        return LiveSession(
            ClientSettings(bootstrap=parse_bootstrap("127.0.0.1:9"), wait_for_cluster=False),
            name="test",
            interval=3600.0,
        )

    def locked() -> LiveSession:
        raise UsageError("the keyring is locked: unlock it, or set sasl.password.command")

    session = still(sandbox.bootstrap)
    profiles: dict[str, Callable[[], Session]] = {
        "demo": lambda: still(sandbox.bootstrap, aim=""),
        "staging": lambda: still(sandbox.bootstrap, name="staging", aim=""), "test": dead, "old": locked,
    }  # fmt: skip
    app = session.board = Dashboard(session, place=find("clusters"), profiles=profiles)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.state.snapshot is not None)
        await shows(pilot, "could not connect")
        await shows(pilot, "keyring")
        app.post_message(Connected("demo", 1))
        await settled(pilot)
        return app.export_screenshot(title="kcli")


async def settled(pilot: Pilot[int]) -> None:
    """Until nothing changes for half a second."""
    before = ""
    while before != (now := pilot.app.export_screenshot()):
        before = now
        await pilot.pause(0.5)


async def everything() -> dict[str, str]:
    """All pictures by name."""
    found = {}
    for name, (keys, words) in REPLAYED.items():
        found[name], _ = await replayed(keys, words)
    with SandboxThread() as sandbox:
        await seed(sandbox.bootstrap)
        for name, (place, pressed, there) in LIVE.items():
            found[name] = await live(sandbox.bootstrap, place, pressed, there)
        found["clusters"] = await all_clusters(sandbox)
    with SandboxThread(topics={"orders": 6}, registry=True, super_users=["User:ANONYMOUS"]) as sandbox:
        await admin_pictures.administer(sandbox)
        for name in admin_pictures.PLACES:
            found[name] = await administered(sandbox, name)
    return found


def keys() -> str:
    """The table of keys in docs/tui.md, written from the bindings."""
    lines = ["| id | keys | what |", "|---|---|---|"]
    for one in every().values():
        pressed = " ".join(f"`{key}`" for key in ([one.keys] if len(one.keys) == 1 else one.keys.split(",")))
        lines.append(f"| {one.id} | {pressed} | {one.what} |")
    return "\n".join(lines)


def with_keys(text: str) -> str:
    """The page with its table as it must be."""
    head, _, rest = text.partition(FROM)
    _, _, tail = rest.partition(TO)
    return f"{head}{FROM}\n{keys()}\n{TO}{tail}"


def main() -> int:
    os.environ["TZ"] = "UTC"
    time.tzset()
    for name, svg in asyncio.run(everything()).items():
        (PICTURES / f"{name}.svg").write_text(portable(svg))
        print(f"docs/pictures/{name}.svg")
    PAGE.write_text(with_keys(PAGE.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
