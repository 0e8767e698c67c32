"""What a live session tells while the screens show the past: snapshots for the alerts, sentences, and once each that
its cluster cannot be refreshed, and that it is again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.tui.messages import Connected, Looked, LookFailed, Noted, Unseen

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message


class Muted:
    """Called with what the session posts; `post` gets what is worth knowing. `lost`: the last refresh failed; `down`
    brokers did not answer."""

    def __init__(self, post: Callable[[Message], object], *, lost: bool, down: int) -> None:
        self._post, self._lost, self._down = post, lost, down

    def __call__(self, message: Message) -> None:
        if isinstance(message, Looked):
            self._answered()
            self._post(Unseen(message.look))
        elif isinstance(message, LookFailed):
            if not self._lost:
                self._post(Noted(f"The live cluster cannot be refreshed: {message.problem}"))
            self._lost = True
        elif isinstance(message, Connected):
            self._count(message)
        elif isinstance(message, (Noted, Unseen)):
            self._post(message)

    def _answered(self) -> None:
        if self._lost:
            self._post(Noted("The live cluster is refreshed again."))
        self._lost = False

    def _count(self, message: Connected) -> None:
        if message.down != self._down:
            up = message.brokers - message.down
            self._post(Noted(f"Of the live cluster {up} of {message.brokers} brokers answer."))
        self._down = message.down
