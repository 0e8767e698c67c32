"""A running member of a classic consumer group: the tasks around the membership's state machine.

One task rebalances, one sends heartbeats (E46), one watches the topics of the last assignment.
"""

from __future__ import annotations

import asyncio

from kcli.backoff import Backoff, after
from kcli.consumer.classic.membership import Membership
from kcli.consumer.classic.rebalance import Rebalance
from kcli.consumer.group.commit import Offsets
from kcli.consumer.group.session import Session
from kcli.consumer.group.states import AWAY, FAILED, FATAL, FIND, PROCEED, RETRY, STABLE
from kcli.consumer.subscription import Interest
from kcli.errors import KcliError
from kcli.proto.messages.heartbeat import HeartbeatRequest
from kcli.proto.messages.leave_group import LeaveGroupRequest, MemberIdentity
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from kcli.consumer.group.assigned import Callbacks, Positions
    from kcli.model import Cluster
    from kcli.settings import GroupSettings

LOG = Log("consumer.group")
LEAVE_GROUP = 13
FIRST_WATCH = 1.0  # seconds, doubling: how often topics that do not exist yet are looked for


class GroupSession(Session):
    """A classic member. The `request_timeout` is of one request, JoinGroup and SyncGroup have their own."""

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
                pauses.next()  # it counts, and joins again at once

    async def _until_needed(self) -> None:
        """Level-triggered: the flag is cleared before the state is read (A3.09)."""
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
            member.close()  # heartbeats that are answered later mean nothing
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

    # -- looking ---

    async def _watch(self) -> None:
        """Join again when what the assignment was made from has changed (E49, E54)."""
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
        if interest.by_pattern and await interest.look() != self._share.joined_topics:
            reason = "other topics match the subscription"
        elif self._share.watched is not None:
            seen = await interest.layout(self._share.watched_topics, with_racks=self._share.racks_matter)
            if seen != self._share.watched:
                reason = "the topics' partitions changed"
        return reason if generation == self._member.generation else None
