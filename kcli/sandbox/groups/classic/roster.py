"""The members of a classic group, by id and by group.instance.id (KIP-345), their leader and their generation."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.consumer_protocol import decode_subscription
from kcli.proto.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from kcli.sandbox.groups.classic.member import Member


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
