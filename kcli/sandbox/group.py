"""A classic consumer group: who is in it, and the rebalance that gives everyone a part (KIP-62, 134, 345, 394, 814).

Empty → PreparingRebalance (members join) → CompletingRebalance (the leader assigns) → Stable; Dead once closed."""

from __future__ import annotations

import asyncio
import os

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from kcli.sandbox.member import Member

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.codes import ErrorCode
    from kcli.proto.messages.join_group import JoinGroupRequest

EMPTY, PREPARING, COMPLETING, STABLE, DEAD = (
    "Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead",
)  # fmt: skip


class ClassicGroup:
    """`delay` is how long, in seconds, the first rebalance of an empty group waits for more members."""

    def __init__(self, name: str, delay: float) -> None:
        self.name = name
        self.state = EMPTY
        self.generation = 0
        self.protocol_type = ""
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members: dict[str, Member] = {}
        self._static: dict[str, str] = {}  # instance id → member id
        self._pending: dict[str, asyncio.TimerHandle] = {}  # ids given out with MEMBER_ID_REQUIRED
        self._delay = delay
        self._deadline: asyncio.TimerHandle | None = None  # of the join phase, then of the sync phase
        self._first_wait = False

    # -- join -------------------------------------------------------------------------------------------------------

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
        member.is_new = False
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

    # -- the rebalance ----------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Start a rebalance: everyone must join again."""
        for member in self.members.values():
            if member.syncing is not None and not member.syncing.done():
                member.syncing.set_result((codes.REBALANCE_IN_PROGRESS, b""))
            if member.syncing is not None:
                member.syncing = None
                self.beat(member)
        self._first_wait = self.state == EMPTY
        self.state = PREPARING
        longest = max((member.rebalance_timeout for member in self.members.values()), default=0.0)
        self._set_deadline(self._delay if self._first_wait else longest, self._time_is_up)
        self._look_complete()

    def _set_deadline(self, seconds: float, then: object) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = asyncio.get_running_loop().call_later(seconds, then)  # type: ignore[arg-type]

    def _look_complete(self) -> None:
        """All known members have joined, and nobody was sent away to come back with an id."""
        if self.state != PREPARING or self._first_wait or self._pending:
            return
        if all(member.joining is not None for member in self.members.values()):
            self._complete_join()

    def _time_is_up(self) -> None:
        if self.state == PREPARING:
            self._first_wait = False
            self._complete_join()

    def _complete_join(self) -> None:
        for member in [m for m in self.members.values() if m.joining is None and m.instance_id is None]:
            self._discard(member)
        joined = [member for member in self.members.values() if member.joining is not None]
        if not joined:
            if self.members:  # static members that are away: wait on
                self._set_deadline(max(m.rebalance_timeout for m in self.members.values()), self._time_is_up)
            else:
                self._become_empty()
            return
        if self.leader not in self.members or self.members[self.leader].joining is None:
            self.leader = joined[0].id
        self.generation += 1
        self.protocol = self._vote()
        self.state = COMPLETING
        for member in joined:
            waiting, member.joining = member.joining, None
            member.is_new = False
            self.beat(member)
            if waiting is not None and not waiting.done():
                waiting.set_result(self._told(member))
        self._set_deadline(max(m.rebalance_timeout for m in self.members.values()), self._sync_time_is_up)

    def _vote(self) -> str:
        """The protocol most members prefer among those that all of them know."""
        everyone = list(self.members.values())
        common = set.intersection(*({name for name, _ in member.protocols} for member in everyone))
        votes: dict[str, int] = {}
        for member in everyone:
            choice = next(name for name, _ in member.protocols if name in common)
            votes[choice] = votes.get(choice, 0) + 1
        return max(votes, key=lambda name: votes[name])

    def _told(self, member: Member) -> JoinGroupResponse:
        leads = member.id == self.leader
        return JoinGroupResponse(
            generation_id=self.generation,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol,
            leader=self.leader or "",
            member_id=member.id,
            members=[
                JoinGroupResponseMember(
                    member_id=one.id, group_instance_id=one.instance_id, metadata=one.metadata(self.protocol)
                )
                for one in self.members.values()
            ]
            if leads
            else [],
        )

    def _sync_time_is_up(self) -> None:
        """Members that joined and never synced are gone."""
        if self.state != COMPLETING:
            return
        for member in [m for m in self.members.values() if m.syncing is None]:
            self._discard(member)
        self._after_loss()

    # -- sync -------------------------------------------------------------------------------------------------------

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

    # -- staying and leaving ----------------------------------------------------------------------------------------

    def member(self, member_id: str, instance_id: str | None) -> Member:
        """Raises BrokerError FENCED_INSTANCE_ID, UNKNOWN_MEMBER_ID."""
        if instance_id is not None:
            current = self._static.get(instance_id)
            if current is not None and current != member_id:
                raise BrokerError(codes.FENCED_INSTANCE_ID)
        found = self.members.get(member_id)
        if found is None or (instance_id is not None and found.instance_id != instance_id):
            raise BrokerError(codes.UNKNOWN_MEMBER_ID)
        return found

    def member_of(self, member_id: str, instance_id: str | None, generation: int) -> Member:
        """The same, for a request of the current generation. Raises BrokerError ILLEGAL_GENERATION too."""
        found = self.member(member_id, instance_id)
        if generation != self.generation:
            raise BrokerError(codes.ILLEGAL_GENERATION)
        return found

    def beat(self, member: Member) -> None:
        """The member lives: its session starts anew."""
        member.stop_timer()
        if not member.waits:
            loop = asyncio.get_running_loop()
            member.timer = loop.call_later(member.session_timeout, self._silent, member)

    def _silent(self, member: Member) -> None:
        if self.members.get(member.id) is member and not member.waits:
            self.remove(member)

    def leave(self, member_id: str, instance_id: str | None) -> None:
        """Raises BrokerError UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        if member_id in self._pending:
            self._pending.pop(member_id).cancel()
            self._look_complete()
            return
        if instance_id is not None and not member_id:
            member_id = self._static.get(instance_id, "")
        self.remove(self.member(member_id, instance_id))

    def remove(self, member: Member) -> None:
        self._discard(member)
        self._after_loss()

    def _discard(self, member: Member) -> None:
        self.members.pop(member.id, None)
        member.stop_timer()
        if member.instance_id is not None and self._static.get(member.instance_id) == member.id:
            del self._static[member.instance_id]
        if self.leader == member.id:
            self.leader = next(iter(self.members), None)
        self._refuse(member, codes.UNKNOWN_MEMBER_ID)

    @staticmethod
    def _refuse(member: Member, code: ErrorCode) -> None:
        if member.joining is not None and not member.joining.done():
            member.joining.set_result(refusal(code, member.id))
        if member.syncing is not None and not member.syncing.done():
            member.syncing.set_result((code, b""))
        member.joining = member.syncing = None

    def _after_loss(self) -> None:
        if self.state in (STABLE, COMPLETING):
            if self.members:
                self.prepare()
            else:
                self.generation += 1
                self._become_empty()
        elif self.state == PREPARING:
            self._look_complete()

    def _become_empty(self) -> None:
        self.state = EMPTY
        self.protocol = self.leader = None
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _forget_pending(self, member_id: str) -> None:
        self._pending.pop(member_id, None)
        self._look_complete()

    def subscribes(self, topic: str) -> bool:
        """Whether a member's subscription names `topic` (ConsumerProtocolSubscription: version, topics, …)."""
        return any(topic in _topics_of(one.metadata(self.protocol)) for one in self.members.values())

    def close(self) -> None:
        """Stop all timers and answer whoever waits."""
        self.state = DEAD
        for member in self.members.values():
            member.stop_timer()
            self._refuse(member, codes.COORDINATOR_NOT_AVAILABLE)
        for timer in self._pending.values():
            timer.cancel()
        if self._deadline is not None:
            self._deadline.cancel()


def refusal(code: ErrorCode, member_id: str) -> JoinGroupResponse:
    """A JoinGroup answer that is an error."""
    return JoinGroupResponse(error_code=code.number, protocol_name="", member_id=member_id)


def _random_id() -> str:
    text = os.urandom(16).hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _topics_of(subscription: bytes) -> list[str]:
    topics: list[str] = []
    count, at = int.from_bytes(subscription[2:6], "big"), 6
    while len(topics) < count and at + 2 <= len(subscription):
        size = int.from_bytes(subscription[at : at + 2], "big")
        topics.append(subscription[at + 2 : at + 2 + size].decode("utf-8", "replace"))
        at += 2 + size
    return topics
