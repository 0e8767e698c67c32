"""One rebalance of a classic member: give up, join, sync, take.

Giving up is always in this order (E39): what was handed out is finished, its offsets are committed, the callback is
awaited, and only then the join goes out. What was lost is only reported (E53). Callbacks never overlap (A3.12).
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.consumer.assignors import COOPERATIVE, assign
from kcli.consumer.membership import AGAIN, FAILED, JOINING, LOST, PROCEED, RESET, STABLE, SYNCING
from kcli.consumer.protocol import (
    PROTOCOL_TYPE,
    Subscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_generation,
    encode_sticky,
    encode_subscription,
)
from kcli.errors import BrokerError, KcliError
from kcli.model import TopicPartition
from kcli.proto.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kcli.proto.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from kcli.consumer.bounds import OffsetAndEpoch
    from kcli.consumer.commit import Offsets
    from kcli.consumer.coordinator import Coordinator
    from kcli.consumer.interest import Interest, Layout
    from kcli.consumer.membership import Membership
    from kcli.proto.messages.join_group import JoinGroupResponse
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


class Rebalance:
    """Holds what a member owns. `owned` is what it may read, `pending` what it may still commit while giving it up."""

    def __init__(
        self, member: Membership, coordinator: Coordinator, offsets: Offsets, settings: GroupSettings,
        callbacks: Callbacks, positions: Positions, now: Callable[[], float], changed: Callable[[], None],
    ) -> None:  # fmt: skip
        self._member = member
        self._coordinator = coordinator
        self._offsets = offsets
        self._settings = settings
        self._callbacks = callbacks
        self._positions = positions
        self._now = now
        self._changed = changed
        self.quiet = asyncio.Lock()  # held while callbacks may run
        self._settling: asyncio.Task[None] | None = None
        self.cooperative = set(settings.assignors) <= COOPERATIVE
        self.owned: frozenset[TopicPartition] = frozenset()
        self.pending: frozenset[TopicPartition] = frozenset()
        self.joined_topics: frozenset[str] = frozenset()
        self.racks_matter = False
        self.watched: Layout | None = None  # as the leader saw it when it assigned; None when not the leader
        self.watched_topics: frozenset[str] = frozenset()  # all members'
        self.commit_error: KcliError | None = None  # why the last commit of a revocation did not succeed
        self._last: tuple[frozenset[TopicPartition], int] = (frozenset(), -1)  # the sticky assignor's memory

    # -- giving up ---

    async def give_up(self, interest: Interest) -> None:
        """Before a join: all is lost if the generation is gone; eager members give up all, cooperative ones keep
        what they still want."""
        if self._member.generation < 0:
            await self.lose()
        elif not self.cooperative:
            await self.revoke(self.owned)
        else:
            await self.revoke(frozenset(at for at in self.owned if not interest.covers(at.topic)))

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

    # -- joining ---

    async def join(self, interest: Interest) -> str:
        """One JoinGroup and, if it succeeds, one SyncGroup and its consequences; what to do next."""
        member, settings = self._member, self._settings
        topics = await interest.look()
        long = max(self._coordinator.request_timeout, settings.rebalance_timeout + 5)  # B6: the broker holds it
        member.start_join()
        try:
            while True:
                answer = await self._coordinator.ask(
                    JoinGroupRequest(
                        group_id=settings.group,
                        session_timeout_ms=round(settings.session_timeout * 1000),
                        rebalance_timeout_ms=round(settings.rebalance_timeout * 1000),
                        member_id=member.member_id,
                        group_instance_id=settings.instance_id,
                        protocol_type=PROTOCOL_TYPE,
                        protocols=[
                            JoinGroupRequestProtocol(name=name, metadata=self._metadata(name, topics))
                            for name in settings.assignors
                        ],
                    ),
                    timeout=long,
                )
                step = member.joined(answer.error_code, answer.generation_id, answer.member_id, self._now())
                self._changed()
                if step != AGAIN:
                    break
            if step != PROCEED:
                return step
            self._check_protocol(answer.protocol_type, answer.protocol_name)
            self.joined_topics = topics
            assignments: dict[str, list[TopicPartition]] = {}
            self.watched = None
            if answer.leader == answer.member_id:
                assignments = await self._lead(answer, interest)
            return await self._sync(answer.protocol_name or "", assignments, interest, long)
        finally:
            if member.state in (JOINING, SYNCING):
                member.interrupted("the join was not answered")

    def _metadata(self, assignor: str, topics: frozenset[str]) -> bytes:
        user_data = None
        if assignor == "sticky" and self._last[1] >= 0:
            user_data = encode_sticky(*self._last)
        elif assignor == "cooperative-sticky":
            user_data = encode_generation(self._last[1])
        return encode_subscription(
            Subscription(
                topics=sorted(topics), owned=sorted(self.owned), generation=self._member.generation,
                rack=self._settings.rack or None, user_data=user_data,
            )
        )  # fmt: skip

    def _check_protocol(self, protocol_type: str | None, name: str | None) -> None:
        """KIP-559: a group of another kind has the same name, or of assignors we do not know."""
        if protocol_type not in (None, "", PROTOCOL_TYPE) or name not in self._settings.assignors:
            raise BrokerError(
                codes.INCONSISTENT_GROUP_PROTOCOL, self._settings.group,
                f"the group uses {protocol_type or PROTOCOL_TYPE}/{name}, "
                f"we offered {PROTOCOL_TYPE}/{','.join(self._settings.assignors)}",
            )  # fmt: skip

    async def _lead(self, answer: JoinGroupResponse, interest: Interest) -> dict[str, list[TopicPartition]]:
        """The leader's work: everybody's share. With `skip_assignment` (KIP-814) it only has to watch."""
        members = {one.member_id: decode_subscription(one.metadata, one.group_instance_id) for one in answer.members}
        self.watched_topics = frozenset(topic for one in members.values() for topic in one.topics)
        self.racks_matter = any(one.rack for one in members.values())
        self.watched = await interest.layout(self.watched_topics, with_racks=self.racks_matter)
        if answer.skip_assignment:
            return {}
        return assign(answer.protocol_name or "", self.watched, members)

    async def _sync(
        self, protocol: str, assignments: dict[str, list[TopicPartition]], interest: Interest, timeout: float
    ) -> str:
        member = self._member
        answer = await self._coordinator.ask(
            SyncGroupRequest(
                group_id=self._settings.group,
                generation_id=member.generation,
                member_id=member.member_id,
                group_instance_id=self._settings.instance_id,
                protocol_type=PROTOCOL_TYPE,
                protocol_name=protocol,
                assignments=[
                    SyncGroupRequestAssignment(member_id=name, assignment=encode_assignment(share))
                    for name, share in assignments.items()
                ],
            ),
            timeout=timeout,
        )
        if member.state != SYNCING:  # a heartbeat heard before us that the membership is over
            return RESET if member.generation < 0 else LOST
        if not answer.error_code:
            self._check_protocol(answer.protocol_type, answer.protocol_name or protocol)
        assigned = frozenset(decode_assignment(answer.assignment)) if not answer.error_code else frozenset()
        step = member.synced(answer.error_code, self._now())
        if step == PROCEED:
            async with self.quiet:
                await self._take(assigned, interest)
        return step

    # -- taking ---

    async def _take(self, assigned: frozenset[TopicPartition], interest: Interest) -> None:
        """Make the assignment ours. Strange topics mean that it answers an older subscription: join again (E54)."""
        member = self._member
        self._last = (assigned, member.generation)
        if any(not interest.covers(at.topic) for at in assigned):
            member.ask_rejoin("the assignment does not match the subscription")
            return
        revoked = self.owned - assigned
        added = assigned - self.owned
        if revoked:  # cooperative: others wait for these, so join again at once (KIP-429)
            await self.revoke(revoked)
            member.ask_rejoin("partitions were revoked")
        if member.generation < 0 or member.state != STABLE:
            return
        self.owned |= added
        for at in added:
            self._offsets.written.pop(at, None)
        await self._callbacks.on_assigned(set(added))
