"""No pauses in the middle of a key: what Python's cyclic collector and its switching between threads would cost.

A refresh of 100,000 partitions makes a million values, and a full collection that walks through them stops every thread
for half a second. Nothing of a snapshot is a cycle, so reference counts free it; while it is made nothing is collected,
and what it made is set aside from what the collector walks through.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator

SWITCH = 0.001  # seconds a thread may compute while another waits
LARGE = 5_000
"""Partitions of a snapshot that is set aside; smaller ones are walked through in a moment."""
SELDOM = 500
"""Large snapshots between two full collections: three quarters of an hour at 5 s."""


class GcTuning:
    """`begin` and `end` once; each snapshot is made, and `made` called, within `making`."""

    def __init__(self) -> None:
        self._looks = 0
        self._switch = sys.getswitchinterval()

    def begin(self) -> None:
        """Let a key wait at most a moment for the interpreter."""
        sys.setswitchinterval(SWITCH)

    @contextlib.contextmanager
    def making(self) -> Iterator[None]:
        """While values are made that live long, nothing is collected."""
        gc.disable()
        try:
            yield
        finally:
            gc.enable()

    def made(self, partitions: int) -> None:
        """A snapshot of that many partitions was made: set it aside before the next collection; now and then go through
        everything."""
        if partitions < LARGE:
            return
        self._looks += 1
        if self._looks % SELDOM == 0:
            gc.unfreeze()
            gc.collect()
        gc.freeze()

    def end(self) -> None:
        """Undo what `begin` and `made` set."""
        if self._looks:
            gc.unfreeze()
        sys.setswitchinterval(self._switch)
