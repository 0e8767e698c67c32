"""`make late`: an event loop that hears of its sockets late, at random, as on a busy machine or a slow network.

A pytest plugin (`-p tests.late`). Of what `select` finds, 3 % is held back for up to 40 ms: answers overtake one
another between connections, the end of a connection is seen after the next request, whoever was first is second.
Nothing that is held back is out of order on its own connection, so whatever fails here can happen to anybody.
LATE_SEED repeats.
"""

from __future__ import annotations

import os
import random
import selectors
import time

SHARE, LONGEST = 0.03, 0.04
PATIENCE = 0.002
"""Seconds: how often to look whether something has been held back for long enough."""

_dice = random.Random(int(os.environ.get("LATE_SEED", "0")))
_select = selectors.EpollSelector.select


def _late(self: selectors.EpollSelector, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
    held: dict[int, float] = vars(self).get("held_back", {})
    soon = PATIENCE if timeout is None else min(timeout, PATIENCE)
    found, now = _select(self, soon if held else timeout), time.monotonic()
    told, kept = [], {}
    for key, event in found:
        until = held.get(key.fd)
        if until is None and _dice.random() < SHARE:
            until = now + _dice.uniform(0.001, LONGEST)
        if until is None or until <= now:
            told.append((key, event))
        else:
            kept[key.fd] = until
    vars(self)["held_back"] = kept
    if kept and not told:
        time.sleep(PATIENCE / 4)  # what is held back is ready all the time
    return told


def pytest_configure() -> None:
    selectors.EpollSelector.select = _late  # type: ignore[method-assign]
