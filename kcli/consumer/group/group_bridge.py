"""Connects a group's session with the cursors: assignments become cursors, processed records become commits.

The session calls these methods one after another in its own task: finish, commit, report, rejoin.
"""

from __future__ import annotations

import asyncio

from kcli.grammar.bound import Bound
from kcli.model import OffsetAndMetadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from typing import Protocol

    from kcli.consumer.fetch.cursor import Piece
    from kcli.consumer.fetch.reader import Reader
    from kcli.model import TopicPartition

    class Stream(Protocol):
        """Messages that the program takes in another thread. Called in the loop's thread."""

        @property
        def in_hand(self) -> TopicPartition | None:
            """The partition of the last message taken, if that is not processed yet."""
            ...

        def note_progress(self) -> tuple[int, int]:
            """Note what was processed. Returns a value that changes with each message that the program takes."""
            ...

        def stop(self, partitions: set[TopicPartition], *, gone: bool = False) -> None:
            """Return no more messages of these; with `gone` they now belong to another member."""
            ...

    RebalanceCallback = Callable[[set[TopicPartition]], Awaitable[None]]


class Link:
    """Tracks which records the program has taken and which are processed ("done"). The rule, for every way of reading:

    A record is done when the program has taken it and then asks for the next one, commits explicitly, or leaves the
    block without an exception, unless it has sought back before it in between. Only done records are committed: the
    committed offset is the position after the last done record, moved past markers and gaps. A record that was fetched
    but not taken is returned by the next call, whichever call that is (`Delivery.give_back`).

    `out` holds what the last poll returned, `done` the positions that may be committed. `stream` is what a
    `SyncConsumer` iterates over. With `by_hand`, offsets are committed only by `commit` with offsets (`Workers`).
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.out: dict[TopicPartition, OffsetAndMetadata] = {}
        self.done: dict[TopicPartition, OffsetAndMetadata] = {}
        self._pieces: Sequence[Piece] = ()  # the pieces in `out`
        self.stream: Stream | None = None
        self.by_hand = False
        self.assigned: RebalanceCallback | None = None
        self.revoked: RebalanceCallback | None = None
        self.lost: RebalanceCallback | None = None
        self._sought: set[TopicPartition] = set()  # targets still being looked up: that position will be done
        self._seen = (0, -1)  # the last result of the stream's `look`
        self.returned = asyncio.Event()  # set when records in `out` may be done

    def take(self, pieces: Sequence[Piece]) -> None:
        """These were returned to the program; they are not done before the next call."""
        self._pieces = pieces
        for piece in pieces:
            self.out[piece.at] = piece.following

    def untake(self) -> Sequence[Piece]:
        """Return the pieces of the last call, which did not reach the program."""
        pieces, self._pieces = self._pieces, ()
        self.dropped()
        return pieces

    def handed_back(self) -> None:
        """The program asks for more, commits or closes: what it took is done."""
        for at, place in self.out.items():
            self.note(at, place)
        self._pieces = ()
        self.out.clear()
        self.returned.set()

    def dropped(self) -> None:
        """The program failed, or reads something else: what it took is not done."""
        self.out.clear()
        self.returned.set()

    def sought(self, at: TopicPartition, to: OffsetAndMetadata | None) -> None:
        """The program moved the position; None: to a place that has to be looked up."""
        self.out.pop(at, None)
        self.done.pop(at, None)
        if to is None:
            self._sought.add(at)
        else:
            self.note(at, to)
        self.returned.set()

    def committed(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """The program committed these offsets: the records before them are done."""
        for at, place in offsets.items():
            known, out = self.done.get(at), self.out.get(at)
            if known is None or known.offset < place.offset:
                self.note(at, place)
            if out is not None and out.offset <= place.offset:
                del self.out[at]
        self.returned.set()

    def note(self, at: TopicPartition, place: OffsetAndMetadata) -> None:
        """Everything before this position is done. Can be called in any thread."""
        self.done[at] = place
        self._sought.discard(at)

    def begun(self, pieces: Sequence[Piece]) -> None:
        """These were returned, so a position that the program sought is known now."""
        for piece in pieces if self._sought else ():
            if piece.at in self._sought:
                self.note(piece.at, OffsetAndMetadata(piece.start, piece.start_epoch, ""))

    def alive(self) -> bool:
        """Whether the program took a message of a stream since the last call."""
        if self.stream is None:
            return False
        before, self._seen = self._seen, self.stream.note_progress()
        return self._seen != before

    # -- called by the session --------------------------------------------------------------------------------------

    def to_commit(self, partitions: set[TopicPartition] | None) -> dict[TopicPartition, OffsetAndMetadata]:
        """The positions of these partitions that may be committed; None: of all."""
        if self.by_hand:
            return {}
        if self.stream is not None:
            self.stream.note_progress()
        for at in [*self._sought]:
            cursor = self._reader.cursors.get(at)
            if cursor is not None and cursor.position >= 0:
                self.note(at, OffsetAndMetadata(cursor.position, cursor.epoch, ""))
        done = self.done.copy()
        return {at: offset for at, offset in done.items() if partitions is None or at in partitions}

    async def settle(self, partitions: set[TopicPartition]) -> None:
        """Return no more records of these, and wait until the program has processed those already returned."""
        for at in partitions:
            cursor = self._reader.cursors.get(at)
            if cursor is not None:
                cursor.pending_revoke = True
        stream = self.stream
        if stream is not None:
            stream.stop(partitions)
        while not partitions.isdisjoint(self.out) or (stream is not None and stream.in_hand in partitions):
            self.returned.clear()
            await self.returned.wait()

    async def on_assigned(self, partitions: set[TopicPartition]) -> None:
        """Start new partitions, unpaused, at the group's commit. They are read after the user's callback, which may
        seek."""
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

    async def _gone(self, partitions: set[TopicPartition], callback: RebalanceCallback | None) -> None:
        if self.stream is not None:
            self.stream.stop(partitions, gone=True)
        self.forget(partitions)
        self._reader.remove(partitions)
        if callback is not None:
            await callback(partitions)

    def forget(self, partitions: set[TopicPartition]) -> None:
        """Commit nothing of these."""
        for at in partitions:
            self.out.pop(at, None)
            self.done.pop(at, None)
            self._sought.discard(at)
        self.returned.set()
