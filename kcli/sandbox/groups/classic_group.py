"""A classic consumer group: who is in it, and the rebalance that gives everyone a part (KIP-62, 134, 345, 394, 814).

Empty → PreparingRebalance (members join) → CompletingRebalance (the leader assigns) → Stable; Dead once closed."""

from __future__ import annotations

import asyncio
import os

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.groups.member import Member
from kcli.sandbox.groups.rebalance import Rebalance
from kcli.sandbox.groups.roster import COMPLETING, PREPARING, STABLE, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.codes import ErrorCode
    from kcli.proto.messages.join_group import JoinGroupRequest, JoinGroupResponse


class ClassicGroup(Rebalance):
    """What its members ask for: to join, to be told their part, to leave."""

    kind = "classic"

    async def join(
        self, request: JoinGroupRequest, client_id: str, host: str, *, id_first: bool, may_skip: bool
    ) -> JoinGroupResponse:
        """The answer, when the rebalance is complete. `id_first`: a new member must come back with the id it is given
        (KIP-394); `may_skip`: it understands skip_assignment (KIP-814). Raises BrokerError."""
        if not request.protocols or not self._fits(request):
            raise BrokerError(codes.INCONSISTENT_GROUP_PROTOCOL)
        if not request.member_id:
            if request.group_instance_id is not None and request.group_instance_id in self._static:
                return await self._replace_static(request, client_id, host, may_skip)
            member_id = f"{request.group_instance_id or client_id}-{_random_id()}"
            if request.group_instance_id is None and id_first:
                self._pending[member_id] = asyncio.get_running_loop().call_later(
                    request.session_timeout_ms / 1000, self._forget_pending, member_id
                )
                return refusal(codes.MEMBER_ID_REQUIRED, member_id)
            return await self._enter(Member(member_id, client_id, host, request))
        if request.member_id in self._pending:
            self._pending.pop(request.member_id).cancel()
            return await self._enter(Member(request.member_id, client_id, host, request))
        return await self._rejoin(self.member(request.member_id, request.group_instance_id), request)

    def _fits(self, request: JoinGroupRequest) -> bool:
        if not self.members:
            return True
        others = [member for member in self.members.values() if member.id != request.member_id]
        if not others:
            return True
        names = {one.name for one in request.protocols}
        common = set.intersection(*({name for name, _ in member.protocols} for member in others))
        return request.protocol_type == self.protocol_type and bool(names & common)

    async def _enter(self, member: Member) -> JoinGroupResponse:
        self.members[member.id] = member
        if member.instance_id is not None:
            self._static[member.instance_id] = member.id
        self.protocol_type = member.protocol_type
        self.leader = self.leader or member.id
        return await self._join_rebalance(member)

    async def _rejoin(self, member: Member, request: JoinGroupRequest) -> JoinGroupResponse:
        same = member.same_terms(request)
        if self.state == COMPLETING and same:
            return self._told(member)
        if self.state == STABLE and same and member.id != self.leader:
            return self._told(member)
        member.take_terms(request)
        return await self._join_rebalance(member)

    async def _replace_static(
        self, request: JoinGroupRequest, client_id: str, host: str, may_skip: bool
    ) -> JoinGroupResponse:
        """A static member came back under a new id: the old id is fenced, the assignment stays (KIP-345)."""
        instance = request.group_instance_id
        assert instance is not None
        old = self.members.pop(self._static[instance])
        old.stop_timer()
        self._refuse(old, codes.FENCED_INSTANCE_ID)
        member = Member(f"{instance}-{_random_id()}", client_id, host, request)
        member.assignment = old.assignment
        self.members[member.id] = member
        self._static[instance] = member.id
        led, self.leader = self.leader == old.id, member.id if self.leader == old.id else self.leader
        if self.state != STABLE or not old.same_terms(request):
            return await self._join_rebalance(member)
        self.beat(member)
        told = self._told(member)
        if led and not may_skip:  # below version 9 it would assign again: let it think that the old id leads
            told.leader, told.members = old.id, []
        told.skip_assignment = led and may_skip
        return told

    async def _join_rebalance(self, member: Member) -> JoinGroupResponse:
        if member.joining is not None and not member.joining.done():
            member.joining.set_result(refusal(codes.UNKNOWN_MEMBER_ID, member.id))  # a newer JoinGroup takes its place
        waiting: asyncio.Future[JoinGroupResponse] = asyncio.get_running_loop().create_future()
        member.joining = waiting
        member.stop_timer()
        if self.state != PREPARING:
            self.prepare()
        else:
            self._look_complete()
        return await waiting

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
        if member.id == self.leader:
            self._hand_out(assignments)
        code, assignment = await waiting
        if code:
            raise BrokerError(code)
        return assignment

    def _hand_out(self, assignments: dict[str, bytes]) -> None:
        self.state = STABLE
        for member in self.members.values():
            member.assignment = assignments.get(member.id, b"")
            waiting, member.syncing = member.syncing, None
            self.beat(member)
            if waiting is not None and not waiting.done():
                waiting.set_result((codes.NONE, member.assignment))

    def leave(self, member_id: str, instance_id: str | None) -> None:
        """Raises BrokerError UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        if member_id in self._pending:
            self._pending.pop(member_id).cancel()
            self._look_complete()
            return
        if instance_id is not None and not member_id:
            member_id = self._static.get(instance_id, "")
        self.remove(self.member(member_id, instance_id))


def _random_id() -> str:
    text = os.urandom(16).hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
