"""The partitions that a member owns, and how it gives them up.

The order is always the same: finish the returned records, commit their offsets, await the callback, then answer the
coordinator. Lost partitions are only reported. Callbacks never overlap.
"""

from __future__ import annotations

import asyncio

from kcli.consumer.group.states import FAILED
from kcli.errors import KcliError
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from kcli.consumer.group.commit import Member, Offsets
    from kcli.model import OffsetAndMetadata, TopicPartition
    from kcli.settings import GroupSettings

    class Callbacks(Protocol):
        """The rebalance callbacks, awaited one after another in the group's task. An exception ends the membership."""

        async def on_assigned(self, partitions: set[TopicPartition]) -> None: ...
        async def on_revoked(self, partitions: set[TopicPartition]) -> None: ...
        async def on_lost(self, partitions: set[TopicPartition]) -> None: ...

    class Positions(Protocol):
        """The consumer's record of what was returned and processed."""

        def to_commit(self, partitions: set[TopicPartition] | None) -> dict[TopicPartition, OffsetAndMetadata]:
            """Return the next offsets to read of those partitions (None: of all) with processed records."""
            ...

        async def settle(self, partitions: set[TopicPartition]) -> None:
            """Return when the records of these partitions that were returned are processed."""
            ...


LOG = Log("consumer.group")
PATIENCE = 0.8  # the application's fraction of the time for a revocation; the rest is for the commit
LOOK_AGAIN = 0.1  # seconds
MARGIN = 0.1  # fraction of the rebalance timeout that is kept for answering the coordinator


class Names:
    """Partitions as shown in a log: orders[0], orders[1]. The text is created only when a handler formats it."""

    __slots__ = ("_partitions",)

    def __init__(self, partitions: frozenset[TopicPartition]) -> None:
        self._partitions = partitions

    def __str__(self) -> str:
        return ", ".join(f"{topic}[{partition}]" for topic, partition in sorted(self._partitions)) or "no partitions"


class Holdings:
    """`owned` is what the member may read, `pending` what it may still commit while giving it up. `late` is how many
    seconds after its start the member may learn of a rebalance."""

    def __init__(
        self,
        member: Member,
        offsets: Offsets,
        settings: GroupSettings,
        callbacks: Callbacks,
        positions: Positions,
        now: Callable[[], float],
        *,
        late: float = 0.0,
    ) -> None:
        self._member = member
        self._offsets = offsets
        self._settings = settings
        self._callbacks = callbacks
        self._positions = positions
        self._now = now
        self._late = late
        self.deadline: float | None = None  # when the current revocation has to be finished; None without one
        self._patient_until = 0.0
        self.quiet = asyncio.Lock()  # held while callbacks may run
        self._settling: asyncio.Task[None] | None = None
        self.owned: frozenset[TopicPartition] = frozenset()
        self.pending: frozenset[TopicPartition] = frozenset()
        self.times: dict[TopicPartition, int] = {}  # how often each partition was assigned
        self.commit_error: KcliError | None = None  # the error of a revocation's last commit

    async def lose(self) -> None:
        """Report partitions that may already have another owner; nothing is committed."""
        gone, self.owned = self.owned, frozenset()
        if gone:
            await self._report_lost(gone)

    async def _report_lost(self, gone: frozenset[TopicPartition]) -> None:
        LOG.warning("%s: lost %s", self._settings.group, Names(gone))
        await self._callbacks.on_lost(set(gone))

    async def take(self, added: frozenset[TopicPartition]) -> None:
        """Own these, too, and report them."""
        LOG.info("%s: assigned %s", self._settings.group, Names(added))
        self.owned |= added
        for at in added:
            self.times[at] = self.times.get(at, 0) + 1
            self._offsets.written.pop(at, None)
        await self._callbacks.on_assigned(set(added))

    async def revoke(self, partitions: frozenset[TopicPartition], *, settle: bool = True) -> None:
        """Finish, commit, report, for at most the rebalance timeout less a margin. If the generation ends meanwhile,
        the partitions are lost."""
        if not partitions:
            return
        timeout, began = self._settings.rebalance_timeout, self._now()
        longest = max(timeout * (1 - MARGIN) - self._late, timeout / 2)
        self._patient_until = began + longest * PATIENCE
        deadline = self.deadline = began + longest
        self.owned, self.pending = self.owned - partitions, partitions
        try:
            if settle and self._settings.block_rebalance_on_poll:
                await self._settle(partitions, self._patient_until)
            await self._offsets.settled(deadline)  # a JoinGroup must not overtake an explicit commit
            if self._member.generation >= 0 and self._settings.commits_by_itself:
                await self._commit(partitions, deadline)
            if self._member.generation < 0:
                self.pending = frozenset()
                await self._report_lost(partitions)
            else:
                LOG.info("%s: revoked %s", self._settings.group, Names(partitions))
                await self._callbacks.on_revoked(set(partitions))
        finally:
            self.pending = frozenset()
            self.deadline = None

    @property
    def patience(self) -> float | None:
        """Seconds left for the current revocation: 0.0 if the partitions are lost, None without a revocation."""
        if self.deadline is None:
            return None
        return 0.0 if self._member.generation < 0 else max(0.0, self._patient_until - self._now())

    async def _settle(self, partitions: frozenset[TopicPartition], deadline: float) -> None:
        """Wait for the user, but not past the deadline, and not for partitions that are lost meanwhile. Unprocessed
        records are not committed."""
        settling = self._settling = asyncio.create_task(self._settled(partitions))
        try:
            while not settling.done() and self._member.generation >= 0 and (left := deadline - self._now()) > 0:
                await asyncio.wait({settling}, timeout=min(left, LOOK_AGAIN))
            if settling.done() and not settling.cancelled():
                settling.result()
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
            LOG.warning("%s: the last commit of revoked partitions failed: %s", self._settings.group, error)
            self.commit_error = error  # the next owner reads the records again: at least once
