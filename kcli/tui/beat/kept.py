"""What a session saw in the last half hour: each snapshot as a compressed line of a recording, to be shown again."""

from __future__ import annotations

import time
import zlib
from collections import deque
from typing import TYPE_CHECKING

from kcli.lag.formats.recording import pieces

if TYPE_CHECKING:
    from kcli.lag.snapshot import Snapshot

REACH = 1800.0
"""Seconds that are kept."""
MOST = 16 << 20
"""Bytes that are kept, compressed."""
SHARE = 0.002
"""The part of a core that keeping may take: large snapshots are kept less often."""


class Kept:
    """Written by the client thread, read by the screens; a deque may be copied while it is appended to."""

    def __init__(self) -> None:
        self._lines: deque[tuple[float, bytes]] = deque()
        self._size = 0
        self._last = self._next = 0.0

    def add(self, moment: float, snapshot: Snapshot) -> None:
        """Keep a snapshot, made at `moment` (seconds since the epoch), unless the last ones cost too much. A clock that
        was set back begins again: what is kept is in the order of time."""
        if moment < self._last:
            self._lines.clear()
            self._size, self._next = 0, 0.0
        self._last = moment
        if moment < self._next:
            return
        begun = time.thread_time()
        packer = zlib.compressobj(1)
        data = b"".join([*(packer.compress(piece.encode()) for piece in pieces(moment, snapshot)), packer.flush()])
        self._lines.append((moment, data))
        self._size += len(data)
        while self._lines and (self._size > MOST or self._lines[0][0] < moment - REACH):
            self._size -= len(self._lines.popleft()[1])
        self._next = moment + (time.thread_time() - begun) / SHARE

    def lines(self) -> list[tuple[float, bytes]]:
        """When each was made, and its line compressed; the oldest first."""
        return list(self._lines)

    def __len__(self) -> int:
        return len(self._lines)
