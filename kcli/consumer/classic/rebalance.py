"""One rebalance of a classic member: give up, join, sync, take."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.backoff import LEAST, Floor
from kcli.consumer.classic.assignors import COOPERATIVE, assign
from kcli.consumer.group.assigned import Holdings
from kcli.consumer.group.states import AGAIN, JOINING, LOST, PROCEED, RESET, RETRY, STABLE, SYNCING
from kcli.errors import BrokerError
from kcli.model import TopicPartition
from kcli.proto.consumer_protocol import (
    PROTOCOL_TYPE,
    Subscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_generation,
    encode_sticky,
    encode_subscription,
)
from kcli.proto.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kcli.proto.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.consumer.classic.membership import Membership
    from kcli.consumer.group.assigned import Callbacks, Positions
    from kcli.consumer.group.commit import Offsets
    from kcli.consumer.group.coordinator import Coordinator
    from kcli.consumer.subscription import Interest, Layout
    from kcli.proto.messages.join_group import JoinGroupResponse
    from kcli.settings import GroupSettings


LOG = Log("consumer.group")


class Rebalance(Holdings):
    """A classic member's share: what it owns and how it came by it."""

    _member: Membership

    def __init__(
        self,
        member: Membership,
        coordinator: Coordinator,
        offsets: Offsets,
        settings: GroupSettings,
        callbacks: Callbacks,
        positions: Positions,
        now: Callable[[], float],
        changed: Callable[[], None],
    ) -> None:
        super().__init__(member, offsets, settings, callbacks, positions, now, late=settings.heartbeat_interval)
        self._coordinator = coordinator
        self._changed = changed
        self.cooperative = set(settings.assignors) <= COOPERATIVE
        self.joined_topics: frozenset[str] = frozenset()
        self.racks_matter = False
        self.watched: Layout | None = None  # as the leader saw it when it assigned; None when not the leader
        self.watched_topics: frozenset[str] = frozenset()  # all members'
        self._last: tuple[frozenset[TopicPartition], int] = (frozenset(), -1)  # the sticky assignor's memory
        self._floor = Floor(LEAST)  # between two joins: a coordinator may want another member id each time

    async def give_up(self, interest: Interest) -> None:
        """Before a join: all is lost if the generation is gone; eager members give up all, cooperative ones keep
        what they still want."""
        if self._member.generation < 0:
            await self.lose()
        elif not self.cooperative:
            await self.revoke(self.owned)
        else:
            await self.revoke(frozenset(at for at in self.owned if not interest.covers(at.topic)))

    # -- joining ---

    async def join(self, interest: Interest) -> str:
        """One JoinGroup and, if it succeeds, one SyncGroup and its consequences; what to do next."""
        member = self._member
        topics = await interest.look()
        long = max(self._coordinator.request_timeout, self._settings.rebalance_timeout + 5)  # B6: the broker holds it
        LOG.info("%s: joins: %s", self._settings.group, member.reason)
        member.start_join()
        try:
            for has_id in (False, True):
                await asyncio.sleep(self._floor.wait(self._now()))
                answer = await self._coordinator.ask(self._join_request(topics), timeout=long)
                step = member.joined(answer.error_code, answer.generation_id, answer.member_id, self._now())
                self._changed()
                if step != AGAIN:
                    break
                if has_id:
                    return RETRY  # the id that it gave us was no good either
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

    def _join_request(self, topics: frozenset[str]) -> JoinGroupRequest:
        settings = self._settings
        return JoinGroupRequest(
            group_id=settings.group,
            session_timeout_ms=round(settings.session_timeout * 1000),
            rebalance_timeout_ms=round(settings.rebalance_timeout * 1000),
            member_id=self._member.member_id,
            group_instance_id=settings.instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocols=[
                JoinGroupRequestProtocol(name=name, metadata=self._metadata(name, topics))
                for name in settings.assignors
            ],
        )

    def _metadata(self, assignor: str, topics: frozenset[str]) -> bytes:
        user_data = None
        if assignor == "sticky" and self._last[1] >= 0:
            user_data = encode_sticky(*self._last)
        elif assignor == "cooperative-sticky":
            user_data = encode_generation(self._last[1])
        return encode_subscription(
            Subscription(
                topics=sorted(topics),
                owned=sorted(self.owned),
                generation=self._member.generation,
                rack=self._settings.rack or None,
                user_data=user_data,
            )
        )

    def _check_protocol(self, protocol_type: str | None, name: str | None) -> None:
        """KIP-559: a group of another kind has the same name, or of assignors we do not know."""
        if protocol_type not in (None, "", PROTOCOL_TYPE) or name not in self._settings.assignors:
            raise BrokerError(
                codes.INCONSISTENT_GROUP_PROTOCOL,
                self._settings.group,
                f"the group uses {protocol_type or PROTOCOL_TYPE}/{name}, "
                f"we offered {PROTOCOL_TYPE}/{','.join(self._settings.assignors)}",
            )

    async def _lead(self, answer: JoinGroupResponse, interest: Interest) -> dict[str, list[TopicPartition]]:
        """The leader's work: the assignment of all members. With `skip_assignment` (KIP-814) it only has to watch."""
        members = {
            member.member_id: decode_subscription(member.metadata, member.group_instance_id)
            for member in answer.members
        }
        self.watched_topics = frozenset(topic for member in members.values() for topic in member.topics)
        self.racks_matter = any(member.rack for member in members.values())
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
            LOG.info("%s: member %s in generation %d", self._settings.group, member.member_id, member.generation)
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
        await self.take(added)
