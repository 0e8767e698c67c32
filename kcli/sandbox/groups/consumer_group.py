"""A KIP-848 group: the coordinator assigns, each member comes to its target by heartbeats of its own.

A partition has a new owner only when its old one has said that it gave it up, or is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kcli.sandbox.cluster.topics import Topics
from kcli.sandbox.groups.consumer_assignors import Place, share_out
from kcli.sandbox.groups.re2 import Invalid, pattern_of
from kcli.sandbox.groups.states import DEAD, EMPTY, STABLE

RECONCILING = "Reconciling"
ASSIGNORS = ("uniform", "range")
HEARTBEAT, SESSION = 1.0, 45.0  # seconds
JOIN, LEAVE, AWAY = 0, -1, -2


class ConsumerMember:
    """`assigned` is what it may own, `revoking` what it has yet to give up, `owned` what it last said it owns."""

    def __init__(self, member_id: str, client_id: str, host: str) -> None:
        self.id, self.client_id, self.host = member_id, client_id, host
        self.instance_id: str | None = None
        self.rack: str | None = None
        self.assignor: str | None = None
        self.topics: list[str] = []
        self.regex = ""
        self.epoch = self.previous = 0
        self.rebalance_timeout = 60.0
        self.assigned: set[Place] = set()
        self.revoking: set[Place] = set()
        self.owned: set[Place] = set()
        self.sent_assignment: set[Place] | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.patience: asyncio.TimerHandle | None = None  # until when it has to have given up

    def stop_timers(self) -> None:
        for timer in (self.timer, self.patience):
            if timer is not None:
                timer.cancel()
        self.timer = self.patience = None


class ConsumerGroup:
    """Members by id, their targets and the group's epoch."""

    kind = protocol_type = "consumer"

    def __init__(self, name: str, topics: Topics) -> None:
        self.name = name
        self.members: dict[str, ConsumerMember] = {}
        self.epoch = 0
        self.target: dict[str, set[Place]] = {}
        self._topics = topics
        self._source: object = None
        self._closed = False

    @property
    def state(self) -> str:
        if self._closed:
            return DEAD
        if not self.members:
            return EMPTY
        done = all(m.epoch in (self.epoch, AWAY) and m.assigned == self.target[m.id] for m in self.members.values())
        return STABLE if done else RECONCILING

    @property
    def assignor(self) -> str:
        """The one most members ask for."""
        votes = [each.assignor for each in self.members.values() if each.assignor]
        return max(ASSIGNORS, key=votes.count) if votes else ASSIGNORS[0]

    # -- heartbeats -------------------------------------------------------------------------------------------------

    def heartbeat(self, request: ConsumerGroupHeartbeatRequest, client_id: str, host: str) -> ConsumerMember | None:
        """The member as it is now, None when it left, of a request that `check` let pass. Raises BrokerError."""
        if request.member_epoch < 0:
            self._leave(self._known(request.member_id, request.instance_id), request.member_epoch)
            return None
        if request.subscribed_topic_regex:
            check_pattern(request.subscribed_topic_regex, self._topics.by_name)  # before anything is changed
        member = self._joining(request, client_id, host) if not request.member_epoch else self._staying(request)
        self._take_terms(member, request)
        self._look()
        if request.topic_partitions is not None:
            member.owned = {(each.topic_id, number) for each in request.topic_partitions for number in each.partitions}
            member.revoking &= member.owned
        self._advance(member)
        self.beat(member)
        return member

    def _joining(self, request: ConsumerGroupHeartbeatRequest, client_id: str, host: str) -> ConsumerMember:
        member = self.members.get(request.member_id) or ConsumerMember(request.member_id, client_id, host)
        old = next(
            (m for m in self.members.values() if request.instance_id and m.instance_id == request.instance_id), None
        )
        if old is not None and old.id != member.id:
            if old.epoch != AWAY:
                raise BrokerError(codes.UNRELEASED_INSTANCE_ID)
            self.members.pop(old.id)
            old.stop_timers()
            member.assigned, self.target[member.id] = old.assigned, self.target.pop(old.id)
            member.topics, member.regex, member.assignor = old.topics, old.regex, old.assignor
        member.instance_id, member.sent_assignment = request.instance_id or member.instance_id, None
        self.members[member.id] = member
        self.target.setdefault(member.id, set())
        return member

    def _staying(self, request: ConsumerGroupHeartbeatRequest) -> ConsumerMember:
        member = self._known(request.member_id, request.instance_id)
        behind = request.member_epoch == member.previous and request.topic_partitions is not None
        if request.member_epoch != member.epoch and not (behind and request.member_epoch < member.epoch):
            raise BrokerError(codes.FENCED_MEMBER_EPOCH)
        if request.topic_partitions is not None and request.subscribed_topic_names is not None:
            member.sent_assignment = None  # a full report gets a full answer
        return member

    def _known(self, member_id: str, instance_id: str | None) -> ConsumerMember:
        """Find a member by its instance id, else by its member id: without one it is unchanged, as in Kafka."""
        member = self.members.get(member_id)
        if instance_id is not None:
            owner = next((m for m in self.members.values() if m.instance_id == instance_id), None)
            if owner is None:
                raise BrokerError(codes.UNKNOWN_MEMBER_ID, message=f"Instance id {instance_id} is unknown.")
            if owner is not member:
                raise BrokerError(codes.FENCED_INSTANCE_ID)
        if member is None:
            raise BrokerError(codes.UNKNOWN_MEMBER_ID)
        return member

    @staticmethod
    def _take_terms(member: ConsumerMember, request: ConsumerGroupHeartbeatRequest) -> None:
        if request.subscribed_topic_names is not None:
            member.topics = request.subscribed_topic_names
        if request.subscribed_topic_regex is not None:
            member.regex = request.subscribed_topic_regex
        if request.rebalance_timeout_ms > 0:
            member.rebalance_timeout = request.rebalance_timeout_ms / 1000
        member.assignor = request.server_assignor or member.assignor
        member.rack = request.rack_id or member.rack

    def _look(self) -> None:
        """Another epoch and other targets when the members, or what they read, have changed."""
        there = {each.name: each for each in self._topics.by_name.values() if not each.internal}
        wanted = {
            each.id: frozenset(there[name].id for name in _read_by(each, there)) for each in self.members.values()
        }
        counts = {topic.id: len(topic.partitions) for topic in there.values()}
        read = {each: counts[each] for topics in wanted.values() for each in topics}
        source = (wanted, read, self.assignor)
        if source != self._source:
            self._source = source
            self.epoch += 1
            self.target = share_out(self.assignor, wanted, read, self.target)

    def _advance(self, member: ConsumerMember) -> None:
        """Give up first; then take what is free. The epoch follows when nothing is left to give up."""
        target = self.target[member.id]
        member.revoking |= (member.assigned - target) & (member.owned | (member.sent_assignment or set()))
        member.assigned &= target
        if member.revoking:
            if member.patience is None:
                loop = asyncio.get_running_loop()
                member.patience = loop.call_later(member.rebalance_timeout, self.remove, member)
            return
        if member.patience is not None:
            member.patience.cancel()
            member.patience = None
        others = [each for each in self.members.values() if each is not member]
        member.assigned |= target.difference(*(each.assigned | each.revoking for each in others))
        if member.epoch != self.epoch:
            member.previous, member.epoch = member.epoch, self.epoch

    def leave(self, member_id: str, instance_id: str | None) -> None:
        """A member leaves as those of classic groups do, by its id or its instance. Raises BrokerError
        UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        if instance_id is None:
            self.remove(self._known(member_id, None))
            return
        owner = next((each for each in self.members.values() if each.instance_id == instance_id), None)
        self.remove(self._known(member_id or (owner.id if owner is not None else ""), instance_id))

    def _leave(self, member: ConsumerMember, epoch: int) -> None:
        if epoch == AWAY and member.instance_id is not None:
            member.epoch, member.revoking, member.owned = AWAY, set(), set()
        else:
            self.remove(member)

    # -- staying ----------------------------------------------------------------------------------------------------

    def member_of(self, member_id: str, instance_id: str | None, epoch: int) -> ConsumerMember:
        """The member that commits or reads offsets. Raises BrokerError UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH."""
        member = self.members.get(member_id)
        if member is None:
            raise BrokerError(codes.UNKNOWN_MEMBER_ID)
        if epoch != member.epoch:
            raise BrokerError(codes.STALE_MEMBER_EPOCH)
        return member

    def beat(self, member: ConsumerMember) -> None:
        """A heartbeat of a member: its session starts again."""
        if member.timer is not None:
            member.timer.cancel()
        member.timer = asyncio.get_running_loop().call_later(SESSION, self.remove, member)

    def remove(self, member: ConsumerMember) -> None:
        """Its partitions are free."""
        if self.members.get(member.id) is member:
            del self.members[member.id]
            self.target.pop(member.id, None)
            member.stop_timers()
            self._look()

    def subscribes(self, topic: str) -> bool:
        return any(topic in each.topics for each in self.members.values())

    def prepare(self) -> None:
        """A fault: every member's epoch is stale."""
        self.epoch += 1

    def close(self) -> None:
        self._closed = True
        for member in self.members.values():
            member.stop_timers()


def check(request: ConsumerGroupHeartbeatRequest) -> None:
    """Raises BrokerError UNSUPPORTED_ASSIGNOR, INVALID_REQUEST, INVALID_REGULAR_EXPRESSION."""
    wrong = _impossible(request)
    if wrong is not None:
        raise BrokerError(codes.INVALID_REQUEST, message=wrong)
    if request.server_assignor is not None and request.server_assignor not in ASSIGNORS:
        text = (
            f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {', '.join(ASSIGNORS)}."
        )
        raise BrokerError(codes.UNSUPPORTED_ASSIGNOR, message=text)
    if request.subscribed_topic_regex:
        check_pattern(request.subscribed_topic_regex, ())


def check_pattern(text: str, topics: Iterable[str]) -> None:
    """Raise BrokerError INVALID_REGULAR_EXPRESSION for a pattern that is none, or takes too long for a topic."""
    try:
        pattern = pattern_of(text)
        for topic in topics:
            pattern.fits(topic)
    except Invalid as broken:
        raise BrokerError(codes.INVALID_REGULAR_EXPRESSION, message=f"SubscribedTopicRegex {broken}") from broken


def _read_by(member: ConsumerMember, topics: Iterable[str]) -> set[str]:
    """The topics that a member reads, by name and by pattern."""
    fitting = pattern_of(member.regex).fitting(topics) if member.regex else set()
    return fitting | set(topics).intersection(member.topics)


def _impossible(request: ConsumerGroupHeartbeatRequest) -> str | None:
    """What makes no sense in a heartbeat, in Kafka's words."""
    fields = {"GroupId": request.group_id, "InstanceId": request.instance_id, "RackId": request.rack_id}
    for name, value in (fields | {"MemberId": request.member_id}).items():
        if value == "":
            return f"{name} can't be empty."
    if request.member_epoch < AWAY:
        return "MemberEpoch is invalid."
    if request.member_epoch == AWAY and request.instance_id is None:
        return "InstanceId can't be null."
    if request.member_epoch == JOIN:
        if request.rebalance_timeout_ms == -1:
            return "RebalanceTimeoutMs must be provided in first request."
        if request.topic_partitions is None or request.topic_partitions:
            return "TopicPartitions must be empty when (re-)joining."
        if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
            return "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
    return None
