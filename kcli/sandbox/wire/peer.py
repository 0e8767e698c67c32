"""A client's connection as the parts of a sandbox see it, and how an answer ends it."""

from __future__ import annotations

from typing import Protocol


class Peer(Protocol):
    """`asked`: whether a whole request ever came; `since`: when it connected (monotonic seconds)."""

    asked: bool
    since: float

    @property
    def principal(self) -> str:
        """User:NAME, or User:ANONYMOUS."""

    def abort(self) -> None:
        """Break the connection at once."""

    def used(self) -> None:
        """The connection is in use: its idle time starts again."""

    def forget(self) -> None:
        """The broker counts this connection no more."""

    async def ended(self) -> None:
        """Wait until nothing of this connection runs any more."""


class CloseConnection(Exception):
    """The answer to this request is that the connection ends (acks=0 with an error)."""
