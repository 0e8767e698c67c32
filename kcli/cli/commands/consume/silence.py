"""How long no record has come, and `--timeout`, after which that is an error."""

from __future__ import annotations

import asyncio
from time import monotonic

from kcli.errors import DeadlineExceeded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable


class Silence:
    """The seconds since the last record; `timeout` None is to wait for ever."""

    def __init__(self, timeout: float | None) -> None:
        self._timeout = timeout
        self._began = monotonic()

    def broken(self) -> None:
        """A record came, or what waits for one has not begun."""
        self._began = monotonic()

    @property
    def seconds(self) -> float:
        return monotonic() - self._began

    @property
    def left(self) -> float | None:
        """Seconds of the time-out that are left, for a poll that is not to outlast it."""
        return None if self._timeout is None else max(self._timeout - self.seconds, 0.0)

    def check(self) -> None:
        """Raises DeadlineExceeded once the time-out is over."""
        if self._timeout is not None and self.seconds >= self._timeout:
            raise self._over()

    async def limit(self, work: Awaitable[None]) -> None:
        """Do what comes before the first record. Raises DeadlineExceeded once the time-out is over."""
        try:
            async with asyncio.timeout(self.left) as limit:
                await work
        except TimeoutError:
            if not limit.expired():
                raise
            raise self._over() from None

    def _over(self) -> DeadlineExceeded:
        return DeadlineExceeded(f"no record arrived for {(self._timeout or 0) * 1000:.0f} ms")
