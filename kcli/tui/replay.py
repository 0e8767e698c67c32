"""A recording of `kcli lag record`, played again: the same screens, no cluster.

Only where each line begins is kept; going back means feeding a fresh history with the quarter of an hour before, which
is done beside the screens (`Feeding`).
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kcli.client import Client
from kcli.errors import DecodeError, KcliError, UsageError
from kcli.lag.events import Event
from kcli.lag.formats.recording import read, time_of
from kcli.lag.history import KEEP, History
from kcli.lag.watch import LagSnapshot
from kcli.model import TopicPartition
from kcli.system import files
from kcli.tui.beat.gc_tuning import GcTuning
from kcli.tui.messages import Connected, SnapshotArrived, SnapshotFailed
from kcli.tui.session import NoCluster, Post, Session
from kcli.tui.text.printable import quoted
from kcli.tui.trails import Trails

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

SPEEDS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


# What a recording shows at one of its snapshots, worked out beside the screens: of a large cluster it takes seconds.
#
# Rates and statuses need a history of the quarter of an hour before. It is fed in a thread, group by group, so that
# keys get their turn, and in one thread: what is asked of the history waits until it is whole.
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


class Recording:
    """The snapshots of a file by number, a line each. Of a line that kcli wrote only the time is read: a day has
    hundreds of megabytes. Raises UsageError for a file that cannot be read or has none. An incomplete last line is
    skipped: `unfinished`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.times: list[float] = []
        self._places: list[int] = []
        self.unfinished = False
        newest, at = b"", 0
        try:
            with files.opened(path) as written:
                place = 0
                for number, line in enumerate(files.lines(written), 1):
                    if line.strip() and self._note(line, number, place):
                        newest, at = line, number
                    place += len(line)
        except OSError as problem:
            raise UsageError(f"--replay {path}: {problem.strerror}") from problem
        if not self.times:
            raise UsageError(f"--replay {path}: the recording has no refresh; record one: kcli lag record > {path}")
        self._read(newest, at)  # it is shown first

    def _note(self, line: bytes, number: int, place: int) -> bool:
        """When a snapshot was made, and where its line is; whether it is a whole one."""
        time = time_of(line)
        if time is None:
            try:
                time = self._read(line, number)
            except UsageError:
                self.unfinished = bool(self.times) and not line.endswith(b"\n")
                if not self.unfinished:
                    raise
                return False
        self.times.append(time)
        self._places.append(place)
        return True

    def _read(self, line: bytes, number: int) -> float:
        """The time of a line that is read whole. Raises UsageError for a malformed one."""
        try:
            return read(line.decode())[0]
        except (DecodeError, UnicodeDecodeError) as problem:
            raise UsageError(f"--replay {self.path}:{number}: {problem}") from problem

    def line(self, number: int) -> str:
        """The line of a snapshot."""
        with files.opened(self.path) as written:
            written.seek(self._places[number])
            return next(files.lines(written), b"").decode()


class ReplaySession(Session):
    """`at` is the number of the snapshot on the screen, `to` of the snapshot that follows it there. `speed` is seconds
    of the recording that pass in a second."""

    live = False
    waits = "reading the recording …"
    word = "RECORDING"
    lacks = "Not in a recording"
    leaves = ""
    """The key that leaves it, where there is a place to go."""

    def __init__(self, recording: Path | Recording, *, window: float = 60.0) -> None:
        super().__init__()
        self.recording = Recording(recording) if isinstance(recording, Path) else recording
        self.name = self.recording.path.name
        self.at = self.to = 0
        self.speed = 1.0
        self.window = window
        self._gc = GcTuning()
        self._feeding = Feeding(self.recording.times, self.recording.line, self.making)
        self._shown: Place | None = None
        self._playing: asyncio.Task[None] | None = None
        self._going: asyncio.Task[None] | None = None
        self._moved = asyncio.Event()
        times = self.recording.times
        self.interval = (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else 5.0

    @property
    def times(self) -> list[float]:
        """When each snapshot was made, in seconds since the epoch."""
        return self.recording.times

    def clock(self) -> float:
        return self.times[self.at]

    def command(self, words: str, narrowed: str) -> str:
        path = quoted(str(self.recording.path))
        if words.startswith("kcli lag"):
            return f"{words.replace(' --watch', '')} --replay {path}"
        return f"kcli tui --replay {path}"

    async def open(self, post: Post) -> None:
        self._gc.begin()
        post(Connected(None, 0))
        if self.recording.unfinished:
            post(SnapshotFailed(KcliError("the recording ends in the middle of a line, which is ignored")))
        self.begin(post, len(self.times) - 1)

    def begin(self, post: Post, at: int) -> None:
        """Show a snapshot, and wait to be played."""
        self._post = post
        self.paused = True
        self.at = at
        self._playing = asyncio.create_task(self._play(), name="replay")
        self.go(at)

    async def close(self) -> None:
        await self.stop()
        self._gc.end()

    async def stop(self) -> None:
        """Show nothing more."""
        running = {task for task in (self._playing, self._going) if task is not None}
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
        self._feeding.close()

    async def _play(self) -> None:
        """While it is not paused, look after look at their own pace, times the speed."""
        while True:
            self._moved.clear()
            if self.paused or self.to + 1 >= len(self.times):
                await self._moved.wait()
                continue
            try:
                async with asyncio.timeout((self.times[self.to + 1] - self.times[self.to]) / self.speed):
                    await self._moved.wait()
            except TimeoutError:
                if not self.going:  # else it is slower than its own pace
                    self.go(self.to + 1)

    def making(self) -> AbstractContextManager[None]:
        return self._gc.making()

    def free(self, values: list[Any]) -> None:
        self._feeding.free(values)

    def rate_over(self, window: float) -> None:
        self.window = window
        self.go(self.to)

    def refresh_now(self) -> None:
        if self.to + 1 >= len(self.times):
            self.go(0)  # play it again
        self._moved.set()

    def step(self, by: int) -> None:
        """Move by that many snapshots, forward or back."""
        self.go(self.to + by)
        self._moved.set()

    def faster(self, by: int) -> None:
        """The next speed up or down."""
        place = SPEEDS.index(self.speed) + by
        self.speed = SPEEDS[max(0, min(place, len(SPEEDS) - 1))]
        self._moved.set()

    @property
    def going(self) -> bool:
        """Whether another snapshot is being prepared for the screen."""
        return self._going is not None and not self._going.done()

    def go(self, to: int) -> None:
        """Show this snapshot as soon as what was before it is known; what is shown stays until then. Where it is asked
        for another one meanwhile, that is the next one to be shown. Before `begin` it is only noted."""
        self.to = max(0, min(to, len(self.times) - 1))
        self._feeding.wanted = Place(self.to, self.window)
        if self._playing is not None and not self.going:
            self._going = asyncio.create_task(self._go(), name="replay to")

    async def _go(self) -> None:
        while (place := Place(self.to, self.window)) != self._shown:
            self._shown = None  # its history is given up for that of the next one
            try:
                fed = await self._feeding.feed(place)
            except (OSError, DecodeError) as problem:
                self.paused, self.to, self._shown = True, self.at, None
                why = (isinstance(problem, OSError) and problem.strerror) or problem
                self._post(SnapshotFailed(KcliError(f"{self.recording.path}: {why}")))
                return
            if fed is not None:
                self.at, self._shown, self.trails = place.number, place, fed.trails
                self._post(SnapshotArrived(fed.snapshot, fed.trails))

    async def ask(self, work: Callable[[Client], Awaitable[T]]) -> T:
        raise NoCluster

    async def change(self, work: Callable[[Client], Awaitable[T]], *, confirmed: str = "") -> T:
        raise NoCluster

    def note(self, event: Event) -> None:
        """A recording stays as it is."""

    async def lags(self, group: str, wanted: list[TopicPartition], moments: list[float]) -> list[list[int | None]]:
        def known(history: History) -> list[list[int | None]]:
            return [history.lags(group, at, moments) for at in wanted]

        return await self._feeding.ask(known, [[None] * len(moments) for _ in wanted])

    async def events(self, group: str) -> list[Event]:
        return await self._feeding.ask(lambda history: history.events_of(group), [])
