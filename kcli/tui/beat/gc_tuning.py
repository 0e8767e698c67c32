"""No pauses in the middle of a key: what Python's cyclic collector and its switching between threads would cost.

A refresh of 100,000 partitions makes a million values, and a full collection that walks through them stops every thread
for half a second. Nothing of a snapshot is a cycle, so reference counts free it; while it is made nothing is collected,
and what it made is set aside from what the collector walks through.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import time
from collections.abc import Iterator
from typing import Any

SWITCH = 0.001  # seconds a thread may compute while another waits
LARGE = 50_000
"""New values that are set aside, those of a snapshot of 5,000 partitions; fewer are walked through in a moment."""
YOUNG = 20_000
"""Values of drawing, many of them in cycles, that are collected before a snapshot is made: set aside with it they would
stay for minutes, which is 30 MB a minute where records are followed."""
SLICE = 200
"""Rows that are freed at once, with their partitions some 2 ms: between two slices another thread gets its turn."""
OFTEN = 60.0
"""Seconds between two collections of what was made since values were last set aside. Drawing leaves 2 MB a minute of
cycles, which would be set aside with the next snapshot; before it is made, they are few enough to be walked through."""
SELDOM = 600.0
"""Seconds between two full collections: some of what is set aside becomes garbage later, as the parts of a page."""
SHARE = 0.01
"""The part of a core that refreshing may take; the clocks on the screen take 0.8 % more."""
FREE = 0.05
"""Seconds of a core that a refresh may cost at any interval: the share of the default one."""


class GcTuning:
    """`begin` and `end` once; each snapshot and each answer to a page is made within `making`."""

    def __init__(self) -> None:
        self._making = 0  # answers that are made now: several at a time
        self._set_aside = False
        self._collected = self._swept = time.monotonic()
        self._switch = sys.getswitchinterval()

    def begin(self) -> None:
        """Let a key wait at most a moment for the interpreter."""
        sys.setswitchinterval(SWITCH)

    @contextlib.contextmanager
    def making(self) -> Iterator[None]:
        """While values are made that live long, nothing is collected. Many of them are set aside before the next
        collection; now and then everything is gone through."""
        if self._set_aside and not self._making and time.monotonic() - self._swept >= OFTEN:
            self._swept = time.monotonic()
            gc.collect()
        if not self._making and gc.get_count()[0] >= YOUNG:
            gc.collect(0)
        self._making += 1
        gc.disable()
        try:
            yield
        finally:
            self._making -= 1
            if not self._making:
                self._made()
                gc.enable()

    def _made(self) -> None:
        if gc.get_count()[0] < LARGE:
            return
        self._set_aside = True
        if time.monotonic() - self._collected >= SELDOM:
            self._collected = time.monotonic()
            gc.unfreeze()
            gc.collect()
        gc.freeze()

    @staticmethod
    def free(values: list[Any]) -> None:
        """Let go of the values of an answer that another one replaced, while keys are acted upon elsewhere. The list is
        the caller's own."""
        while values:
            del values[-SLICE:]

    def end(self) -> None:
        """Undo what `begin` and `made` set."""
        if self._set_aside:
            gc.unfreeze()
        sys.setswitchinterval(self._switch)


class Pace:
    """The cost of the last two refreshes, in seconds of a core. The cheaper of the two counts: the first refresh loads
    modules and opens connections, and a thread may have other work meanwhile."""

    def __init__(self) -> None:
        self._costs = (0.0, 0.0)

    @contextlib.contextmanager
    def measured(self) -> Iterator[None]:
        """A refresh, on this thread; one that fails or is cancelled does not count."""
        begun = time.thread_time()
        yield
        self.add(time.thread_time() - begun)

    @contextlib.contextmanager
    def continued(self) -> Iterator[None]:
        """More of the refresh that was measured last, on any thread."""
        begun = time.thread_time()
        yield
        before, last = self._costs
        self._costs = before, last + time.thread_time() - begun

    def add(self, cost: float) -> None:
        """A refresh cost that."""
        self._costs = self._costs[1], cost

    def interval(self, wanted: float) -> float:
        """Seconds from one refresh to the next, where `wanted` is what the user wants."""
        cost = min(self._costs)
        return wanted if cost <= FREE else max(wanted, cost / SHARE)
