"""Fetch sessions (KIP-227): the broker remembers the wanted partitions, and a request lists only changes.

No I/O: `plan` returns what to send, `answered` and `broke` take the result. A session belongs to one broker.
"""

from __future__ import annotations

from collections import namedtuple

from kcli import codes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import NamedTuple

    from kcli.model import TopicPartition

    class Ask(NamedTuple):
        """A fetch of one partition."""

        offset: int
        max_bytes: int
        leader_epoch: int = -1
        last_epoch: int = -1
        topic_id: bytes = bytes(16)

    class Plan(NamedTuple):
        """A request: partitions to fetch, in this order, and partitions to forget."""

        session_id: int
        epoch: int
        send: list[TopicPartition]
        forget: list[tuple[TopicPartition, bytes]]
else:
    Ask = namedtuple("Ask", "offset max_bytes leader_epoch last_epoch topic_id", defaults=(-1, -1, bytes(16)))
    Plan = namedtuple("Plan", "session_id epoch send forget")

NEW, FINAL, LAST = 0, -1, 2**31 - 1


class FetchSession:
    """The session with one broker."""

    __slots__ = ("_by_id", "_full", "_held", "epoch", "session_id")

    def __init__(self) -> None:
        self.session_id = 0
        self.epoch = NEW
        self._held: dict[TopicPartition, Ask] = {}
        self._full: set[TopicPartition] | None = None
        self._by_id: bool | None = None

    def plan(self, wanted: dict[TopicPartition, Ask], *, by_id: bool) -> Plan:
        """Return the next request. Topic ids and names cannot be mixed in a session, so a change starts a new one."""
        if self._by_id is not None and by_id != self._by_id:
            self.broke()
        self._by_id = by_id
        if self.epoch == NEW:
            self._held = dict(wanted)
            self._full = set(wanted)
            return Plan(self.session_id, NEW, list(wanted), [])
        held = self._held
        send = [at for at, ask in wanted.items() if held.get(at) != ask]
        # A recreated topic is forgotten under its old id and sent under its new one.
        forget = [
            (at, ask.topic_id) for at, ask in held.items() if at not in wanted or wanted[at].topic_id != ask.topic_id
        ]
        self._held = dict(wanted)
        self._full = None
        return Plan(self.session_id, self.epoch, send, forget)

    def answered(self, error_code: int, session_id: int, partitions: Collection[TopicPartition]) -> bool:
        """Process a response. Returns False if it must not be used: an error, or unexpected partitions."""
        if error_code:
            if error_code == codes.FETCH_SESSION_ID_NOT_FOUND.number:
                self.session_id = 0
            self.broke()
            return False
        if self._full is not None:
            if self._full != set(partitions):
                self.session_id = session_id or self.session_id
                self.broke()
                return False
            self.session_id = session_id
            self.epoch = 1 if session_id else NEW
            return True
        if not self._held.keys() >= set(partitions):
            self.broke()
            return False
        if session_id == 0:  # the broker evicted the session; the data is still good
            self.session_id, self.epoch = 0, NEW
        else:
            self.epoch = 1 if self.epoch == LAST else self.epoch + 1
        return True

    def broke(self) -> None:
        """Start over because the broker's state is unknown: close the session, if there is one, and open another."""
        self.epoch = NEW

    @property
    def open(self) -> bool:
        return self.session_id != 0

    def farewell(self) -> Plan:
        """Return the request that closes the session on the broker."""
        return Plan(self.session_id, FINAL, [], [])
