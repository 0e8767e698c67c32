"""A KIP-848 group: the coordinator assigns, each member comes to its target by heartbeats of its own.

A partition has a new owner only when its old one has said that it gave it up, or is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kcli.sandbox.cluster.topics import Topics
from kcli.sandbox.groups.consumer.member import ASSIGNORS, REVOKED_BY, SESSION_END, ConsumerMember, Place, share_out
from kcli.sandbox.groups.re2 import Invalid, pattern_of
from kcli.sandbox.groups.states import DEAD, EMPTY, STABLE

ASSIGNING, RECONCILING = "Assigning", "Reconciling"
HEARTBEAT, SESSION = 1.0, 45.0  # seconds
JOIN, LEAVE, AWAY = 0, -1, -2
"""Epochs that say what a member does; AWAY: a static member that comes back."""


class ConsumerGroup:
    """Members by id, their targets and the group's epoch. `only_classic` is called when the last member of the consumer
    protocol is gone and members of the classic protocol are left; `rebalance` says whether they have to join again."""

    kind = protocol_type = "consumer"

    def __init__(
        self, name: str, topics: Topics, only_classic: Callable[[ConsumerGroup, bool], None] | None = None
    ) -> None:
        self.name = name
        self.members: dict[str, ConsumerMember] = {}
        self.epoch = 1  # the first member that reads something makes it 2, as in Kafka
        self.assignment_epoch = 0  # of the targets: the next heartbeat brings them to the group's epoch
        self.target: dict[str, set[Place]] = {}
        self._topics = topics
        self._only_classic = only_classic
        self._closed = False
        self.settle()

    @property
    def state(self) -> str:
        if self._closed:
            return DEAD
        if not self.members:
            return EMPTY
        if self.assignment_epoch < self.epoch:
            return ASSIGNING
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
            self._leave(self.known(request.member_id, request.instance_id), request.member_epoch)
            return None
        if request.subscribed_topic_regex:
            check_pattern(request.subscribed_topic_regex, self._topics.by_name)  # before anything is changed
        member = self._joining(request, client_id, host) if not request.member_epoch else self._staying(request)
        member.classic = None
        self._take_terms(member, request)
        owned = None
        if request.topic_partitions is not None:
            owned = {(each.topic_id, number) for each in request.topic_partitions for number in each.partitions}
        self.reconcile(member, owned)
        self.beat(member)
        return member

    def _joining(self, request: ConsumerGroupHeartbeatRequest, client_id: str, host: str) -> ConsumerMember:
        member = self.members.get(request.member_id) or ConsumerMember(request.member_id, client_id, host)
        old = self.static(request.instance_id or None)
        if old is not None and old is not member:
            if old.epoch != AWAY and old.classic is None:
                raise BrokerError(codes.UNRELEASED_INSTANCE_ID)
            self.replace(old, member)
        member.instance_id, member.sent_assignment = request.instance_id or member.instance_id, None
        self.add(member)
        return member

    def _staying(self, request: ConsumerGroupHeartbeatRequest) -> ConsumerMember:
        member = self.known(request.member_id, request.instance_id)
        behind = request.member_epoch == member.previous and request.topic_partitions is not None
        if request.member_epoch != member.epoch and not (behind and request.member_epoch < member.epoch):
            raise BrokerError(codes.FENCED_MEMBER_EPOCH)
        if request.topic_partitions is not None and request.subscribed_topic_names is not None:
            member.sent_assignment = None  # a full report gets a full answer
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

    # -- members ----------------------------------------------------------------------------------------------------

    def static(self, instance_id: str | None) -> ConsumerMember | None:
        """The static member with this instance id, None without one."""
        if instance_id is None:
            return None
        return next((each for each in self.members.values() if each.instance_id == instance_id), None)

    def known(self, member_id: str, instance_id: str | None) -> ConsumerMember:
        """Find a member by its instance id, else by its member id: without one it is unchanged, as in Kafka. Raises
        BrokerError UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        member = self.members.get(member_id)
        if instance_id is not None:
            owner = self.static(instance_id)
            if owner is None:
                raise BrokerError(codes.UNKNOWN_MEMBER_ID, message=f"Instance id {instance_id} is unknown.")
            if owner is not member:
                raise BrokerError(codes.FENCED_INSTANCE_ID)
        if member is None:
            raise BrokerError(codes.UNKNOWN_MEMBER_ID)
        return member

    def add(self, member: ConsumerMember) -> None:
        """Take in a member that may be there already."""
        self.members[member.id] = member
        self.target.setdefault(member.id, set())

    def replace(self, old: ConsumerMember, new: ConsumerMember) -> None:
        """A static member has come back under a new id: it takes over what the old one may own and reads."""
        del self.members[old.id]
        old.stop_timers()
        new.assigned, new.revoking, self.target[new.id] = old.assigned, old.revoking, self.target.pop(old.id)
        new.topics, new.regex, new.assignor = old.topics, old.regex, old.assignor

    # -- assignments ------------------------------------------------------------------------------------------------

    def reconcile(self, member: ConsumerMember, owned: set[Place] | None) -> None:
        """Bring a member that says what it owns (None: as before) closer to its target."""
        self._retarget()
        if owned is not None:
            member.owned = owned
            member.revoking &= owned
        self._advance(member)

    def settle(self) -> None:
        """Take the members, and what they read, as the state that the epoch is about."""
        self._source = self._read()[0]

    def _retarget(self) -> None:
        """Another epoch and other targets when the members, or what they read, have changed. A static member that comes
        back under a new id is no change."""
        source, wanted, read = self._read()
        if source != self._source:
            self._source = source
            self.epoch += 1
        if self.assignment_epoch < self.epoch:
            self.assignment_epoch = self.epoch
            self.target = share_out(self.assignor, wanted, read, self.target)

    def _read(self) -> tuple[object, dict[str, frozenset[bytes]], dict[bytes, int]]:
        """What the targets are made of, to be compared; the topics of each member; the partitions of each topic."""
        there = self._topics.by_name
        wanted = {
            each.id: frozenset(there[name].id for name in _read_by(each, there)) for each in self.members.values()
        }
        counts = {topic.id: len(topic.partitions) for topic in there.values()}
        read = {each: counts[each] for topics in wanted.values() for each in topics}
        readers = [each for each in self.members.values() if each.topics or wanted[each.id]]
        by_instance = {each.instance_id or each.id: wanted[each.id] for each in readers}
        return (by_instance, read, self.assignor), wanted, read

    def _advance(self, member: ConsumerMember) -> None:
        """Give up first; then take what is free. The epoch follows when nothing is left to give up."""
        target = self.target[member.id]
        member.revoking |= (member.assigned - target) & (member.owned | (member.sent_assignment or set()))
        member.assigned &= target
        if member.revoking:
            if not member.waits_for(REVOKED_BY):
                member.start_timer(REVOKED_BY, member.rebalance_timeout, self.remove)
            return
        member.stop_timer(REVOKED_BY)
        member.assigned |= target - self._held_by_others(member)
        if member.epoch != self.epoch:
            member.previous, member.epoch = member.epoch, self.epoch

    def _held_by_others(self, member: ConsumerMember) -> set[Place]:
        others = (each for each in self.members.values() if each is not member)
        return set().union(*(each.assigned | each.revoking for each in others))

    def must_rejoin(self, member: ConsumerMember) -> bool:
        """Whether a member of the classic protocol has to join again: to follow the group, to say what it gave up, or
        to get what has become free."""
        missing = self.target[member.id] - member.assigned
        free = bool(missing) and not missing & self._held_by_others(member)
        return member.epoch < self.epoch or bool(member.revoking) or free

    # -- staying and leaving ----------------------------------------------------------------------------------------

    def member_of(self, member_id: str, instance_id: str | None, epoch: int, *, epochs: bool = True) -> ConsumerMember:
        """The member that commits or reads offsets; `epochs`: the version of the request knows member epochs. Raises
        BrokerError UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH, UNSUPPORTED_VERSION, and for a member of the classic
        protocol ILLEGAL_GENERATION."""
        member = self.members.get(member_id)
        if member is None:
            raise BrokerError(codes.UNKNOWN_MEMBER_ID)
        if not epochs and member.classic is None:
            raise BrokerError(codes.UNSUPPORTED_VERSION)
        if epoch != member.epoch:
            raise BrokerError(codes.STALE_MEMBER_EPOCH if member.classic is None else codes.ILLEGAL_GENERATION)
        return member

    def beat(self, member: ConsumerMember) -> None:
        """A heartbeat of a member: its session starts again."""
        session = SESSION if member.classic is None else member.classic.session_timeout_ms / 1000
        member.start_timer(SESSION_END, session, self.remove)

    def leave(self, member_id: str, instance_id: str | None) -> None:
        """A member leaves as those of classic groups do, by its id or its instance. Raises BrokerError
        UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        owner = self.static(instance_id)
        self.remove(self.known(member_id or (owner.id if owner is not None else ""), instance_id))

    def _leave(self, member: ConsumerMember, epoch: int) -> None:
        if epoch == AWAY and member.instance_id is not None:
            member.epoch, member.revoking, member.owned = AWAY, set(), set()
        else:
            self.remove(member)

    def remove(self, member: ConsumerMember) -> None:
        """Its partitions are free. The group may become a classic one."""
        if self.members.get(member.id) is not member:
            return
        del self.members[member.id]
        self.target.pop(member.id, None)
        member.stop_timers()
        if member.classic is None:
            self.retarget_classic(rebalance=True)
        if not self._closed:
            self.epoch += 1
            self.settle()

    def retarget_classic(self, *, rebalance: bool) -> None:
        """Say so if a member of the consumer protocol is gone and all others use the classic one."""
        if self._only_classic is not None and self.members and all(m.classic for m in self.members.values()):
            self._only_classic(self, rebalance)

    def subscribes(self, topic: str) -> bool:
        return any(topic in each.topics for each in self.members.values())

    def prepare(self) -> None:
        """A fault: every member's epoch is stale."""
        self.epoch += 1

    def close(self) -> None:
        self._closed = True
        for member in self.members.values():
            member.stop_timers()


def _read_by(member: ConsumerMember, topics: Iterable[str]) -> set[str]:
    """The topics that a member reads, by name and by pattern."""
    fitting = pattern_of(member.regex).fitting(topics) if member.regex else set()
    return fitting | set(topics).intersection(member.topics)


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
