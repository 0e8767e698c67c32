"""The one memory bound of a producer, retries included (D6): first come, first served.

A waiter that gives up leaves its place; a small one never overtakes a large one (A4.11). Bytes and records are both
bounded. Whatever is larger than the whole bound is refused at once.
"""

from __future__ import annotations

import asyncio
from collections import deque

from kcli.errors import BufferFull
from kcli.proto.core import Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Budget(Taken):
    """Bytes and records that are accepted and not yet settled."""

    def __init__(self, max_bytes: int, max_records: int, on_full: Callable[[], None] | None = None) -> None:
        self._on_full = on_full  # called when a sender has to wait: lingering batches must go now (A1.09)
        self.max_bytes = max_bytes
        self.max_records = max_records
        self.bytes = 0
        self.records = 0
        self.waiters: deque[tuple[int, int, asyncio.Future[None]]] = deque()

    @property
    def waiting(self) -> int:
        """How many callers wait for room."""
        return len(self.waiters)

    @property
    def pressed(self) -> bool:
        """Whether more than half of it is taken."""
        return 2 * self.bytes > self.max_bytes or 2 * self.records > self.max_records

    def fits(self, size: int, records: int) -> bool:
        return self.bytes + size <= self.max_bytes and self.records + records <= self.max_records

    def take_now(self, size: int, records: int) -> bool:
        """Take room if there is enough and no other caller waits for some."""
        if self.waiters or self.bytes + size > self.max_bytes or self.records + records > self.max_records:
            return False
        self.bytes += size
        self.records += records
        return True

    async def take(self, size: int, records: int, timeout: float, *, block: bool = True) -> None:
        """Take room for `size` bytes, waiting up to `timeout` seconds. Raises BufferFull."""
        if size > self.max_bytes or records > self.max_records:
            raise BufferFull(
                f"{size} bytes are more than the producer's whole buffer of {self.max_bytes} (buffer.memory)"
            )
        if self.take_now(size, records):
            return
        if not block:
            raise self.full()
        room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        place = (size, records, room)
        self.waiters.append(place)
        if self._on_full is not None:
            self._on_full()
        try:
            async with asyncio.timeout(timeout):
                await room
        except BaseException as problem:
            if room.done() and not room.cancelled() and room.exception() is None:
                self.give(size, records)  # room came at the very moment we gave up
            else:
                if place in self.waiters:
                    self.waiters.remove(place)
                self._wake()
            if isinstance(problem, TimeoutError):
                raise BufferFull(
                    f"the producer's buffer of {self.max_bytes} bytes stayed full for {timeout:g} s (max.block.ms): "
                    "the cluster does not take records as fast, or does not answer"
                ) from None
            raise

    def full(self) -> BufferFull:
        """Return the error for a caller that does not wait."""
        return BufferFull(f"the producer's buffer of {self.max_bytes} bytes is full (buffer.memory)")

    def refuse(self, error: Exception) -> None:
        """Fail each caller that waits for room with the error."""
        for _, _, room in self.waiters:
            if not room.done():
                room.set_exception(error)

    def give(self, size: int, records: int) -> None:
        """Give room back and wake those it is enough for, in order."""
        self.bytes -= size
        self.records -= records
        if self.waiters:
            self._wake()

    def _wake(self) -> None:
        while self.waiters:
            size, records, room = self.waiters[0]
            if not room.done() and not self.fits(size, records):
                return
            self.waiters.popleft()
            if room.done():
                continue  # cancelled, and its task has not run yet
            self.bytes += size
            self.records += records
            room.set_result(None)
