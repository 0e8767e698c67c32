"""A running member of a classic consumer group: the tasks that drive the membership's state machine.

One task rebalances, one sends heartbeats, one watches the topics of the last assignment.
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.backoff import LEAST, Backoff, Floor, after
from kcli.consumer.classic.assignors import COOPERATIVE, assign
from kcli.consumer.classic.membership import Membership
from kcli.consumer.group.assigned import Holdings
from kcli.consumer.group.commit import Offsets
from kcli.consumer.group.session import Session
from kcli.consumer.group.states import (
    AGAIN,
    AWAY,
    FAILED,
    FATAL,
    FIND,
    JOINING,
    LOST,
    PROCEED,
    RESET,
    RETRY,
    STABLE,
    SYNCING,
)
from kcli.consumer.subscription import Interest
from kcli.errors import BrokerError, KcliError
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
from kcli.proto.messages.heartbeat import HeartbeatRequest
from kcli.proto.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kcli.proto.messages.leave_group import LeaveGroupRequest, MemberIdentity
from kcli.proto.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from kcli.consumer.group.assigned import Callbacks, Positions
    from kcli.consumer.group.coordinator import Coordinator
    from kcli.consumer.subscription import Layout
    from kcli.model import Cluster
    from kcli.proto.messages.join_group import JoinGroupResponse
    from kcli.settings import GroupSettings


LOG = Log("consumer.group")
LEAVE_GROUP = 13
FIRST_WATCH = 1.0  # seconds, doubling: how often missing topics are looked for


class Rebalance(Holdings):
    """The partitions of a classic member, and how it joins to get them."""

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
        self.watched: Layout | None = None  # the layout that the leader used to assign; None if not the leader
        self.watched_topics: frozenset[str] = frozenset()  # topics of all members
        # the sticky assignor's previous assignment
        self._last: tuple[frozenset[TopicPartition], int] = (frozenset(), -1)
        self._floor = Floor(LEAST)  # between joins: a coordinator may return a new member id each time

    async def give_up(self, interest: Interest) -> None:
        """Give up partitions before a join: all are lost if the generation is gone; eager members revoke all,
        cooperative ones keep those they are still subscribed to."""
        if self._member.generation < 0:
            await self.lose()
        elif not self.cooperative:
            await self.revoke(self.owned)
        else:
            await self.revoke(frozenset(at for at in self.owned if not interest.covers(at.topic)))

    # -- joining ---

    async def join(self, interest: Interest) -> str:
        """Send one JoinGroup and, if it succeeds, one SyncGroup, and apply the result. Returns the next step."""
        member = self._member
        topics = await interest.topics_now()
        # the broker holds the request that long
        long = max(self._coordinator.request_timeout, self._settings.rebalance_timeout + 5)
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
                    return RETRY  # the returned member id did not work either
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
        """Check the group's protocol (KIP-559): the name may belong to another kind of group, or the assignors may
        differ."""
        if protocol_type not in (None, "", PROTOCOL_TYPE) or name not in self._settings.assignors:
            raise BrokerError(
                codes.INCONSISTENT_GROUP_PROTOCOL,
                self._settings.group,
                f"the group uses {protocol_type or PROTOCOL_TYPE}/{name}, but kcli offered "
                f"{PROTOCOL_TYPE}/{','.join(self._settings.assignors)}",
            )

    async def _lead(self, answer: JoinGroupResponse, interest: Interest) -> dict[str, list[TopicPartition]]:
        """Compute the assignment of all members as leader. With `skip_assignment` (KIP-814) only the topics are
        watched."""
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
        if member.state != SYNCING:  # a heartbeat reported first that the membership is over
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
        """Adopt the assignment. Unexpected topics mean that it is based on an older subscription: join again."""
        member = self._member
        self._last = (assigned, member.generation)
        if any(not interest.covers(at.topic) for at in assigned):
            member.ask_rejoin("the assignment does not match the subscription")
            return
        revoked = self.owned - assigned
        added = assigned - self.owned
        if revoked:  # cooperative: other members wait for these, so join again at once (KIP-429)
            await self.revoke(revoked)
            member.ask_rejoin("partitions were revoked")
        if member.generation < 0 or member.state != STABLE:
            return
        await self.take(added)


class GroupSession(Session):
    """A classic member's session. `request_timeout` applies to single requests, except JoinGroup and SyncGroup."""

    _member: Membership
    _share: Rebalance

    def __init__(
        self,
        cluster: Cluster,
        settings: GroupSettings,
        callbacks: Callbacks,
        positions: Positions,
        *,
        request_timeout: float = 30.0,
        retry_backoff: float = 0.1,
        retry_backoff_max: float = 1.0,
        metadata_max_age: float = 300.0,
    ) -> None:
        super().__init__(
            cluster,
            settings,
            positions,
            request_timeout=request_timeout,
            retry_backoff=retry_backoff,
            retry_backoff_max=retry_backoff_max,
        )
        self._backoff = retry_backoff
        self._metadata_max_age = metadata_max_age
        self._member = Membership(settings, self._loop.time())
        self._offsets = Offsets(cluster, self._coordinator, self._member, settings.instance_id, self._wake)
        self._share = Rebalance(
            self._member, self._coordinator, self._offsets, settings, callbacks, positions, self._loop.time, self._wake
        )
        self._interest: Interest | None = None

    def _subscribe(self, wanted: Sequence[str] | str) -> None:
        self._interest = Interest(self._cluster, wanted)
        self._member.ask_rejoin("the subscription changed")

    def _work(self) -> dict[str, Callable[[], Awaitable[None]]]:
        return {"rebalance": self._rebalance, "heartbeat": self._heartbeat, "watch": self._watch}

    # -- rebalancing ---

    async def _rebalance(self) -> None:
        pauses = self._coordinator.pauses()
        while True:
            await self._until_needed()
            assert self._interest is not None
            async with self._share.quiet:
                if self._member.state in (AWAY, FAILED):
                    await self._share.lose()
                    if self._member.error is not None:
                        raise self._member.error
                    continue
                await self._share.give_up(self._interest)
            if not self._member.wants_join:
                continue
            self._rebalance_begins()
            step = await self._try_join(self._interest)
            self._timers.set()
            if step == FIND:
                self._coordinator.moved()
            if step == PROCEED:
                self._rebalance_is_over()
                pauses.reset()
            elif step in (FIND, RETRY) or (step != FATAL and pauses.failures):
                await pauses.pause()
            else:
                pauses.next()  # counts a failure, and joins again at once

    async def _until_needed(self) -> None:
        """Wait until there is something to do. The event is cleared before the state is read, so no change is
        missed."""
        while True:
            self._changed.clear()
            member = self._member
            if member.wants_join or member.state == FAILED or (member.state == AWAY and self._share.owned):
                return
            await self._changed.wait()

    async def _try_join(self, interest: Interest) -> str:
        try:
            return await self._share.join(interest)
        except KcliError as error:
            if not error.retriable:
                raise
            return FIND

    async def _leave(self, reason: str) -> None:
        member, settings = self._member, self._settings
        if not member.member_id or settings.instance_id is not None or member.state == FAILED:
            return
        name = member.member_id
        if self._closed:
            member.close()  # later heartbeat responses are ignored
        else:
            member.member_id = ""

        def build(version: int) -> LeaveGroupRequest:
            if version < 3:
                return LeaveGroupRequest(group_id=settings.group, member_id=name)
            identity = MemberIdentity(member_id=name, reason=reason)
            return LeaveGroupRequest(group_id=settings.group, members=[identity])

        await self._coordinator.leave(build, LEAVE_GROUP, lambda answer: answer.error_code)

    # -- staying alive ---

    async def _beat(self) -> bool:
        member = self._member
        asked = member.identity
        member.heartbeat_sent(self._loop.time())
        request = HeartbeatRequest(
            group_id=self._settings.group,
            generation_id=asked.generation,
            member_id=asked.member_id,
            group_instance_id=self._settings.instance_id,
        )
        patience = min(self._coordinator.request_timeout, self._settings.session_timeout / 3)
        try:
            async with asyncio.timeout(patience):
                answer = await self._coordinator.ask(request, timeout=patience)
        except TimeoutError:
            LOG.warning("%s: a heartbeat was not answered within %.3g s", self._settings.group, patience)
            self._coordinator.moved()
            member.heartbeat_failed(self._loop.time(), after(0, self._backoff, self._backoff))
            return False
        except KcliError as error:
            if not error.retriable:
                raise
            LOG.warning("%s: a heartbeat was not answered: %s", self._settings.group, error)
            member.heartbeat_failed(self._loop.time(), after(0, self._backoff, self._backoff))
            return False
        step = member.heartbeat(answer.error_code, asked, self._loop.time())
        if step == FIND:
            self._coordinator.moved()
        if step in (FIND, RETRY):
            member.heartbeat_failed(self._loop.time(), after(0, self._backoff, self._backoff))
        return step not in (FIND, RETRY)

    # -- watching topics ---

    async def _watch(self) -> None:
        """Join again when the topics on which the assignment is based have changed."""
        pauses = Backoff(FIRST_WATCH, self._metadata_max_age)
        while True:
            await pauses.pause()
            if self._member.state != STABLE or self._interest is None:
                pauses.reset()
                continue
            try:
                reason = await self._difference(self._interest)
            except KcliError as error:
                if not error.retriable:
                    raise
                continue
            if reason:
                self._member.ask_rejoin(reason)
                self._wake()
                pauses.reset()

    async def _difference(self, interest: Interest) -> str | None:
        generation = self._member.generation
        reason = None
        if interest.by_pattern and await interest.topics_now() != self._share.joined_topics:
            reason = "other topics match the subscription"
        elif self._share.watched is not None:
            seen = await interest.layout(self._share.watched_topics, with_racks=self._share.racks_matter)
            if seen != self._share.watched:
                reason = "the topics' partitions changed"
        return reason if generation == self._member.generation else None
