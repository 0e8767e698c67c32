"""What the session tells the app. Messages are the only way from there to here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from kcli.errors import KcliError
    from kcli.lag.watch import Look
    from kcli.tui.session import Trails


class Looked(Message):
    """A look at all groups has arrived; `trails` is how their lag went up to it."""

    def __init__(self, look: Look, trails: Trails) -> None:
        super().__init__()
        self.look = look
        self.trails = trails


class LookFailed(Message):
    """A look could not be made at all; the last one stands, with its age. The next is made at `again`, seconds
    since the epoch, where that is known."""

    def __init__(self, problem: KcliError, again: float | None = None) -> None:
        super().__init__()
        self.problem = problem
        self.again = again


class Connected(Message):
    """The cluster answered: who it is, how many brokers it has, and how many of those are down."""

    def __init__(self, cluster_id: str | None, brokers: int, down: int = 0) -> None:
        super().__init__()
        self.cluster_id = cluster_id
        self.brokers = brokers
        self.down = down
