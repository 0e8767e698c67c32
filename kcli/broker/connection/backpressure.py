"""When a connection may be written to: while the peer reads, and does not throttle us."""

from __future__ import annotations

import asyncio
from collections import deque

LONG = 60.0
"""Throttling longer than this, in seconds, is not from a normal quota: the broker is wrong, or its quotas block
everything."""
QUIET_SINCE = {
    0: 6,  # Produce
    1: 8,  # Fetch
    2: 3,  # ListOffsets
    3: 6,  # Metadata
    8: 4,  # OffsetCommit
    9: 4,  # OffsetFetch
    10: 2,  # FindCoordinator
    11: 3,  # JoinGroup
    12: 2,  # Heartbeat
    13: 2,  # LeaveGroup
    14: 2,  # SyncGroup
    15: 2,  # DescribeGroups
    16: 2,  # ListGroups
    18: 2,  # ApiVersions
    19: 3,  # CreateTopics
    20: 2,  # DeleteTopics
    21: 1,  # DeleteRecords
    22: 1,  # InitProducerId
    24: 1,  # AddPartitionsToTxn
    25: 1,  # AddOffsetsToTxn
    26: 1,  # EndTxn
    28: 1,  # TxnOffsetCommit
    32: 2,  # DescribeConfigs
    33: 1,  # AlterConfigs
    37: 1,  # CreatePartitions
    42: 1,  # DeleteGroups
}


class Gate:
    """Closed by `pause`, `mute` or `hold`; open when none of them applies. After `end` it stays open."""

    __slots__ = ("_ended", "_held", "_loop", "_muted_until", "_opened", "_paused", "asked", "open")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.open = True
        self._opened = asyncio.Event()  # the same as an event, to wait for
        self._opened.set()
        self._paused = False
        self._held = False
        self._ended = False
        self._muted_until = 0.0
        self.asked = 0.0  # throttle time of the response that mutes us, in seconds

    @property
    def paused(self) -> bool:
        """The peer does not read."""
        return self._paused

    @property
    def muted(self) -> bool:
        return self._loop.time() < self._muted_until

    async def wait(self, timeout: float) -> bool:
        """Wait until the gate is open. Returns False if the peer has not read for `timeout` seconds; throttling does
        not count, because it is not the peer's fault, unless it is too long."""
        muted = max(0.0, self._muted_until - self._loop.time())
        if self.asked > LONG and muted > timeout:
            return await self._no_longer(timeout)
        try:
            async with asyncio.timeout(muted + timeout):
                await self._opened.wait()
        except TimeoutError:
            return not self._paused
        return True

    async def _no_longer(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._opened.wait()
        except TimeoutError:
            self._muted_until = 0.0
            self._update()
        return not self._paused

    def pause(self) -> None:
        """The peer has stopped reading."""
        self._paused = True
        self._close()

    def resume(self) -> None:
        """The peer reads again."""
        self._paused = False
        self._update()

    def hold(self) -> None:
        """Something else goes first (re-authentication)."""
        if not self._ended:
            self._held = True
            self._close()

    def release(self) -> None:
        """End `hold`."""
        self._held = False
        self._update()

    def mute(self, seconds: float) -> None:
        """The peer throttles us for this many seconds. Its responses keep coming."""
        until = self._loop.time() + seconds
        if until > self._muted_until and not self._ended:
            self._muted_until, self.asked = until, seconds
            self._close()
            self._loop.call_at(until, self._unmute, until)

    def _unmute(self, until: float) -> None:
        if until >= self._muted_until:
            self._muted_until = 0.0
            self._update()

    def _update(self) -> None:
        if self._ended or not (self._paused or self._held or self._muted_until):
            self._open()

    def _open(self) -> None:
        self.open = True
        self._opened.set()

    def _close(self) -> None:
        self.open = False
        self._opened.clear()

    def end(self) -> None:
        """The connection is lost: wake all waiters, which then notice it."""
        self._ended = True
        self._held = False
        self._muted_until = 0.0
        self._open()


class Slots:
    """`count` slots, first come, first served; a waiter that gives up loses its place. While nothing is `waiting`,
    `free` may be changed directly instead of calling `take_now` and `give`."""

    __slots__ = ("free", "waiting")

    def __init__(self, count: int) -> None:
        self.free = count
        self.waiting: deque[asyncio.Future[None]] = deque()

    def take_now(self) -> bool:
        """Take a slot if one is free and no one waits for it."""
        if self.waiting or not self.free:
            return False
        self.free -= 1
        return True

    async def take(self) -> None:
        """Take a slot, waiting for it."""
        if self.take_now():
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give()  # the slot was given at the moment of the cancellation
            elif turn in self.waiting:
                self.waiting.remove(turn)
            raise

    def give(self) -> None:
        """Release a slot; the next waiter gets it."""
        while self.waiting:
            turn = self.waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self.free += 1


# The version of each API from which on a throttled response asks the client to pause (KIP-219).
#
# Before that version the broker had already waited, and waiting again would double the time. Unlisted APIs ask for it
# in every version.
def pause(api_key: int, version: int, throttle_time_ms: int) -> float:
    """Return for how many seconds to pause after such a response."""
    return throttle_time_ms / 1000 if throttle_time_ms > 0 and version >= QUIET_SINCE.get(api_key, 0) else 0.0
