"""Share sessions (KIP-932): a broker remembers the partitions of a member, a request has only changes (E65).

Sans-IO. A session belongs to one member and one broker, so its only identity is the epoch. Every partition that was
ever sent, also one that was only acknowledged, is in it until a request forgets it. One request at a time.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import NamedTuple

    Place = tuple[bytes, int]  # topic id, partition

    class Plan(NamedTuple):
        """What to send: these partitions, and the ones to forget."""

        epoch: int
        send: list[Place]
        forget: list[Place]
else:
    Plan = namedtuple("Plan", "epoch send forget")

NEW, FINAL, LAST = 0, -1, 2**31 - 1


class ShareSession:
    """What one broker remembers of this member. `epoch` is that of the next request."""

    __slots__ = ("_held", "epoch")

    def __init__(self) -> None:
        self.epoch = NEW
        self._held: set[Place] = set()

    @property
    def open(self) -> bool:
        """Whether anything can be acknowledged: the request that opens a session must not."""
        return self.epoch != NEW

    def surplus(self, wanted: Collection[Place]) -> bool:
        """Whether the broker would give records of partitions that are not wanted."""
        return any(place not in wanted for place in self._held)

    def plan(self, wanted: Collection[Place], acknowledged: Collection[Place] = ()) -> Plan:
        """The next ShareFetch: new or acknowledged partitions are sent, unused ones are forgotten."""
        send = sorted({place for place in wanted if place not in self._held} | set(acknowledged))
        forget = sorted(place for place in self._held if place not in wanted and place not in acknowledged)
        self._held = (self._held | set(send)).difference(forget)
        return Plan(self.epoch, send, forget)

    def answered(self) -> None:
        """The broker took the last request, a ShareFetch or a ShareAcknowledge."""
        self.epoch = 1 if self.epoch == LAST else self.epoch + 1

    def broke(self) -> None:
        """The broker has no session any more, or its state is unknown: another one begins."""
        self.epoch = NEW
        self._held = set()
