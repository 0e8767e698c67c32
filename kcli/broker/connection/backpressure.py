"""When a connection may be written to: while the peer reads (back-pressure, B5) and does not throttle us (B25)."""

from __future__ import annotations

import asyncio

LONG = 60.0
"""Seconds of silence that no quota asks for: the broker is wrong, or its quotas let nothing through."""


class Gate:
    """Closed by `pause`, `mute` or `hold`; open when none of them holds. A gate that was ended stays open."""

    __slots__ = ("_ended", "_held", "_loop", "_muted_until", "_opened", "_paused", "asked", "open")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.open = True
        self._opened = asyncio.Event()  # the same, to wait for
        self._opened.set()
        self._paused = False
        self._held = False
        self._ended = False
        self._muted_until = 0.0
        self.asked = 0.0  # seconds of silence, of the answer that mutes us now

    @property
    def paused(self) -> bool:
        """The peer does not read."""
        return self._paused

    @property
    def muted(self) -> bool:
        return self._loop.time() < self._muted_until

    async def wait(self, timeout: float) -> bool:
        """Wait until it is open. False when the peer has not read for `timeout` seconds; being throttled is not
        counted, that is no fault of the peer's; a silence that is too long ends with them."""
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
        """It reads again."""
        self._paused = False
        self._update()

    def hold(self) -> None:
        """Something else goes first (re-authentication)."""
        if not self._ended:
            self._held = True
            self._close()

    def release(self) -> None:
        """It is over."""
        self._held = False
        self._update()

    def mute(self, seconds: float) -> None:
        """The peer asks for silence. Its answers keep coming."""
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
        """The connection is lost: wake all waiters, which notice it."""
        self._ended = True
        self._held = False
        self._muted_until = 0.0
        self._open()
