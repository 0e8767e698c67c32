"""What a member owns, and how it gives it up.

Giving up is always in this order (E39): what was handed out is finished, its offsets are committed, the callback is
awaited, and only then the coordinator is told. What was lost is only reported (E53). Callbacks never overlap (A3.12).
"""

from __future__ import annotations

import asyncio

from kcli.consumer.membership import FAILED
from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from kcli.consumer.bounds import OffsetAndEpoch
    from kcli.consumer.commit import Member, Offsets
    from kcli.model import TopicPartition
    from kcli.settings import GroupSettings

    class Callbacks(Protocol):
        """Awaited one after another, in the group's task. An exception ends the membership."""

        async def on_assigned(self, partitions: set[TopicPartition]) -> None: ...
        async def on_revoked(self, partitions: set[TopicPartition]) -> None: ...
        async def on_lost(self, partitions: set[TopicPartition]) -> None: ...

    class Positions(Protocol):
        """What the consumer knows about the records it handed out."""

        def to_commit(self, partitions: set[TopicPartition]) -> dict[TopicPartition, OffsetAndEpoch]:
            """The next offset to read of those partitions from which something was delivered and is done (E38)."""
            ...

        async def settle(self, partitions: set[TopicPartition]) -> None:
            """Returns when the records handed out of these partitions are done (E36)."""
            ...


class Holdings:
    """`owned` is what the member may read, `pending` what it may still commit while giving it up."""

    def __init__(
        self, member: Member, offsets: Offsets, settings: GroupSettings, callbacks: Callbacks, positions: Positions,
        now: Callable[[], float],
    ) -> None:  # fmt: skip
        self._member = member
        self._offsets = offsets
        self._settings = settings
        self._callbacks = callbacks
        self._positions = positions
        self._now = now
        self.quiet = asyncio.Lock()  # held while callbacks may run
        self._settling: asyncio.Task[None] | None = None
        self.owned: frozenset[TopicPartition] = frozenset()
        self.pending: frozenset[TopicPartition] = frozenset()
        self.commit_error: KcliError | None = None  # why the last commit of a revocation did not succeed

    async def lose(self) -> None:
        """Report what others may own by now; nothing is committed."""
        gone, self.owned = self.owned, frozenset()
        if gone:
            await self._callbacks.on_lost(set(gone))

    async def revoke(self, partitions: frozenset[TopicPartition], *, settle: bool = True) -> None:
        """Finish, commit, report. Takes at most the rebalance timeout less a margin; if the generation goes
        meanwhile the partitions are lost."""
        if not partitions:
            return
        deadline = self._now() + self._settings.rebalance_timeout * 0.9
        self.owned, self.pending = self.owned - partitions, partitions
        try:
            if settle and self._settings.block_rebalance_on_poll:
                await self._settle(partitions, deadline)
            await self._offsets.settled(deadline)  # a JoinGroup must not overtake a commit made by hand (E39, E42)
            if self._member.generation >= 0 and self._settings.auto_commit:
                await self._commit(partitions, deadline)
            if self._member.generation < 0:
                self.pending = frozenset()
                await self._callbacks.on_lost(set(partitions))
            else:
                await self._callbacks.on_revoked(set(partitions))
        finally:
            self.pending = frozenset()

    async def _settle(self, partitions: frozenset[TopicPartition], deadline: float) -> None:
        """Wait for the user, but not longer than the others can (E36): what is not done is not committed."""
        self._settling = asyncio.create_task(self._settled(partitions))
        try:
            await asyncio.wait({self._settling}, timeout=max(0.0, deadline - self._now()))
            if self._settling.done() and not self._settling.cancelled():
                self._settling.result()
        finally:
            self.hurry()

    async def _settled(self, partitions: frozenset[TopicPartition]) -> None:
        await self._positions.settle(set(partitions))

    def hurry(self) -> None:
        """Stop waiting for the user."""
        if self._settling is not None:
            self._settling.cancel()

    async def _commit(self, partitions: frozenset[TopicPartition], deadline: float) -> None:
        offsets = self._positions.to_commit(set(partitions))
        new = {at: offset for at, offset in offsets.items() if self._offsets.written.get(at) != offset}
        if not new:
            return
        try:
            await self._offsets.write(new, deadline)
        except KcliError as error:
            if self._member.state == FAILED:
                raise
            self.commit_error = error  # the records will be read again by the next owner: at least once
