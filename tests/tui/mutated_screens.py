"""Every screen of the dashboard against a broker whose answers are wrong: a tour of a seed, and what must not come of
it. The loop of `make chaos` is `python -m tests.tui.mutated_screens [SCREEN...]`: MUTATED_TOURS (100) tours, from seed
MUTATION_SEED."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path as Folder
from typing import TYPE_CHECKING

from kcli.proto.messages.api_versions import ApiVersionsResponse
from kcli.proto.messages.consumer_group_describe import ConsumerGroupDescribeResponse
from kcli.proto.messages.describe_cluster import DescribeClusterResponse
from kcli.proto.messages.describe_configs import DescribeConfigsResponse
from kcli.proto.messages.describe_groups import DescribeGroupsResponse
from kcli.proto.messages.describe_log_dirs import DescribeLogDirsResponse
from kcli.proto.messages.fetch import FetchResponse
from kcli.proto.messages.find_coordinator import FindCoordinatorResponse
from kcli.proto.messages.init_producer_id import InitProducerIdResponse
from kcli.proto.messages.list_groups import ListGroupsResponse
from kcli.proto.messages.list_offsets import ListOffsetsResponse
from kcli.proto.messages.metadata import MetadataResponse
from kcli.proto.messages.offset_fetch import OffsetFetchResponse
from kcli.proto.messages.produce import ProduceResponse
from kcli.proto.schema import Response
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, parse_bootstrap
from kcli.tui.app import Dashboard
from kcli.tui.routes import find
from kcli.tui.session import LiveSession
from tests.cli.leaps import leaping
from tests.cli.mutated_commands import OURS, Heard, deadline, environment
from tests.cli.mutation import Mutation, Path, declared, mutated
from tests.tui.conftest import seed, seen, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

    from textual.pilot import Pilot

LOOK = (MetadataResponse, ListGroupsResponse, DescribeGroupsResponse, OffsetFetchResponse, ListOffsetsResponse)
"""What every screen asks for."""
TOPIC = (DescribeConfigsResponse, DescribeLogDirsResponse)
SCREENS: dict[str, tuple[str, str, tuple[type[Response], ...]]] = {
    "start": ("", "enter 2", (ApiVersionsResponse, DescribeClusterResponse, FetchResponse)),
    "groups": ("groups", "t space space enter", ()),
    "group": ("group billing", "2 3 4 t", (FetchResponse,)),
    "reset": ("group fraud", "r enter enter", (FindCoordinatorResponse, ConsumerGroupDescribeResponse)),
    "topics": ("topics", "i x x", TOPIC),
    "topic": ("topic payments", "2 3 1 enter", TOPIC),
    "records": ("records orders payments", "enter 2 4 escape", (FetchResponse,)),
    "produce": ("topic orders", "n x ctrl+s ctrl+s", (InitProducerIdResponse, ProduceResponse)),
    "brokers": ("brokers", "enter", (DescribeClusterResponse, ApiVersionsResponse)),
    "broker": ("broker 1", "2 3 1 enter", TOPIC),
}
"""A place, keys that are pressed there, and what it asks for besides."""
MORE = (2, 5, 10)  # fields that change together: a visit is dear
PATIENCE = 100.0  # seconds of waiting for the first look; waits are leapt over: see tests/cli/leaps.py
WORK = 300.0  # seconds of work for a tour, which are less than ten on a quiet machine
BEAT = 2.0  # seconds between looks
SETTLED = 1.0  # seconds before the first key
PAUSE = 0.2  # seconds after a key


class Stage:
    """A sandbox with groups and records, and a dashboard for each tour of the screens."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._at = ""  # the screen of a tour
        self.visited = 0  # of them
        self._while = contextlib.ExitStack()
        self._leaps = self._while.enter_context(leaping())
        self._sandbox = SandboxThread(brokers=2, disks=2, control=True, rebalance_delay=0.0)
        self._sandbox.start()
        asyncio.run(seed(self._sandbox.bootstrap))

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        """Without this the clock of every later event loop in this process would leap."""
        with self._while, contextlib.suppress(Exception):  # the sandbox may have met what it asked for itself
            self._sandbox.close()

    def tour(self, names: Iterable[str], number: int, end: float = math.inf) -> str:
        """One screen after the other in one dashboard, each against wrong answers of its own, until `end`
        (time.perf_counter()); what must not be."""
        mutations = {name: Mutation(number, fields(name), MORE) for name in names}
        self.visited = 0
        fault = self._tour(mutations, lambda name: mutated(mutations[name]), end)
        if not fault:
            return ""
        changed = ", ".join(".".join(path) for path in mutations[self._at].done) or "nothing"
        return f"{self._at} (seed {number}; {changed}): {fault}"

    def _tour(self, names: Iterable[str], during: Callable[[str], AbstractContextManager[None]], end: float) -> str:
        fault, shown = "", list[str]()
        with (
            environment(self._sandbox.bootstrap, self._folder, {}),
            Heard() as heard,
            deadline(self._leaps, work=WORK) as stuck,
        ):
            try:
                asyncio.run(self._walk(list(names), during, end, shown))
            except Exception:  # noqa: BLE001  # whatever it is, it is found
                fault = traceback.format_exc()[-5000:]
        if stuck:
            return f"did not end: {chr(10).join(stuck)}"
        return fault or "\n".join(heard.log)[-5000:] or next(filter(None, map(_named, shown)), "")

    async def _walk(
        self, names: list[str], during: Callable[[str], AbstractContextManager[None]], end: float, shown: list[str]
    ) -> None:
        settings = ClientSettings(
            bootstrap=parse_bootstrap(self._sandbox.bootstrap), request_timeout=1.5, connect_timeout=1.5,
            connect_timeout_max=1.5, deadline=2.0,
        )  # fmt: skip
        board = Dashboard(LiveSession(settings, interval=BEAT))
        self._at = names[0]
        with contextlib.ExitStack() as first:
            first.enter_context(during(names[0]))
            async with board.run_test(size=(110, 30), notifications=True) as pilot:
                await until(
                    pilot, lambda: board.state.snapshot is not None or board.state.trouble is not None, PATIENCE
                )
                for name in names:
                    if time.perf_counter() > end:
                        return
                    self._at = name
                    self.visited += 1
                    with contextlib.nullcontext() if name == names[0] else during(name):
                        await self._visit(pilot, name, shown)
                    first.close()
                    if any(map(_named, shown)):
                        return

    async def _visit(self, pilot: Pilot[int], name: str, shown: list[str]) -> None:
        place, keys, _ = SCREENS[name]
        board = pilot.app
        assert isinstance(board, Dashboard)
        board.session.refresh_now()
        where = find(place)
        if where is not None:
            board.go(where)
        await pilot.pause(SETTLED)
        shown.append(seen(pilot))
        for key in keys.split():
            await pilot.press(key)
            await pilot.pause(PAUSE)
            shown.append(seen(pilot))
        while len(board.screen_stack) > 2:
            await board.pop_screen()


def fields(name: str) -> list[Path]:
    """Those of what a screen is told."""
    kinds: list[type[Response]] = [*LOOK, *SCREENS[name][2]]
    return sorted({path for kind in kinds for path in declared(kind, (kind.__name__,))})


def _named(text: str) -> str:
    """What no screen may show."""
    found = OURS.search(text)
    return f"the screen has {found[0]}:\n{text}" if found is not None else ""


def loop(names: list[str], tours: int, first: int) -> int:
    """So many tours of the screens; how many had a fault."""
    faults, begin = 0, time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, Stage(Folder(folder)) as stage:
        for number in range(first, first + tours):
            fault = stage.tour(names, number)
            if fault:
                faults += 1
                print(f"--- {fault}", flush=True)
    print(f"{tours} tours of {len(names)} screens, {faults} faults, {time.perf_counter() - begin:.0f} s")
    return faults


if __name__ == "__main__":
    total = int(os.environ.get("MUTATED_TOURS", "100"))
    sys.exit(1 if loop(sys.argv[1:] or list(SCREENS), total, int(os.environ.get("MUTATION_SEED", "0"))) else 0)
