"""Who is in a classic group: its members, by id and by group.instance.id (KIP-345), and what each of them is told."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.join_group import JoinGroupResponse, JoinGroupResponseMember

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import TimerHandle

    from kcli.codes import ErrorCode
    from kcli.sandbox.groups.member import Member

EMPTY, PREPARING, COMPLETING, STABLE, DEAD = (
    "Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead",
)  # fmt: skip


class Roster:
    """The members, their leader and generation, and the protocol they agreed on."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.state = EMPTY
        self.generation = 0
        self.protocol_type = ""
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members: dict[str, Member] = {}
        self._static: dict[str, str] = {}  # instance id → member id
        self._pending: dict[str, TimerHandle] = {}  # ids given out with MEMBER_ID_REQUIRED

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

    def subscribes(self, topic: str) -> bool:
        """Whether a member's subscription names `topic` (ConsumerProtocolSubscription: version, topics, …)."""
        return any(topic in _topics_of(one.metadata(self.protocol)) for one in self.members.values())

    @staticmethod
    def _refuse(member: Member, code: ErrorCode) -> None:
        if member.joining is not None and not member.joining.done():
            member.joining.set_result(refusal(code, member.id))
        if member.syncing is not None and not member.syncing.done():
            member.syncing.set_result((code, b""))
        member.joining = member.syncing = None


def refusal(code: ErrorCode, member_id: str) -> JoinGroupResponse:
    """A JoinGroup answer that is an error."""
    return JoinGroupResponse(error_code=code.number, protocol_name="", member_id=member_id)


def _topics_of(subscription: bytes) -> list[str]:
    topics: list[str] = []
    count, at = int.from_bytes(subscription[2:6], "big"), 6
    while len(topics) < count and at + 2 <= len(subscription):
        size = int.from_bytes(subscription[at : at + 2], "big")
        topics.append(subscription[at + 2 : at + 2 + size].decode("utf-8", "replace"))
        at += 2 + size
    return topics
