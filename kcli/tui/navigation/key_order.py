"""Keys one after another: each goes where the one before it led to.

Textual hands a key to the focused widget at once; what the key does, a page that opens or a line that takes the focus,
happens some messages later. Of keys that arrive together, typed quickly, pasted or held up by a slow connection, the
later ones would reach the page that the first one is about to leave: the words of a filter would be taken for actions.
"""

from __future__ import annotations

import itertools
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.app import App
    from textual.events import Event, Key
    from textual.timer import Timer
    from textual.widget import Widget

TICK = 0.05
TICKS, LATE_TICKS = 6, 60
"""The next key is handled after TICKS ticks, TICK seconds apart: a widget went away with its messages. Ticks that come
late do not count, since the machine is busy and messages are late as well; but LATE_TICKS in all are enough."""


class KeyPassed(Message):
    """Follows a key through the same queues."""

    def __init__(self, ticket: int) -> None:
        super().__init__()
        self.ticket = ticket


class KeyOrder:
    """Holds keys back while an earlier one is under way: until two messages after it have arrived. The first says that
    the widgets have done with the key, the second that they have done with what they told each other about it."""

    def __init__(self, app: App[int], handle: Callable[[Event], Awaitable[None]]) -> None:
        """`handle` is Textual's own way of handling a key."""
        self._app = app
        self._handle = handle
        self._tickets = itertools.count()
        self._awaited: int | None = None  # the ticket of the message that follows the key under way
        self._is_last = False  # that message is the second
        self._held: deque[Key] = deque()
        self._timer: Timer | None = None
        self._ticked = 0.0
        self._ticks = self._in_time = 0

    async def take(self, key: Key) -> None:
        """A key that was typed."""
        if self._awaited is None:
            await self._give(key)
            return
        self._held.append(key)
        if self._timer is None:
            self._start_timeout()

    async def act(self, key: Key) -> None:
        """A key that no widget took: its action; a page that is not made yet gets the key when it is."""
        if self._app.screen.is_mounted:
            await self._handle(key)
        else:
            self._app.screen.post_message(key)

    async def passed(self, ticket: int) -> None:
        """The message with this ticket has arrived."""
        if ticket != self._awaited:
            return  # the next key was handled without it
        if self._is_last or not self._follow(self._front, is_last=True):
            await self._next()

    async def _next(self) -> None:
        self._awaited = None
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        while self._held and self._awaited is None:
            await self._give(self._held.popleft())
        if self._held:
            self._start_timeout()

    def _start_timeout(self) -> None:
        self._ticked, self._ticks, self._in_time = monotonic(), 0, 0
        self._timer = self._app.set_interval(TICK, self._tick)

    async def _tick(self) -> None:
        now = monotonic()
        self._in_time += now - self._ticked < 2 * TICK
        self._ticked, self._ticks = now, self._ticks + 1
        if self._in_time >= TICKS or self._ticks >= LATE_TICKS:
            await self._next()

    async def _give(self, key: Key) -> None:
        if key.key != "escape" and key.time < getattr(self._app.screen, "seen_at", 0.0):
            return  # it was held, and typed before the dialog showed its fields: it is for none of them
        target = self._front
        await self._handle(key)
        if not self._follow(target, is_last=False):
            self._awaited = None

    @property
    def _front(self) -> Widget:
        """What gets a key now."""
        return self._app.focused or self._app.screen

    def _follow(self, target: Widget, *, is_last: bool) -> bool:
        """Send a message after the key. False where the target takes none any more."""
        self._awaited, self._is_last = next(self._tickets), is_last
        return target.post_message(KeyPassed(self._awaited))
