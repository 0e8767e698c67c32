"""Between a group's session and the cursors: assignments become cursors, returned records become commits.

The session calls these one after another in its own task (A3.12): finish, commit, report, rejoin (E39).
"""

from __future__ import annotations

import asyncio

from kcli.grammar.bound import Bound
from kcli.model import OffsetAndMetadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.consumer.fetch.reader import Reader
    from kcli.model import TopicPartition

    Told = Callable[[set[TopicPartition]], Awaitable[None]]


class Link:
    """`out` holds what the last poll handed out, `done` the positions that may be committed (E38)."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.out: dict[TopicPartition, OffsetAndMetadata] = {}
        self.done: dict[TopicPartition, OffsetAndMetadata] = {}
        self.assigned: Told | None = None
        self.revoked: Told | None = None
        self.lost: Told | None = None
        self._returned = asyncio.Event()

    def hand_out(self, at: TopicPartition, offset: int, epoch: int) -> None:
        """Delivered to the user: not done before the next poll."""
        self.out[at] = OffsetAndMetadata(offset, epoch, "")

    def handed_back(self) -> None:
        """The user polls again, so the returned records are done."""
        self.done.update(self.out)
        self.out.clear()
        self._returned.set()

    # -- what the session asks and tells ----------------------------------------------------------------------------

    def to_commit(self, partitions: set[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata]:
        return {at: offset for at, offset in self.done.items() if at in partitions}

    async def settle(self, partitions: set[TopicPartition]) -> None:
        """Return no more records of these, and wait until the user has finished the returned ones (E36)."""
        for at in partitions:
            cursor = self._reader.cursors.get(at)
            if cursor is not None:
                cursor.pending_revoke = True
        while not partitions.isdisjoint(self.out):
            self._returned.clear()
            await self._returned.wait()

    async def on_assigned(self, partitions: set[TopicPartition]) -> None:
        """New partitions start unpaused at the group's commit (E31); they are read once the user's callback is
        through, which may seek."""
        self._reader.observer.rebalanced("assigned", partitions)
        self.forget(partitions)
        cursors = self._reader.add({at: Bound("stored") for at in sorted(partitions)})
        try:
            if self.assigned is not None:
                for cursor in cursors:
                    cursor.pending_assign = True
                await self.assigned(partitions)
        finally:
            for cursor in cursors:
                cursor.pending_assign = False
            self._reader.changed()

    async def on_revoked(self, partitions: set[TopicPartition]) -> None:
        self._reader.observer.rebalanced("revoked", partitions)
        await self._gone(partitions, self.revoked)

    async def on_lost(self, partitions: set[TopicPartition]) -> None:
        self._reader.observer.rebalanced("lost", partitions)
        await self._gone(partitions, self.lost or self.revoked)

    async def _gone(self, partitions: set[TopicPartition], callback: Told | None) -> None:
        self.forget(partitions)
        self._reader.remove(partitions)
        if callback is not None:
            await callback(partitions)

    def forget(self, partitions: set[TopicPartition]) -> None:
        """Commit nothing of what was read of these."""
        for at in partitions:
            self.out.pop(at, None)
            self.done.pop(at, None)
        self._returned.set()
