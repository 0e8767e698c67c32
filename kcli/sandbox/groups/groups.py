"""The groups of the sandbox and their committed offsets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcli import codes
from kcli.errors import BrokerError, DecodeError
from kcli.model import OffsetAndMetadata
from kcli.proto.consumer_protocol import (
    PROTOCOL_TYPE,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    has_user_data,
    version_of,
)
from kcli.sandbox.cluster.topics import Topics
from kcli.sandbox.configs.named_configs import GroupConfigs
from kcli.sandbox.groups.classic import ClassicGroup, Member
from kcli.sandbox.groups.consumer.group import ConsumerGroup
from kcli.sandbox.groups.consumer.member import ConsumerMember, named, places
from kcli.sandbox.groups.offsets import Offsets, PendingOffsets
from kcli.sandbox.groups.share import ShareGroup
from kcli.sandbox.groups.states import COMPLETING, DEAD, EMPTY, STABLE
from kcli.sandbox.log.recovery import State

Note = Callable[[str, dict[str, Any]], None]
AnyGroup = ClassicGroup | ConsumerGroup | ShareGroup

LONGEST_SESSION_MS = 1_800_000
BIDIRECTIONAL, UPGRADE, DOWNGRADE = "bidirectional", "upgrade", "downgrade"


# A group moves between the classic protocol and KIP-848 while it has members (group.consumer.migration.policy).
#
# The first ConsumerGroupHeartbeat that joins a classic group makes it a KIP-848 group: its members stay, with the
# assignment they have. When the last member of the consumer protocol leaves, the group is a classic one again.
def upgraded(
    group: ClassicGroup, topics: Topics, policy: str, only_classic: Callable[[ConsumerGroup, bool], None]
) -> ConsumerGroup:
    """Return the KIP-848 group of the same members, each in the group's generation; the classic one ends, and asks
    waiting members to join again. Raises BrokerError GROUP_ID_NOT_FOUND if that is impossible; then nothing is changed.
    """
    refused = _why_not(group, policy)
    if refused is not None:
        text = f"Cannot upgrade classic group {group.name} to consumer group because {refused}."
        raise BrokerError(codes.GROUP_ID_NOT_FOUND, message=text)
    created = ConsumerGroup(group.name, topics, only_classic)
    created.epoch = created.assignment_epoch = group.roster.generation
    for member in group.members.values():
        created.add(_modern(member, group, topics))
        created.target[member.id] = set(created.members[member.id].assigned)
        member.refuse(codes.REBALANCE_IN_PROGRESS)
    group.close()
    created.settle()
    for each in created.members.values():
        created.beat(each)
    return created


def _why_not(group: ClassicGroup, policy: str) -> str | None:
    """Return why the group must remain a classic one, in Kafka's words."""
    if policy not in (BIDIRECTIONAL, UPGRADE):
        return "online upgrade is disabled"
    if group.protocol_type != PROTOCOL_TYPE:
        return "the group does not use the consumer embedded protocol"
    if any(has_user_data(member.assignment) for member in group.members.values()):
        return "an unsupported custom assignor is in use"
    if not all(_readable(member, group) for member in group.members.values()):
        return "the embedded consumer protocol is malformed"
    return None


def _readable(member: Member, group: ClassicGroup) -> bool:
    try:
        decode_assignment(member.assignment)
    except DecodeError:
        return False
    return version_of(_subscription(member, group)) is not None


def _subscription(member: Member, group: ClassicGroup) -> bytes:
    """Return the member's subscription for the group's assignor; before there is one, for its first."""
    return member.metadata(group.roster.protocol) or member.protocols[0][1]


def _modern(member: Member, group: ClassicGroup, topics: Topics) -> ConsumerMember:
    subscription = decode_subscription(_subscription(member, group))
    made = ConsumerMember(member.id, member.client_id, member.host)
    made.classic, made.instance_id, made.rack = member.terms, member.instance_id, subscription.rack
    made.topics, made.rebalance_timeout = subscription.topics, member.rebalance_timeout
    made.epoch = made.previous = group.roster.generation
    made.assigned = places(topics, decode_assignment(member.assignment))
    made.owned = set(made.assigned)
    return made


def may_downgrade(policy: str) -> bool:
    return policy in (BIDIRECTIONAL, DOWNGRADE)


def downgraded(group: ConsumerGroup, topics: Topics, delay: float) -> ClassicGroup:
    """The classic group of the members, all of which use the classic protocol, with their targets as assignments. It is
    stable, and the KIP-848 group ends. `delay` is group.initial.rebalance.delay, in seconds."""
    created = ClassicGroup(group.name, delay)
    group.close()
    for each in group.members.values():
        assert each.classic is not None
        created.roster.add(Member(each.id, each.client_id, each.host, each.classic))
    created.roster.generation = group.epoch
    created.roster.protocol = created.roster.vote()
    created.rebalance.state = STABLE
    for member in created.members.values():
        version = version_of(member.metadata(created.roster.protocol)) or 0
        member.assignment = encode_assignment(named(topics, group.target[member.id]), version=version)
        created.beat(member)
    return created


class Groups:
    """Groups by name. A group exists from its first member or commit until it is deleted. `note` records a change in
    the journal; `rebalance_delay` is in seconds, `migration` is group.consumer.migration.policy."""

    def __init__(self, note: Note, topics: Topics, rebalance_delay: float, migration: str = BIDIRECTIONAL) -> None:
        self._note = note
        self._topics = topics
        self._rebalance_delay = rebalance_delay
        self._migration = migration
        self._by_name: dict[str, AnyGroup] = {}
        self.configs = GroupConfigs()
        self.offsets = Offsets(note, topics)
        self.pending = PendingOffsets(note, self.offsets)
        topics.deleted.append(self._topic_deleted)

    def restore(self, state: State) -> None:
        self.configs.by_group = {name: dict(kept) for name, kept in state.group_configs.items()}
        for name, kind in state.groups.items():
            if kind == "share":
                self.sharing(name)
            else:
                self.get_or_create(name).roster.protocol_type = kind
        for facts in state.shares.values():
            self.sharing(facts["group"]).restore(facts)
        for (group, topic, partition), facts in state.offsets.items():
            self.get_or_create(group)
            kept = OffsetAndMetadata(facts["offset"], facts["epoch"], facts["metadata"])
            self.offsets.of(group)[(topic, partition)] = kept
        self.pending.restore(state)

    def all(self) -> list[AnyGroup]:
        return list(self._by_name.values())

    def find(self, name: str) -> ClassicGroup | None:
        """The classic group of that name."""
        group = self._by_name.get(name)
        return group if isinstance(group, ClassicGroup) else None

    def by_name(self, name: str) -> AnyGroup | None:
        """The group of any kind, None without one."""
        return self._by_name.get(name)

    def any(self, name: str) -> AnyGroup:
        """The group of any kind. Raises BrokerError GROUP_ID_NOT_FOUND."""
        if name not in self._by_name:
            raise BrokerError(codes.GROUP_ID_NOT_FOUND)
        return self._by_name[name]

    def modern(self, name: str, *, make: bool, otherwise: codes.ErrorCode = codes.UNKNOWN_MEMBER_ID) -> ConsumerGroup:
        """The KIP-848 group, created on demand; it replaces an empty classic one, and one with members if the migration
        policy allows it. Raises BrokerError `otherwise`, GROUP_ID_NOT_FOUND."""
        group = self._by_name.get(name)
        if isinstance(group, ConsumerGroup):
            return group
        if not make or (group is not None and group.kind == "share"):
            text = f"Group {name} is not a consumer group."
            raise BrokerError(codes.GROUP_ID_NOT_FOUND if make else otherwise, message=text)
        if isinstance(group, ClassicGroup) and group.members:
            created = upgraded(group, self._topics, self._migration, self._downgrade)
        else:
            if group is not None:
                group.close()
            created = ConsumerGroup(name, self._topics, self._downgrade)
        self._by_name[name] = created
        self.remember(created)
        return created

    def _downgrade(self, group: ConsumerGroup, rebalance: bool) -> None:
        """Make the group a classic one again after the last member of the consumer protocol left, if the migration
        policy allows it."""
        if not may_downgrade(self._migration):
            return
        created = self._by_name[group.name] = downgraded(group, self._topics, self._rebalance_delay)
        self.remember(created)
        if rebalance:
            created.prepare()

    def shared(self, name: str) -> ShareGroup | None:
        """The share group of that name."""
        group = self._by_name.get(name)
        return group if group is not None and group.kind == "share" else None  # type: ignore[return-value] # by its kind

    def sharing(self, name: str) -> ShareGroup:
        """The share group, created on first use. Raises BrokerError GROUP_ID_NOT_FOUND for a group of another
        kind."""
        group = self.shared(name)
        if group is None:
            if name in self._by_name:
                raise BrokerError(codes.GROUP_ID_NOT_FOUND, message=f"Group {name} is not a share group.")
            from kcli.sandbox.groups.share import ShareGroup

            group = self._by_name[name] = ShareGroup(name, self._topics, self.configs, self._note)
            self.remember(group)
        return group

    def configure(self, name: str, configs: dict[str, str]) -> None:
        """Raises BrokerError KAFKA_STORAGE_ERROR."""
        self._note("group configs", {"group": name, "configs": configs})
        self.configs.by_group[name] = configs

    def existing(self, name: str, otherwise: codes.ErrorCode = codes.UNKNOWN_MEMBER_ID) -> ClassicGroup:
        """Return the classic group. Raises BrokerError `otherwise` for a group that does not exist."""
        group = self.find(name)
        if group is None:
            raise BrokerError(otherwise)
        return group

    def get_or_create(self, name: str) -> ClassicGroup:
        """The classic group, created if it does not exist. Raises BrokerError INCONSISTENT_GROUP_PROTOCOL while a
        KIP-848 group of that name has members."""
        group = self._by_name.get(name)
        if group is not None and not isinstance(group, ClassicGroup):
            if group.members or group.kind == "share":
                raise BrokerError(codes.INCONSISTENT_GROUP_PROTOCOL)
            group.close()
            group = None
        if group is None:
            group = self._by_name[name] = ClassicGroup(name, self._rebalance_delay)
        return group

    def remember(self, group: AnyGroup) -> None:
        """Record in the journal that the group exists."""
        self._note("group", {"group": group.name, "type": group.protocol_type})

    def delete(self, name: str) -> None:
        """Raises BrokerError GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP."""
        group = self.any(name)
        if group.state not in (EMPTY, DEAD):
            raise BrokerError(codes.NON_EMPTY_GROUP)
        self._note("group deleted", {"group": name})
        group.close()
        del self._by_name[name]
        self.offsets.group_deleted(name)
        self.pending.group_deleted(name)

    # -- offsets ----------------------------------------------------------------------------------------------------

    def may_commit(
        self, name: str, member_id: str, instance_id: str | None, generation: int, *, epochs: bool = True
    ) -> None:
        """Check that this member, or a non-member (generation -1, an empty group), may commit. `epochs`: the version of
        the request knows member epochs. Raises BrokerError GROUP_ID_NOT_FOUND, ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID,
        FENCED_INSTANCE_ID, REBALANCE_IN_PROGRESS, UNSUPPORTED_VERSION."""
        group = self._by_name.get(name)
        if group is None:
            if generation >= 0:
                raise BrokerError(codes.GROUP_ID_NOT_FOUND if epochs else codes.ILLEGAL_GENERATION)
            return
        if group.kind == "share":
            raise BrokerError(codes.GROUP_ID_NOT_FOUND, message=f"Group {name} is a share group.")
        if generation < 0 and group.state == EMPTY:
            return
        if isinstance(group, ConsumerGroup):
            group.member_of(member_id, instance_id, generation, epochs=epochs)  # heartbeats alone keep members alive
            return
        assert isinstance(group, ClassicGroup)
        group_member = group.member_of(member_id, instance_id, generation)
        if group.state == COMPLETING:
            raise BrokerError(codes.REBALANCE_IN_PROGRESS)
        group.beat(group_member)

    def may_read(self, name: str, member_id: str | None, epoch: int) -> None:
        """Check the identity of a member of a KIP-848 group. Raises BrokerError UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH,
        and as Kafka does UNKNOWN_SERVER_ERROR for an epoch of no member."""
        group = self._by_name.get(name)
        if not isinstance(group, ConsumerGroup) or (member_id is None and epoch < 0):
            return
        if member_id is None:
            raise BrokerError(codes.UNKNOWN_SERVER_ERROR, message="the epoch of no member")
        group.member_of(member_id, None, epoch)

    def may_commit_in_transaction(self, name: str, member_id: str, instance_id: str | None, generation: int) -> None:
        """The same for a transaction, which may say nothing of a member (below TxnOffsetCommit 3), and may commit while
        the leader assigns (KIP-447). Raises BrokerError ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        group = self._by_name.get(name)
        if group is None:
            if generation >= 0:  # offsets that a transaction has not committed yet make a group without members
                pends = self.pending.has(name)
                raise BrokerError(codes.UNKNOWN_MEMBER_ID if pends else codes.ILLEGAL_GENERATION)
        elif generation >= 0 or member_id or instance_id is not None:
            if generation < 0 and group.state == EMPTY:
                return
            group.member_of(member_id, instance_id, generation)

    def commit(self, group: str, topic: str, partition: int, committed: OffsetAndMetadata) -> None:
        """Raises BrokerError OFFSET_METADATA_TOO_LARGE, UNKNOWN_TOPIC_OR_PARTITION, KAFKA_STORAGE_ERROR."""
        self._topics.partition(topic, partition)
        self.offsets.check(topic, partition, committed)
        if group not in self._by_name:  # the first commit creates it
            self.remember(self.get_or_create(group))
        self.offsets.store(group, topic, partition, committed)
        self.pending.overtake(group, topic, partition)

    def _topic_deleted(self, topic: str) -> None:
        """Drop committed offsets of a deleted topic."""
        self.offsets.topic_deleted(topic)
        self.pending.topic_deleted(topic)
        for group in self._by_name.values():
            if group.kind == "share":
                group.topic_deleted(topic)  # type: ignore[union-attr] # by its kind

    # -- faults -----------------------------------------------------------------------------------------------------

    def disturb(self, name: str) -> None:
        group = self._by_name[name]
        if group.members:
            group.prepare()

    def expel(self, name: str, member_id: str) -> None:
        group = self._by_name[name]
        group.remove(group.members[member_id])  # type: ignore[arg-type] # a member of that very group

    def close(self) -> None:
        for group in self._by_name.values():
            group.close()
