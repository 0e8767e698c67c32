"""How long a refresh rests: one that costs much is repeated less often."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARE = 0.01
"""The part of a core that refreshing may take; the clocks on the screen take 0.8 % more."""
FREE = 0.05
"""Seconds of a core that a refresh may cost at any interval: the share of the default one."""


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
