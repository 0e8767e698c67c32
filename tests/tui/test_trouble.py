"""Dead, slow and silent brokers: the last look stands with its age, one toast is enough, and quitting is immediate."""

from __future__ import annotations

import asyncio
import gc
import re
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from kcli.errors import KcliError
from kcli.lag.watch import LagSnapshot, Watch
from kcli.sandbox.faults.planned import FOREVER
from kcli.settings import ClientSettings, parse_bootstrap
from kcli.tui.app import Dashboard
from kcli.tui.pages import page_of
from kcli.tui.routes import find
from kcli.tui.screens.groups import Groups
from kcli.tui.screens.topics.topics import Topics
from kcli.tui.session import ClientThread, LiveSession
from kcli.tui.tail import Seen, Tail
from tests.ports import free_port
from tests.programs import requests
from tests.tui.conftest import seen, shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.pilot import Pilot

pytestmark = pytest.mark.long

QUICK: dict[str, Any] = {"connect_timeout": 0.3, "deadline": 0.5, "request_timeout": 0.5}


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as made:
        yield made


class Counting(Dashboard):
    """Counts its toasts."""

    toasts = 0

    def notify(self, *words: object, **options: object) -> None:
        self.toasts += 1
        super().notify(*words, **options)  # type: ignore[arg-type]


def board(pilot: Pilot[int]) -> Counting:
    assert isinstance(pilot.app, Counting)
    return pilot.app


async def test_a_refused_connection_at_the_start_is_said_and_tried_again() -> None:
    port = free_port()
    settings = ClientSettings(bootstrap=parse_bootstrap(f"127.0.0.1:{port}")).replace(**QUICK)
    app = Counting(LiveSession(settings, interval=0.2))
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        text = await shows(pilot, "cannot be reached: ", 10.0)
        assert "connection refused" in text.splitlines()[0]  # in the head: it stays when the toast goes
        card = next(line for line in text.splitlines() if "cannot be reached" in line)
        assert "connection refused" in card, "the head may be cut, the card is not"
        told = app.toasts
        await pilot.pause(1.5)
        assert app.toasts == told == 1
        from kcli.sandbox.thread import SandboxThread

        with SandboxThread(port=port):
            await until(pilot, lambda: app.state.snapshot is not None, 10.0)
            await shows(pilot, " ▏1/1 ▏")
            assert "refused" not in seen(pilot).splitlines()[0]


async def test_a_broker_that_dies_is_one_toast_and_the_last_look_stands_with_its_age(world: World) -> None:
    async with world.open(app=Counting, **QUICK) as pilot:
        await pilot.press("ctrl+t")
        await shows(pilot, "orders")
        await until(pilot, lambda: isinstance(pilot.app.screen, Topics))
        world.sandbox.call(lambda sandbox: sandbox.faults.cluster.stop_broker(1))
        await until(pilot, lambda: board(pilot).state.problem, 10.0)
        await pilot.pause(1.5)
        assert board(pilot).toasts == 1
        text = seen(pilot)
        assert "orders" in text
        head = text.splitlines()[0]
        assert re.search(r"▏[1-9]\d*s ▏", head), "the age of what is shown"
        assert any(why in head for why in ("could not connect", "refused", "no broker answered in time"))
        world.sandbox.call(lambda sandbox: sandbox.faults.cluster.start_broker(1))
        await until(pilot, lambda: not board(pilot).state.problem, 10.0)
        assert board(pilot).toasts == 1


@pytest.fixture
def three() -> Iterator[World]:
    with a_world(brokers=3) as made:
        yield made


async def test_brokers_that_go_and_come_back_are_counted(three: World) -> None:
    """Metadata forgets who died, so the dashboard remembers; and it does not stay with the number of the first look."""
    three.sandbox.call(lambda sandbox: sandbox.faults.cluster.stop_broker(3))
    async with three.open(app=Counting, **QUICK) as pilot:
        await shows(pilot, " ▏2/3 ▏", 10.0)
        three.sandbox.call(lambda sandbox: sandbox.faults.cluster.start_broker(3))
        await shows(pilot, " ▏3/3 ▏", 10.0)
        three.sandbox.call(lambda sandbox: sandbox.faults.cluster.stop_broker(2))
        await shows(pilot, " ▏2/3 ▏", 10.0)
        look = board(pilot).state.snapshot
        await until(pilot, lambda: board(pilot).state.snapshot is not look, 10.0)
        await shows(pilot, " ▏2/3 ▏", 10.0)
        three.sandbox.call(lambda sandbox: sandbox.faults.cluster.start_broker(2))
        await shows(pilot, " ▏3/3 ▏", 10.0)


async def test_an_answer_that_takes_longer_than_a_beat_still_comes(world: World) -> None:
    async with world.open(app=Counting) as pilot:
        world.sandbox.faults.wire.delay("DescribeLogDirs", 0.9, times=FOREVER)
        await pilot.press("ctrl+t")
        await shows(pilot, "Topics (1)", 10.0)
        assert board(pilot).toasts == 0
        world.sandbox.faults.clear()


@pytest.mark.parametrize("api", ["Metadata", "ListGroups", "OffsetFetch", "DescribeLogDirs", "Fetch"])
async def test_quitting_does_not_wait_for_a_broker_that_never_answers(world: World, api: str) -> None:
    app = Counting(LiveSession(world.settings(), interval=0.2))
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: app.state.snapshot is not None)
        before = requests(world.sandbox, api)
        world.sandbox.faults.wire.never_answer(api, times=FOREVER)
        await pilot.press(*(["ctrl+t"] if api == "DescribeLogDirs" else []))
        if api == "Fetch":
            await pilot.press("colon", *"records orders", "enter")
        await until(pilot, lambda: requests(world.sandbox, api) > before)
        begun = time.monotonic()
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)
    assert time.monotonic() - begun < 5.0  # a request is given up after 30 s
    world.sandbox.faults.clear()


async def test_keys_are_quick_while_nothing_answers(world: World) -> None:
    async with world.open(app=Counting) as pilot:
        before = requests(world.sandbox, "Metadata")
        world.sandbox.faults.wire.never_answer("Metadata", times=FOREVER)
        world.sandbox.faults.wire.never_answer("ListGroups", times=FOREVER)
        await until(pilot, lambda: requests(world.sandbox, "Metadata") > before)
        begun = time.monotonic()
        for _ in range(10):
            await pilot.press("j", "k")
        assert time.monotonic() - begun < 5.0
        world.sandbox.faults.clear()


def test_a_tail_is_drawn_from_while_it_is_filled_on_another_thread() -> None:
    tail = Tail(["t"], keep=2000)
    one = Seen(0, "t", 0, 0, 0, None, b"x", ())
    done = threading.Event()
    problems: list[Exception] = []

    def draw() -> None:
        last = 0
        try:
            while not done.is_set():
                new = tail.since(last)
                numbers = [seen.number for seen in new]
                assert numbers == sorted(numbers)
                last = numbers[-1] if numbers else last
        except (RuntimeError, AssertionError) as problem:  # said by the own thread of the test
            problems.append(problem)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=draw)
    thread.start()
    try:
        for number in range(1, 60_000):
            tail._ring.append(one._replace(number=number))
    finally:
        done.set()
        thread.join(30)
        sys.setswitchinterval(before)
    assert not problems


async def test_what_is_asked_after_the_end_is_refused_and_no_coroutine_is_left() -> None:
    stage, unused = ClientThread(), ClientThread()
    stage.start()
    await stage.stop()
    await unused.stop()
    for one in (stage, unused):
        with pytest.raises(KcliError, match="the session is closed"):
            await one.run(asyncio.sleep(0))
        one.call(lambda: None)
        await one.stop()
    gc.collect()  # a coroutine that nobody awaits, or a loop that nobody closes, warns now


@pytest.mark.parametrize("place", ["brokers", "topic orders", "records orders"])
async def test_keys_that_come_before_their_page_is_made_do_no_harm(world: World, place: str) -> None:
    """Typed in one go, or pasted: the page is on top before it has anything on it."""
    async with world.open() as pilot:
        board = pilot.app
        assert isinstance(board, Dashboard)
        for action in ("filter", "tab('x')", "back"):
            route = find(place)
            assert route is not None
            page = page_of(route, board.state)
            made = board.push_screen(page)
            assert board.screen is page
            assert not page.is_mounted
            await board.run_action(action, page)
            await made
            await pilot.pause()
            if board.screen is page:
                await pilot.press("escape")
            await until(pilot, lambda: isinstance(board.screen, Groups))


async def test_an_error_of_kclis_own_is_told_and_the_next_look_is_made(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world.open(app=Counting) as pilot:
        await shows(pilot, "billing")
        original = Watch.refresh

        async def broken(self: Watch) -> LagSnapshot:
            raise ZeroDivisionError("of nothing")

        monkeypatch.setattr(Watch, "refresh", broken)
        await until(
            pilot, lambda: board(pilot).state.problem == "an error of kcli's own: ZeroDivisionError('of nothing')"
        )
        monkeypatch.setattr(Watch, "refresh", original)
        await until(pilot, lambda: not board(pilot).state.problem)
        assert board(pilot).toasts == 1
