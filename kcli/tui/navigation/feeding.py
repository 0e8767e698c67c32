"""What a recording shows at one of its snapshots, worked out beside the screens: of a large cluster it takes seconds.

Rates and statuses need a history of the quarter of an hour before. It is fed in a thread, group by group, so that keys
get their turn, and in one thread: what is asked of the history waits until it is whole.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kcli.errors import DecodeError
from kcli.lag.formats.recording import read
from kcli.lag.history import KEEP, History
from kcli.lag.watch import LagSnapshot
from kcli.tui.beat.gc_tuning import GcTuning
from kcli.tui.trails import Trails

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

T = TypeVar("T")


class Place(NamedTuple):
    """The number of a snapshot, and what rates are taken over, in seconds."""

    number: int
    window: float


class Fed(NamedTuple):
    """All that is shown at a place."""

    place: Place
    history: History
    trails: Trails
    snapshot: LagSnapshot


class Feeding:
    """`times` are those of all snapshots, `line` the text of one; what is made is made within `making`. `wanted` is the
    place to go to; one that is no longer wanted is left at once."""

    def __init__(
        self,
        times: Sequence[float],
        line: Callable[[int], str],
        making: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self.wanted: Place | None = None
        self._times, self._line, self._making = times, line, making
        self._fed: Fed | None = None
        self._open = True
        self._thread = ThreadPoolExecutor(1, "kcli-replay")

    async def feed(self, place: Place) -> Fed | None:
        """What is shown there; None where another place was wanted meanwhile. Raises OSError and DecodeError for
        snapshots that cannot be read."""
        self.wanted = place
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._feed, place)

    async def ask(self, question: Callable[[History], T], unknown: T) -> T:
        """What the history tells; `unknown` without one."""

        def answer() -> T:
            return unknown if self._fed is None else question(self._fed.history)

        return await asyncio.get_running_loop().run_in_executor(self._thread, answer) if self._open else unknown

    def free(self, values: list[Any]) -> None:
        """Let go of values in the thread; the list is this one's from now on."""
        if self._open:
            self._thread.submit(GcTuning.free, values)

    def close(self) -> None:
        """Leave what is under way, and let go of the history."""
        self.wanted = None
        if self._open:
            self._open = False
            self._thread.submit(self._forget)
            self._thread.shutdown(wait=False)

    # -- in the thread ---

    def _feed(self, place: Place) -> Fed | None:
        before = self._fed
        if before is not None and before.place == (place.number - 1, place.window):
            history, trails, first = before.history, before.trails, place.number
        else:
            self._forget()
            history, trails = History(window=place.window), Trails()
            first = bisect_right(self._times, self._times[place.number] - KEEP)
        self._fed = before = None  # it is no longer whole
        with self._making():
            for number in range(first, place.number + 1):
                try:
                    added = self._add(history, number, place)
                except DecodeError:
                    if number == place.number:
                        raise
                    continue  # a gap in the history
                if added is None:
                    history.clear()
                    return None
                trails.add(added)
                snapshot = added
        self._fed = Fed(place, history, trails, snapshot)
        return self._fed

    def _add(self, history: History, number: int, place: Place) -> LagSnapshot | None:
        """Add a snapshot to the history; None where another place is wanted."""
        try:
            time, shot = read(self._line(number))
        except (DecodeError, UnicodeDecodeError) as problem:
            when = datetime.fromtimestamp(self._times[number])
            words = f"the refresh of {when:%H:%M:%S} is damaged, or the file was changed meanwhile: {problem}"
            raise DecodeError(words) from problem
        groups = []
        for group in history.adding(time, shot):
            groups.append(group)
            if self.wanted != place:
                return None
        snapshot = LagSnapshot(time=time, snapshot=shot, groups=groups, events=history.news)
        snapshot.failed, snapshot.brokers = shot.failed, shot.brokers
        return snapshot

    def _forget(self) -> None:
        fed, self._fed = self._fed, None
        if fed is not None:
            fed.history.clear()
