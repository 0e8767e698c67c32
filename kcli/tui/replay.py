"""A recording of `kcli lag record`, played again: the same screens, no cluster.

Only where each line begins is kept; going back means feeding a fresh history with the quarter of an hour before, which
is done beside the screens (navigation/feeding.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from kcli.client import Client
from kcli.errors import DecodeError, KcliError, UsageError
from kcli.lag.events import Event
from kcli.lag.formats.recording import read, time_of
from kcli.lag.history import History
from kcli.model import TopicPartition
from kcli.tui.beat.gc_tuning import GcTuning
from kcli.tui.messages import Connected, Looked, LookFailed
from kcli.tui.navigation.feeding import Feeding, Place
from kcli.tui.session import NoCluster, Post, Session
from kcli.tui.text.printable import quoted

T = TypeVar("T")

SPEEDS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


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
            with path.open("rb") as lines:
                place = 0
                for number, line in enumerate(lines, 1):
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
        with self.path.open("rb") as lines:
            lines.seek(self._places[number])
            return lines.readline().decode()


class ReplaySession(Session):
    """`at` is the number of the snapshot on the screen, `to` of the snapshot that follows it there. `speed` is seconds
    of the recording that pass in a second."""

    live = False
    waits = "reading the recording …"
    word = "RECORDING"
    lacks = "Not in a recording"

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
            post(LookFailed(KcliError("the recording ends in the middle of a line, which is ignored")))
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

    def look_now(self) -> None:
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
                self._post(LookFailed(KcliError(f"{self.recording.path}: {why}")))
                return
            if fed is not None:
                self.at, self._shown, self.trails = place.number, place, fed.trails
                self._post(Looked(fed.snapshot, fed.trails))

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
