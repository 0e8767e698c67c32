"""A group moves between the classic protocol and KIP-848 while it has members (group.consumer.migration.policy).

The first ConsumerGroupHeartbeat that joins a classic group makes it a KIP-848 group: its members stay, with the
assignment they have. When the last member of the consumer protocol leaves, the group is a classic one again."""

from __future__ import annotations

from collections.abc import Callable

from kcli import codes
from kcli.errors import BrokerError, DecodeError
from kcli.proto.consumer_protocol import (
    PROTOCOL_TYPE,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    has_user_data,
    version_of,
)
from kcli.sandbox.cluster.topics import Topics
from kcli.sandbox.groups.classic.group import ClassicGroup
from kcli.sandbox.groups.classic.member import Member
from kcli.sandbox.groups.consumer.group import ConsumerGroup
from kcli.sandbox.groups.consumer.member import ConsumerMember
from kcli.sandbox.groups.consumer.topic_ids import named, places
from kcli.sandbox.groups.states import STABLE

BIDIRECTIONAL, UPGRADE, DOWNGRADE = "bidirectional", "upgrade", "downgrade"


def upgraded(
    group: ClassicGroup, topics: Topics, policy: str, only_classic: Callable[[ConsumerGroup, bool], None]
) -> ConsumerGroup:
    """The KIP-848 group of the same members, each in the group's generation; the classic one ends, and asks those that
    wait to join again. Raises BrokerError GROUP_ID_NOT_FOUND when that cannot be; then nothing is changed."""
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
    """What keeps the group a classic one, in Kafka's words."""
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
    """What the member said to the assignor of the group; before there is one, to its first."""
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
