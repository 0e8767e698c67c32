"""What `kcli consume -g` commits: what was written out, after it was written, never before (R4).

A commit waits for a rebalance that interrupts it; partitions revoked before their commit are reported.
"""

from __future__ import annotations

import asyncio
from time import monotonic

from kcli import codes
from kcli.errors import BrokerError, ConnectError, DeadlineExceeded, KcliError
from kcli.model import OffsetAndMetadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.consumer.consumer import Consumer
    from kcli.model import TopicPartition

COMMIT_EVERY = 5.0  # seconds
REJOIN = 10.0  # seconds that a rebalance in the way of the last commit may take
SETTLE = 1.0  # seconds to learn the positions of partitions that nothing came of
STALE = (  # the group continues without this member
    codes.REBALANCE_IN_PROGRESS, codes.ILLEGAL_GENERATION, codes.UNKNOWN_MEMBER_ID,
    codes.STALE_MEMBER_EPOCH, codes.FENCED_MEMBER_EPOCH,
)  # fmt: skip


class Commits:
    """The positions that one member has still to commit."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._open: dict[TopicPartition, OffsetAndMetadata] = {}
        self._ending = False
        self._gone: dict[TopicPartition, OffsetAndMetadata] = {}  # lost to the group while we ended
        self._settled: set[TopicPartition] = set()  # committed by us since they were assigned
        self._left: dict[TopicPartition, OffsetAndMetadata] = {}  # not committed when there was no time left
        self._unsure = False  # a try was not answered: what seems not to be committed may be
        self._at = monotonic()

    def written(self, at: TopicPartition, position: OffsetAndMetadata) -> None:
        """All before the position was written; the partition may have been lost meanwhile."""
        if at in self._consumer.assignment:
            self._open[at] = position

    def broken(self, at: TopicPartition, offset: int) -> None:
        """The record at the offset cannot be read: the committed offset stays before it."""
        self._open[at] = OffsetAndMetadata(offset)

    def unread(self, at: TopicPartition, offset: int) -> None:
        """Handed out, and never printed: the committed offset stays before it."""
        self._open.setdefault(at, OffsetAndMetadata(offset))

    # -- while it runs ----------------------------------------------------------------------------------------------

    @property
    def due(self) -> bool:
        """Whether it is time to commit."""
        return monotonic() - self._at >= COMMIT_EVERY

    async def in_time(self) -> None:
        """Commit if it is time to."""
        if self.due and not await self._made():
            self._at = monotonic()  # E40: what we keep is committed next time, what we lose comes as a revocation

    async def now(self, partitions: set[TopicPartition] | None = None) -> None:
        """Commit what was written since the last time, of all that is owned or of some (R4)."""
        owned = self._consumer.assignment if partitions is None else partitions
        offsets = {at: self._open[at] for at in owned if at in self._open}
        if offsets:
            await self._consumer.commit(offsets)
            self._settled.update(offsets)
            for at, offset in offsets.items():
                if self._open.get(at) is offset:  # more may have been written meanwhile
                    del self._open[at]
        self._at = monotonic()

    async def revoked(self, partitions: set[TopicPartition]) -> None:
        """Commit revoked partitions first; the next owner resumes there."""
        try:
            await self.now(partitions)
        except BrokerError as error:
            if error.code not in STALE:
                raise
            self._unsure |= error.sent
            await self.lost(partitions)

    async def lost(self, partitions: set[TopicPartition]) -> None:
        """No longer ours, and nothing can be committed for them."""
        self._settled -= partitions
        again = {at: self._open.pop(at) for at in partitions & self._open.keys()}
        if again and self._ending:
            self._gone.update(again)
        elif again:
            from kcli.cli.output.messages import complain

            complain(f"partitions lost before their records were committed: {_read_again(again, self._unsure)}")
            self._unsure = False

    # -- at the end -------------------------------------------------------------------------------------------------

    async def settle(self) -> None:
        """At a regular end: without records, commit the position where reading began, as Kafka's own consumer does;
        a partition without a commit would have no lag. Positions still unknown after a second stay uncommitted."""
        patient_until = monotonic() + SETTLE
        while True:
            bare = self._consumer.assignment - self._settled - self._open.keys()
            known = {at: position for at in bare if (position := self._consumer.position(at)) is not None}
            if len(known) == len(bare) or monotonic() >= patient_until:
                break
            await asyncio.sleep(0.01)
        self._open.update({at: OffsetAndMetadata(position) for at, position in known.items()})

    async def last(self, patience: float | None = None) -> None:
        """Commit. After a rebalance that interrupts it, partitions still owned are committed in the new generation and
        lost ones are reported. Whatever became of it, nothing is left to commit while the group is left (E40, E44). It
        takes `patience` seconds at most: Ctrl-C must not wait for a coordinator that is gone."""
        try:
            async with asyncio.timeout(patience):
                await self._last()
        except TimeoutError:
            silent = DeadlineExceeded(f"no response within {patience or 0:g} s", sent=True)
            raise LastCommitFailed(silent, {**self._gone, **self._left}) from None

    async def _last(self) -> None:
        until = monotonic() + REJOIN
        self._ending = True
        consumer = self._consumer
        try:
            while not await self._made() or self._open:  # what is not owned just now is not committed
                if monotonic() >= until:
                    self._gone.update(self._open)
                    break
                consumer.pause(*consumer.assignment)  # polled only to take part: nothing more is printed
                await consumer.poll(0.02)
                await asyncio.sleep(0.02)  # at its end a poll does not wait
            if self._gone:
                raise KcliError(
                    f"the group is rebalancing, so the last commit failed: {_read_again(self._gone, self._unsure)}"
                )
        except (BrokerError, ConnectError, DeadlineExceeded) as error:
            raise LastCommitFailed(error, {**self._gone, **self._open}) from error
        finally:
            self._left = dict(self._open)
            self._open.clear()

    async def _made(self) -> bool:
        """Commit; False when the group rebalances."""
        try:
            await self.now()
        except BrokerError as error:
            if error.code not in STALE:
                raise
            self._unsure |= error.sent
            return False
        return True


class LastCommitFailed(KcliError):
    """All was written, and the group does not know it."""

    def __init__(
        self, error: BrokerError | ConnectError | DeadlineExceeded, offsets: dict[TopicPartition, OffsetAndMetadata]
    ) -> None:
        super().__init__(f"the last commit failed: {error}: {_read_again(offsets, error.sent)}")
        self.exit_code = error.exit_code


def _read_again(offsets: dict[TopicPartition, OffsetAndMetadata], unsure: bool) -> str:
    """Which records the group reads again; `unsure` when they may be committed all the same."""
    places = ", ".join(f"{at.topic}[{at.partition}] before offset {to.offset}" for at, to in sorted(offsets.items()))
    return f"{places}: records that were written since the last commit {'may' if unsure else 'will'} be read again"
