"""How many requests may be in flight on a connection: taken at once where one is free, else in turn."""

from __future__ import annotations

import asyncio
from collections import deque


class Slots:
    """`count` of them. First come, first served; a waiter that gives up leaves its place. While nothing is `waiting`,
    `free` may be counted down and up in place of `take_now` and `give`."""

    __slots__ = ("free", "waiting")

    def __init__(self, count: int) -> None:
        self.free = count
        self.waiting: deque[asyncio.Future[None]] = deque()

    def take_now(self) -> bool:
        """Take one if none waits before us and one is free."""
        if self.waiting or not self.free:
            return False
        self.free -= 1
        return True

    async def take(self) -> None:
        """Take one, waiting for it."""
        if self.take_now():
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give()  # it came at the very moment we gave up
            elif turn in self.waiting:
                self.waiting.remove(turn)
            raise

    def give(self) -> None:
        """Give one back: the next waiter has it."""
        while self.waiting:
            turn = self.waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self.free += 1
