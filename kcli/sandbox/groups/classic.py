"""A classic consumer group: members join it, get their assignment, and leave (KIP-62, 134, 345, 394, 814)."""

from __future__ import annotations

import asyncio
import os
from asyncio import Future, TimerHandle
from collections.abc import Callable

from kcli import codes
from kcli.codes import ErrorCode
from kcli.errors import BrokerError
from kcli.proto.consumer_protocol import decode_subscription
from kcli.proto.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from kcli.sandbox.groups.states import COMPLETING, DEAD, EMPTY, PREPARING, STABLE

# A member of a classic group, as its coordinator knows it.


class Member:
    """`joining` and `syncing` are the answers it waits for, if it does."""

    def __init__(self, member_id: str, client_id: str, host: str, request: JoinGroupRequest) -> None:
        self.id = member_id
        self.instance_id = request.group_instance_id
        self.client_id = client_id
        self.host = host
        self.assignment = b""
        self.timer: TimerHandle | None = None
        self.joining: Future[JoinGroupResponse] | None = None
        self.syncing: Future[tuple[ErrorCode, bytes]] | None = None
        self.take_terms(request)

    def take_terms(self, request: JoinGroupRequest) -> None:
        """Take over the timeouts (in seconds) and protocols of a JoinGroup."""
        self.terms = request
        self.session_timeout = request.session_timeout_ms / 1000
        rebalance = request.rebalance_timeout_ms
        self.rebalance_timeout = (rebalance if rebalance > 0 else request.session_timeout_ms) / 1000
        self.protocol_type = request.protocol_type
        self.protocols = [(protocol.name, protocol.metadata) for protocol in request.protocols]

    def same_terms(self, request: JoinGroupRequest) -> bool:
        return self.protocols == [(protocol.name, protocol.metadata) for protocol in request.protocols]

    @property
    def protocol_names(self) -> set[str]:
        return {name for name, _ in self.protocols}

    def metadata(self, protocol: str | None) -> bytes:
        return next((data for name, data in self.protocols if name == protocol), b"")

    @property
    def waits(self) -> bool:
        """Whether a rebalance keeps it waiting: then its silence is no death."""
        return self.joining is not None or self.syncing is not None

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def refuse(self, code: ErrorCode) -> None:
        """Answer what it waits for with an error."""
        if self.joining is not None and not self.joining.done():
            self.joining.set_result(refusal(code, self.id))
        if self.syncing is not None and not self.syncing.done():
            self.syncing.set_result((code, b""))
        self.joining = self.syncing = None


def refusal(code: ErrorCode, member_id: str) -> JoinGroupResponse:
    """A JoinGroup answer that is an error."""
    return JoinGroupResponse(error_code=code.number, protocol_name="", member_id=member_id)


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
            self.rebalance.complete_if_all_joined()
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
            self.rebalance.complete_if_all_joined()
            return
        if not member_id:
            member_id = self.roster.static_id(instance_id) or ""
        self.remove(self.roster.member(member_id, instance_id))


def _random_id() -> str:
    text = os.urandom(16).hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


# The rebalance of a classic group: all members join again, the leader assigns, and silent members are removed
# (KIP-62, 134).
#
# Empty → PreparingRebalance (members join) → CompletingRebalance (the leader assigns) → Stable; Dead once closed.
class Rebalance:
    """The state of the group whose members are in `roster`, and its timers. `delay` is how long, in seconds, the first
    rebalance of an empty group waits for more members."""

    def __init__(self, roster: Roster, delay: float) -> None:
        self.state = EMPTY
        self._roster = roster
        self._delay = delay
        self._deadline: asyncio.TimerHandle | None = None  # of the join phase, then of the sync phase
        self._first_wait = False
        self._invited: dict[str, asyncio.TimerHandle] = {}  # ids given out with MEMBER_ID_REQUIRED (KIP-394)

    # -- the join phase -----------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Start a rebalance: everyone must join again."""
        members = self._roster.members.values()
        for member in members:
            if member.syncing is not None and not member.syncing.done():
                member.syncing.set_result((codes.REBALANCE_IN_PROGRESS, b""))
            if member.syncing is not None:
                member.syncing = None
                self.beat(member)
        self._first_wait = self.state == EMPTY
        self.state = PREPARING
        longest = max((member.rebalance_timeout for member in members), default=0.0)
        self._set_deadline(self._delay if self._first_wait else longest, self._join_time_is_up)
        self.complete_if_all_joined()

    def invite(self, member_id: str, seconds: float) -> None:
        """The rebalance waits `seconds` for a new member, which was sent away to come back with this id."""
        self._invited[member_id] = asyncio.get_running_loop().call_later(seconds, self._forget_invited, member_id)

    def was_invited(self, member_id: str) -> bool:
        """Whether the id was given out; it no longer is."""
        timer = self._invited.pop(member_id, None)
        if timer is not None:
            timer.cancel()
        return timer is not None

    def _forget_invited(self, member_id: str) -> None:
        self._invited.pop(member_id, None)
        self.complete_if_all_joined()

    def complete_if_all_joined(self) -> None:
        """End the join phase if all known members have joined, and all invited ones have come."""
        if self.state != PREPARING or self._first_wait or self._invited:
            return
        if all(member.joining is not None for member in self._roster.members.values()):
            self._complete_join()

    def _join_time_is_up(self) -> None:
        if self.state == PREPARING:
            self._first_wait = False
            self._complete_join()

    def _complete_join(self) -> None:
        roster = self._roster
        for member in [m for m in roster.members.values() if m.joining is None and m.instance_id is None]:
            roster.discard(member)
        joined = [member for member in roster.members.values() if member.joining is not None]
        if not joined:
            if roster.members:  # static members that are away: wait on
                self._set_deadline(self._longest_timeout(), self._join_time_is_up)
            else:
                self._become_empty()
            return
        roster.next_generation()
        self.state = COMPLETING
        for member in joined:
            waiting, member.joining = member.joining, None
            self.beat(member)
            if waiting is not None and not waiting.done():
                waiting.set_result(roster.join_response(member))
        self._set_deadline(self._longest_timeout(), self._sync_time_is_up)

    # -- the sync phase -----------------------------------------------------------------------------------------------

    def hand_out(self, assignments: dict[str, bytes]) -> None:
        """The leader has assigned: the group is stable."""
        self.state = STABLE
        for member in self._roster.members.values():
            member.assignment = assignments.get(member.id, b"")
            waiting, member.syncing = member.syncing, None
            self.beat(member)
            if waiting is not None and not waiting.done():
                waiting.set_result((codes.NONE, member.assignment))

    def _sync_time_is_up(self) -> None:
        """Remove members that joined and never synced."""
        if self.state != COMPLETING:
            return
        for member in [m for m in self._roster.members.values() if m.syncing is None]:
            self._roster.discard(member)
        self._after_loss()

    # -- members that stay, and members that go -----------------------------------------------------------------------

    def beat(self, member: Member) -> None:
        """A heartbeat of a member: its session starts again."""
        member.stop_timer()
        if not member.waits:
            loop = asyncio.get_running_loop()
            member.timer = loop.call_later(member.session_timeout, self._session_ended, member)

    def _session_ended(self, member: Member) -> None:
        if self._roster.members.get(member.id) is member and not member.waits:
            self.remove(member)

    def remove(self, member: Member) -> None:
        """The member is gone, and the others rebalance."""
        self._roster.discard(member)
        self._after_loss()

    def _after_loss(self) -> None:
        if self.state in (STABLE, COMPLETING):
            if self._roster.members:
                self.prepare()
            else:
                self._roster.generation += 1
                self._become_empty()
        elif self.state == PREPARING:
            self.complete_if_all_joined()

    def _become_empty(self) -> None:
        self.state = EMPTY
        self._roster.protocol = self._roster.leader = None
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    # -- time ---------------------------------------------------------------------------------------------------------

    def _longest_timeout(self) -> float:
        return max(member.rebalance_timeout for member in self._roster.members.values())

    def _set_deadline(self, seconds: float, then: Callable[[], None]) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = asyncio.get_running_loop().call_later(seconds, then)

    def close(self) -> None:
        """Stop all timers and answer all members that wait."""
        self.state = DEAD
        for member in self._roster.members.values():
            member.stop_timer()
            member.refuse(codes.COORDINATOR_NOT_AVAILABLE)
        for timer in self._invited.values():
            timer.cancel()
        if self._deadline is not None:
            self._deadline.cancel()


class Roster:
    """The members in the order in which they came, and the protocol they agreed on."""

    def __init__(self) -> None:
        self.generation = 0
        self.protocol_type = ""
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members: dict[str, Member] = {}
        self._static: dict[str, str] = {}  # instance id → member id

    # -- look up ----------------------------------------------------------------------------------------------------

    def member(self, member_id: str, instance_id: str | None) -> Member:
        """Raises BrokerError FENCED_INSTANCE_ID, UNKNOWN_MEMBER_ID."""
        if instance_id is not None:
            current = self._static.get(instance_id)
            if current is not None and current != member_id:
                raise BrokerError(codes.FENCED_INSTANCE_ID)
        member = self.members.get(member_id)
        if member is None or (instance_id is not None and member.instance_id != instance_id):
            raise BrokerError(codes.UNKNOWN_MEMBER_ID)
        return member

    def member_of(self, member_id: str, instance_id: str | None, generation: int) -> Member:
        """The member, for a request of the current generation. Raises BrokerError ILLEGAL_GENERATION, too."""
        member = self.member(member_id, instance_id)
        if generation != self.generation:
            raise BrokerError(codes.ILLEGAL_GENERATION)
        return member

    def static_id(self, instance_id: str | None) -> str | None:
        """The id of the static member with this instance id, None without such a member."""
        return None if instance_id is None else self._static.get(instance_id)

    # -- come and go ------------------------------------------------------------------------------------------------

    def add(self, member: Member) -> None:
        """Take in a new member; the first one leads."""
        self.members[member.id] = member
        if member.instance_id is not None:
            self._static[member.instance_id] = member.id
        self.protocol_type = member.protocol_type
        self.leader = self.leader or member.id

    def replace(self, old: Member, new: Member) -> None:
        """A static member has come back under a new id: it takes the assignment, and the lead."""
        assert new.instance_id is not None
        del self.members[old.id]
        new.assignment = old.assignment
        self.members[new.id] = new
        self._static[new.instance_id] = new.id
        if self.leader == old.id:
            self.leader = new.id

    def discard(self, member: Member) -> None:
        """Forget a member, and tell it if it waits for an answer."""
        self.members.pop(member.id, None)
        member.stop_timer()
        if member.instance_id is not None and self._static.get(member.instance_id) == member.id:
            del self._static[member.instance_id]
        if self.leader == member.id:
            self.leader = next(iter(self.members), None)
        member.refuse(codes.UNKNOWN_MEMBER_ID)

    # -- agree ------------------------------------------------------------------------------------------------------

    def fits(self, request: JoinGroupRequest) -> bool:
        """Whether the request shares a protocol with all other members."""
        others = [member for member in self.members.values() if member.id != request.member_id]
        if not others:
            return True
        common = set.intersection(*(member.protocol_names for member in others))
        names = {protocol.name for protocol in request.protocols}
        return request.protocol_type == self.protocol_type and bool(names & common)

    def next_generation(self) -> None:
        """All have joined: a new generation, led by a member that joined, with the protocol that most prefer."""
        joined = [member for member in self.members.values() if member.joining is not None]
        if self.leader not in self.members or self.members[self.leader].joining is None:
            self.leader = joined[0].id
        self.generation += 1
        self.protocol = self.vote()

    def vote(self) -> str:
        """The protocol most members prefer among those that all of them know."""
        everyone = list(self.members.values())
        common = set.intersection(*(member.protocol_names for member in everyone))
        votes: dict[str, int] = {}
        for member in everyone:
            choice = next(name for name, _ in member.protocols if name in common)
            votes[choice] = votes.get(choice, 0) + 1
        return max(votes, key=lambda name: votes[name])

    def join_response(self, member: Member) -> JoinGroupResponse:
        """The member's answer to JoinGroup; the leader's has all members."""
        listed = self.members.values() if member.id == self.leader else ()
        return JoinGroupResponse(
            generation_id=self.generation,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol,
            leader=self.leader or "",
            member_id=member.id,
            members=[
                JoinGroupResponseMember(
                    member_id=each.id, group_instance_id=each.instance_id, metadata=each.metadata(self.protocol)
                )
                for each in listed
            ],
        )

    def subscribes(self, topic: str) -> bool:
        """Whether a member's subscription names `topic`."""
        subscriptions = (decode_subscription(member.metadata(self.protocol)) for member in self.members.values())
        return any(topic in subscription.topics for subscription in subscriptions)
