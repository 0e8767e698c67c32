"""When a member has to hear from its coordinator before it reads on; on a clock that only the test moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcli.consumer.group.session import OVERDUE, PULSE, Standstill


class Clock:
    """The part of a loop that a Standstill needs."""

    def __init__(self) -> None:
        self.now = 100.0
        self.timers: list[Timer] = []

    def time(self) -> float:
        return self.now

    def call_later(self, pause: float, what: Callable[[], None]) -> Timer:
        self.timers.append(Timer(self, self.now + pause, what))
        return self.timers[-1]

    def run(self, seconds: float) -> None:
        """Time passes, and what is due runs in time."""
        until = self.now + seconds
        while due := [one for one in self.timers if one.at <= until]:
            self.now = max(self.now, due[0].at)
            due[0].cancel()
            due[0].what()
        self.now = until

    def stop(self, seconds: float) -> None:
        """Time passes, and nothing runs."""
        self.now += seconds
        self.run(0.0)


class Timer:
    def __init__(self, clock: Clock, at: float, what: Callable[[], None]) -> None:
        self.clock, self.at, self.what = clock, at, what

    def cancel(self) -> None:
        self.clock.timers.remove(self)


def make() -> tuple[Clock, Standstill]:
    clock = Clock()
    loop: Any = clock
    return clock, Standstill(loop)


def test_E46_a_heartbeat_that_is_overdue_says_that_the_process_stood_still() -> None:
    clock, standstill = make()
    unsure = []
    for late in (OVERDUE - 0.01, OVERDUE + 0.01):
        standstill.check(clock.now - late)
        unsure.append(standstill.unsure)
    standstill.sent()
    assert not standstill.ended(answered=True)
    assert [*unsure, standstill.unsure] == [False, True, False]


def test_E46_a_coordinator_that_is_slow_is_no_standstill() -> None:
    clock, standstill = make()
    standstill.sent()
    clock.run(40.0)
    standstill.check(clock.now - 39.0)
    assert not standstill.unsure
    assert not standstill.ended(answered=True)


def test_E46_a_stop_while_a_heartbeat_is_under_way_asks_for_another_one() -> None:
    clock, standstill = make()
    standstill.sent()
    clock.run(PULSE / 2)
    clock.stop(PULSE + OVERDUE + 0.01)
    unsure = [standstill.unsure]
    assert standstill.ended(answered=True)
    unsure.append(standstill.unsure)
    standstill.sent()
    assert not standstill.ended(answered=True)
    assert [*unsure, standstill.unsure] == [True, True, False]


def test_E46_no_answer_leaves_it_unsure_without_haste() -> None:
    clock, standstill = make()
    standstill.check(clock.now - 2 * OVERDUE)
    standstill.sent()
    assert not standstill.ended(answered=False)
    assert standstill.unsure
    assert not clock.timers, "a heartbeat that ended leaves no timer"
