"""A program on a terminal of its own: keys in, what it drew out, with the time of each.

Not an emulator: it keeps the bytes and answers the one question Textual asks (synchronised output), so that frames can
be counted. What the screen looks like is asked of tmux (test_terminal.py).
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FRAME = b"\x1b[?2026l"
ASKED, ANSWER = b"\x1b[?2026$p", b"\x1b[?2026;2$y"
PLACED = re.compile(rb"\x1b\[(\d+);(\d+)H")


class Terminal:
    """Runs `words` on a terminal of `columns` × `lines`. `frames` are the times at which a frame was complete."""

    def __init__(self, words: list[str], columns: int = 120, lines: int = 40) -> None:
        self.frames: list[float] = []
        self.drawn = b""
        self.pid, self._fd = pty.fork()
        if not self.pid:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
            os.execvp(words[0], words)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def press(self, keys: bytes) -> None:
        os.write(self._fd, keys)

    def read(self, seconds: float) -> bytes:
        """What it draws within this time, at most until it draws something."""
        if not select.select([self._fd], [], [], max(seconds, 0.0))[0]:
            return b""
        try:
            got = os.read(self._fd, 1 << 20)
        except OSError:  # it ended
            return b""
        if ASKED in got:
            self.press(ANSWER)
        self.frames += [time.monotonic()] * got.count(FRAME)
        self.drawn = (self.drawn + got)[-(1 << 20) :]
        return got

    def until(self, holds: Callable[[bytes], bool], seconds: float) -> float:
        """Read until something holds for what was drawn since; how long it took. Raises TimeoutError."""
        begun = time.monotonic()
        self.drawn = b""
        while not holds(self.drawn):
            left = begun + seconds - time.monotonic()
            if left <= 0:
                raise TimeoutError(self.drawn[-3000:].decode("utf-8", "replace"))
            self.read(min(left, 0.5))
        return time.monotonic() - begun

    def rest(self, seconds: float) -> None:
        """Let it draw for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.read(left)

    def memory(self) -> int:
        """Resident bytes of the program."""
        with open(f"/proc/{self.pid}/statm") as figures:
            return int(figures.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def computed(self) -> float:
        """Seconds of a core that the program took until now."""
        with open(f"/proc/{self.pid}/stat") as figures:
            user, system = figures.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def drew(self) -> float:
        """Of these seconds those of the first thread, which reads keys and draws."""
        with open(f"/proc/{self.pid}/task/{self.pid}/schedstat") as figures:
            return int(figures.read().split()[0]) / 1e9

    def end(self, keys: bytes = b"q", seconds: float = 15.0) -> int:
        """Leave it; its exit code. It is killed when it does not go."""
        self.press(keys)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self._fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._fd)
        return -signal.SIGKILL


def cursor_line(drawn: bytes) -> int | None:
    """The line on which the cursor's bar was drawn last."""
    place = drawn.rfind("▌".encode())
    if place < 0:
        return None
    moves = list(PLACED.finditer(drawn, 0, place))
    if not moves:
        return None
    return int(moves[-1].group(1)) + drawn.count(b"\n", moves[-1].end(), place)
