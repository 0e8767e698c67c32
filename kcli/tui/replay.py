"""A recording of `kcli lag record`, played again: the same screens, no cluster.

Only where each line begins is kept; going back means feeding a fresh history with the quarter of an hour before.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from kcli.client import Client
from kcli.errors import DecodeError, KcliError, UsageError
from kcli.lag.events import Event
from kcli.lag.formats.recording import read
from kcli.lag.history import KEEP, History
from kcli.lag.watch import LagSnapshot
from kcli.model import TopicPartition
from kcli.tui.messages import Connected, Looked, LookFailed
from kcli.tui.session import NoCluster, Post, Session
from kcli.tui.text.printable import quoted
from kcli.tui.trails import Trails

T = TypeVar("T")

SPEEDS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


class Recording:
    """The snapshots of a file by number, a line each. Raises UsageError for a file that cannot be read or has none. An
    incomplete last line is skipped: `unfinished`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.times: list[float] = []
        self._places: list[int] = []
        self.unfinished = False
        try:
            with path.open("rb") as lines:
                place = 0
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        self._note(line, number, place)
                    place += len(line)
        except OSError as problem:
            raise UsageError(f"--replay {path}: {problem.strerror}") from problem
        if not self.times:
            raise UsageError(f"--replay {path}: the recording has no refresh; record one: kcli lag record > {path}")

    def _note(self, line: bytes, number: int, place: int) -> None:
        """When a snapshot was made, and where its line is."""
        try:
            time = read(line.decode())[0]
        except (DecodeError, UnicodeDecodeError) as problem:
            self.unfinished = bool(self.times) and not line.endswith(b"\n")
            if not self.unfinished:
                raise UsageError(f"--replay {self.path}:{number}: {problem}") from problem
        else:
            self.times.append(time)
            self._places.append(place)

    def line(self, number: int) -> str:
        """The line of a snapshot."""
        with self.path.open("rb") as lines:
            lines.seek(self._places[number])
            return lines.readline().decode()

    def feed(self, history: History, number: int) -> LagSnapshot:
        """Add a snapshot; what it shows."""
        time, shot = read(self.line(number))
        groups = history.add(time, shot)
        snapshot = LagSnapshot(time=time, snapshot=shot, groups=groups, events=history.news)
        snapshot.failed, snapshot.brokers = shot.failed, shot.brokers
        return snapshot


class ReplaySession(Session):
    """`at` is the number of the snapshot that is shown, `speed` how many seconds of it pass in one."""

    live = False
    word = "RECORDING"
    lacks = "Not in a recording"

    def __init__(self, recording: Path | Recording, *, window: float = 60.0) -> None:
        super().__init__()
        self.recording = Recording(recording) if isinstance(recording, Path) else recording
        self.name = self.recording.path.name
        self.at = 0
        self.speed = 1.0
        self.window = window
        self._history = History(window=window)
        self._fed = -1
        self._playing: asyncio.Task[None] | None = None
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
        post(Connected(None, 0))
        if self.recording.unfinished:
            post(LookFailed(KcliError("the recording ends in the middle of a line, which is ignored")))
        self.begin(post, len(self.times) - 1)

    def begin(self, post: Post, at: int) -> None:
        """Show a snapshot, and wait to be played."""
        self._post = post
        self.paused = True
        self.go(at)
        self._playing = asyncio.create_task(self._play(), name="replay")

    async def close(self) -> None:
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.wait({self._playing})

    async def _play(self) -> None:
        """While it is not paused, look after look at their own pace, times the speed."""
        while True:
            self._moved.clear()
            if self.paused or self.at + 1 >= len(self.times):
                await self._moved.wait()
                continue
            try:
                async with asyncio.timeout((self.times[self.at + 1] - self.times[self.at]) / self.speed):
                    await self._moved.wait()
            except TimeoutError:
                self.go(self.at + 1)

    def rate_over(self, window: float) -> None:
        self.window = window
        self._fed = len(self.times)  # so that all is worked out anew
        self.go(self.at)

    def look_now(self) -> None:
        if self.at + 1 >= len(self.times):
            self.go(0)  # play it again
        self._moved.set()

    def step(self, by: int) -> None:
        """Move by that many snapshots, forward or back."""
        self.go(self.at + by)
        self._moved.set()

    def faster(self, by: int) -> None:
        """The next speed up or down."""
        place = SPEEDS.index(self.speed) + by
        self.speed = SPEEDS[max(0, min(place, len(SPEEDS) - 1))]
        self._moved.set()

    def go(self, to: int) -> None:
        """Show this snapshot."""
        to = max(0, min(to, len(self.times) - 1))
        if to <= self._fed or to - self._fed > 1:
            self._history = History(window=self.window)
            self.trails = Trails()
            first = bisect_right(self.times, self.times[to] - KEEP)
        else:
            first = to
        try:
            for number in range(first, to + 1):
                snapshot = self.recording.feed(self._history, number)
                self.trails.add(snapshot)
        except (OSError, DecodeError, UnicodeDecodeError) as problem:
            self.paused, self._fed = True, len(self.times)  # all is worked out anew, if it is ever whole again
            why = (isinstance(problem, OSError) and problem.strerror) or problem
            self._post(LookFailed(KcliError(f"{self.recording.path} was changed while it is replayed: {why}")))
            return
        self.at = self._fed = to
        self._post(Looked(snapshot, self.trails))

    async def ask(self, work: Callable[[Client], Awaitable[T]]) -> T:
        raise NoCluster

    async def change(self, work: Callable[[Client], Awaitable[T]], *, confirmed: str = "") -> T:
        raise NoCluster

    def note(self, event: Event) -> None:
        """A recording stays as it is."""

    async def lags(self, group: str, wanted: list[TopicPartition], moments: list[float]) -> list[list[int | None]]:
        return [self._history.lags(group, at, moments) for at in wanted]

    async def events(self, group: str) -> list[Event]:
        return self._history.events_of(group)
