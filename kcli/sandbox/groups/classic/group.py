"""A classic consumer group: members join it, get their assignment, and leave (KIP-62, 134, 345, 394, 814)."""

from __future__ import annotations

import asyncio
import os

from kcli import codes
from kcli.codes import ErrorCode
from kcli.errors import BrokerError
from kcli.proto.messages.join_group import JoinGroupRequest, JoinGroupResponse
from kcli.sandbox.groups.classic.member import Member, refusal
from kcli.sandbox.groups.classic.rebalance import Rebalance
from kcli.sandbox.groups.classic.roster import Roster
from kcli.sandbox.groups.states import COMPLETING, PREPARING, STABLE


class ClassicGroup:
    """The `roster` has its members, the `rebalance` its state. `delay` is group.initial.rebalance.delay, in seconds."""

    kind = "classic"

    def __init__(self, name: str, delay: float) -> None:
        self.name = name
        self.roster = Roster()
        self.rebalance = Rebalance(self.roster, delay)
        self.member_of = self.roster.member_of
        self.subscribes = self.roster.subscribes
        self.prepare = self.rebalance.prepare
        self.beat = self.rebalance.beat
        self.remove = self.rebalance.remove
        self.close = self.rebalance.close

    @property
    def state(self) -> str:
        return self.rebalance.state

    @property
    def members(self) -> dict[str, Member]:
        """By member id."""
        return self.roster.members

    @property
    def protocol_type(self) -> str:
        return self.roster.protocol_type

    # -- JoinGroup --------------------------------------------------------------------------------------------------

    async def join(
        self, request: JoinGroupRequest, client_id: str, host: str, *, id_first: bool, may_skip: bool
    ) -> JoinGroupResponse:
        """The answer, when the rebalance is complete. `id_first`: a new member must come back with the id it is given
        (KIP-394); `may_skip`: it understands skip_assignment (KIP-814). Raises BrokerError."""
        if not request.protocols or not request.protocol_type or not self.roster.fits(request):
            raise BrokerError(codes.INCONSISTENT_GROUP_PROTOCOL)
        if not request.member_id:
            if self.roster.static_id(request.group_instance_id) is not None:
                return await self._replace_static(request, client_id, host, may_skip)
            prefix = client_id if request.group_instance_id is None else request.group_instance_id
            member_id = f"{prefix}-{_random_id()}"
            if request.group_instance_id is None and id_first:
                self.rebalance.invite(member_id, request.session_timeout_ms / 1000)
                return refusal(codes.MEMBER_ID_REQUIRED, member_id)
            return await self._enter(Member(member_id, client_id, host, request))
        if self.rebalance.was_invited(request.member_id):
            return await self._enter(Member(request.member_id, client_id, host, request))
        return await self._rejoin(self.roster.member(request.member_id, request.group_instance_id), request)

    async def _enter(self, member: Member) -> JoinGroupResponse:
        self.roster.add(member)
        return await self._join_rebalance(member)

    async def _rejoin(self, member: Member, request: JoinGroupRequest) -> JoinGroupResponse:
        same = member.same_terms(request)
        if same and (self.state == COMPLETING or (self.state == STABLE and member.id != self.roster.leader)):
            return self.roster.join_response(member)
        member.take_terms(request)
        return await self._join_rebalance(member)

    async def _replace_static(
        self, request: JoinGroupRequest, client_id: str, host: str, may_skip: bool
    ) -> JoinGroupResponse:
        """A static member came back under a new id: the old id is fenced, the assignment stays (KIP-345)."""
        instance = request.group_instance_id
        old = self.members[self.roster.static_id(instance) or ""]
        old.stop_timer()
        old.refuse(codes.FENCED_INSTANCE_ID)
        led = self.roster.leader == old.id
        member = Member(f"{instance}-{_random_id()}", client_id, host, request)
        self.roster.replace(old, member)
        if self.state != STABLE or not old.same_terms(request):
            return await self._join_rebalance(member)
        self.beat(member)
        response = self.roster.join_response(member)
        if led and not may_skip:  # below version 9 it would assign again: let it think that the old id leads
            response.leader, response.members = old.id, []
        response.skip_assignment = led and may_skip
        return response

    async def _join_rebalance(self, member: Member) -> JoinGroupResponse:
        if member.joining is not None and not member.joining.done():
            member.joining.set_result(refusal(codes.UNKNOWN_MEMBER_ID, member.id))  # a newer JoinGroup takes its place
        waiting: asyncio.Future[JoinGroupResponse] = asyncio.get_running_loop().create_future()
        member.joining = waiting
        member.stop_timer()
        if self.state != PREPARING:
            self.prepare()
        else:
            self.rebalance.look_complete()
        return await waiting

    # -- SyncGroup and LeaveGroup -----------------------------------------------------------------------------------

    async def sync(self, member: Member, assignments: dict[str, bytes]) -> bytes:
        """The member's assignment, when the leader has given it out. Raises BrokerError."""
        if self.state == PREPARING:
            raise BrokerError(codes.REBALANCE_IN_PROGRESS)
        if self.state == STABLE:
            self.beat(member)
            return member.assignment
        if self.state != COMPLETING:
            raise BrokerError(codes.UNKNOWN_MEMBER_ID)
        waiting: asyncio.Future[tuple[ErrorCode, bytes]] = asyncio.get_running_loop().create_future()
        member.syncing = waiting
        member.stop_timer()
        if member.id == self.roster.leader:
            self.rebalance.hand_out(assignments)
        code, assignment = await waiting
        if code:
            raise BrokerError(code)
        return assignment

    def leave(self, member_id: str, instance_id: str | None) -> None:
        """Raises BrokerError UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        if self.rebalance.was_invited(member_id):
            self.rebalance.look_complete()
            return
        if not member_id:
            member_id = self.roster.static_id(instance_id) or ""
        self.remove(self.roster.member(member_id, instance_id))


def _random_id() -> str:
    text = os.urandom(16).hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
