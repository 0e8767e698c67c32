"""The dashboard on 10,000 topics with 100,000 partitions: what opening, keys, a filter and refreshes cost, and memory.

Of keys and the filter both are measured: the time, which other programs on the machine lengthen, and the seconds of a
core that the thread which draws takes meanwhile, which they do not. The limits are those of `Seen.missed`.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from tests.tui.terminal import Terminal, cursor_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PARTITIONS = 10
LINES = 40
COUNT = re.compile(rb"\x1b\[%d;\d{3}H(\x1b\[[\d;]*m| )*\d" % (LINES - 2))
"""Digits at the right of the filter's line."""
KEY, FILTER = 0.05, 0.1
"""Seconds of a core at the 99th percentile of keys, and of a filter's letter."""
OPENING = 5.0
"""Seconds of a core from the start of the program to the first picture of all topics, one refresh included."""
GROWTH = 1.05
"""Memory at the end, as a part of what it is after the first third."""
IDLE = 0.02
"""The part of a core between keys: refreshes, and the picture with its clocks."""
BOX = """
import sys, time
from kcli.sandbox.thread import SandboxThread
with SandboxThread(topics={f"team-{n % 37}.topic-{n:05}": int(sys.argv[2]) for n in range(int(sys.argv[1]))}) as box:
    print(box.bootstrap, flush=True)
    sys.stdin.read()
"""


@contextlib.contextmanager
def many_topics(topics: int) -> Iterator[str]:
    """The address of a sandbox with this number of topics, in a process of its own."""
    words = [sys.executable, "-c", BOX, str(topics), str(PARTITIONS)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


class Times(NamedTuple):
    """Of something done many times: the time and the seconds of a core, each time."""

    waited: list[float]
    computed: list[float]

    @property
    def slow(self) -> float:
        """The 99th percentile of the seconds of a core."""
        return percentile(self.computed)

    def __str__(self) -> str:
        waited, computed = (
            f"{percentile(some, 0.5) * 1000:.0f} ms, 99% {percentile(some) * 1000:.0f} ms"
            for some in (self.waited, self.computed)
        )
        return f"{len(self.waited)} times: {waited}; of a core {computed}"


class Seen(NamedTuple):
    """What was measured. `idle` has the part of a core that the program took while no key was pressed, `memory` the
    bytes it had, each minute."""

    topics: int
    opening: float
    keys: Times
    letters: Times
    idle: list[float]
    memory: list[int]

    @property
    def share(self) -> float:
        """The part of a core between keys, after the first third: two refreshes come soon after one another."""
        rest = self.idle[len(self.idle) // 3 :]
        return sum(rest) / len(rest)

    @property
    def growth(self) -> float:
        """The most of the last third, as a part of the most of the one before."""
        third = max(len(self.memory) // 3, 1)
        return max(self.memory[-third:]) / max(self.memory[third : 2 * third] or self.memory)

    @property
    def missed(self) -> list[str]:
        """The limits that do not hold, a sentence each."""
        held = {
            f"opening took {self.opening:.1f} s of a core, limit {OPENING}": self.opening <= OPENING,
            f"a key took {self.keys.slow:.3f} s, limit {KEY}": self.keys.slow <= KEY,
            f"a letter took {self.letters.slow:.3f} s, limit {FILTER}": self.letters.slow <= FILTER,
            f"refreshing took {self.share:.1%} of a core, limit {IDLE:.0%}": self.share <= IDLE,
            f"memory grew by {self.growth - 1:.1%}, limit {GROWTH - 1:.0%}": self.growth <= GROWTH,
        }
        return [sentence for sentence, holds in held.items() if not holds]

    def __str__(self) -> str:
        parts = ", ".join(f"{part:.1%}" for part in self.idle)
        megabytes = ", ".join(f"{some / 1e6:.0f}" for some in self.memory[:: max(len(self.memory) // 10, 1)])
        return (
            f"{self.topics:,} topics × {PARTITIONS} partitions: opened for {self.opening:.1f} s of a core\n"
            f"  keys {self.keys}\n  letters of a filter {self.letters}\n"
            f"  {self.share:.2%} of a core between keys ({parts})\n  memory {megabytes} MB"
        )


def percentile(some: list[float], share: float = 0.99) -> float:
    """The value that this share of them is not above."""
    return sorted(some)[min(int(len(some) * share), len(some) - 1)]


def watch(bootstrap: str, topics: int, seconds: float) -> Seen:
    """Watch the page of topics for `seconds`: two thirds of a minute without a key, then keys, and again."""
    board = Terminal([sys.executable, "-m", "kcli", "tui", "topics", "-b", bootstrap], 140, LINES)
    keys, letters, memory = Times([], []), Times([], []), []
    idle = []
    try:
        board.until(lambda drawn: b"topic-00000" in drawn, 300.0)
        opening = board.computed()
        board.rest(60.0)  # two refreshes, after which the third rests for what they cost
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            before, begun = board.computed(), time.monotonic()
            board.rest(40.0)
            idle.append((board.computed() - before) / (time.monotonic() - begun))
            move(board, keys)
            narrow(board, letters)
            memory.append(board.memory())
    finally:
        code = board.end(b"q")
    assert code == 0, code
    return Seen(topics, opening, keys, letters, idle, memory)


def move(board: Terminal, keys: Times) -> None:
    """Move the cursor down and up again."""
    board.press(b"g")
    board.rest(0.5)
    for _ in range(20):
        for key in (b"j", b"k"):
            press(board, key, keys, lambda drawn: cursor_line(drawn) is not None)


def counted(drawn: bytes) -> bool:
    """Whether the number of rows beside the filter was drawn: after the first letter only the digits that change."""
    return b" of " in drawn or COUNT.search(drawn) is not None


def narrow(board: Terminal, letters: Times) -> None:
    """Type a filter letter by letter; each changes how many rows there are."""
    board.press(b"/")
    board.rest(0.3)
    for letter in (b"0", b"7", b"7"):
        press(board, letter, letters, counted)
    board.press(b"\x1b")  # out of the filter, with all rows again
    board.rest(1.0)


def press(board: Terminal, key: bytes, times: Times, done: Callable[[bytes], bool]) -> None:
    """Press a key until it is drawn, and let the rest of it be done."""
    before = board.drew()
    board.press(key)
    times.waited.append(board.until(done, 20.0))
    times.computed.append(board.drew() - before)
    board.rest(0.1)
