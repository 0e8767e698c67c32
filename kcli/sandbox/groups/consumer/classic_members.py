"""Members of a KIP-848 group that use the classic protocol, while a group moves from one to the other: their JoinGroup,
SyncGroup and Heartbeat do what a heartbeat of KIP-848 does. Their generation is their epoch; no member leads."""

from __future__ import annotations

import os
from base64 import urlsafe_b64encode

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.consumer_protocol import PROTOCOL_TYPE, decode_subscription, encode_assignment, version_of
from kcli.proto.messages.join_group import JoinGroupRequest, JoinGroupResponse
from kcli.proto.messages.sync_group import SyncGroupRequest
from kcli.sandbox.cluster.topics import Topics
from kcli.sandbox.groups.classic import refusal
from kcli.sandbox.groups.consumer.group import ConsumerGroup
from kcli.sandbox.groups.consumer.member import JOIN_BY, SYNC_BY, ConsumerMember, named, places


def join(
    group: ConsumerGroup, topics: Topics, request: JoinGroupRequest, client: tuple[str, str], *, id_first: bool
) -> JoinGroupResponse:
    """The answer to a JoinGroup of a `client`, its id and host. `id_first`: a new member must come back with the id it
    is given (KIP-394). Raises BrokerError INCONSISTENT_GROUP_PROTOCOL, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
    _check_protocols(group, request)
    member_id = request.member_id or _new_id()
    if not request.member_id and request.group_instance_id is None and id_first:
        return refusal(codes.MEMBER_ID_REQUIRED, member_id)
    if version_of(request.protocols[0].metadata) is None:
        raise BrokerError(codes.INCONSISTENT_GROUP_PROTOCOL)
    old = group.static(request.group_instance_id)
    member = _joining(group, old, request, ConsumerMember(member_id, *client))
    _take_terms(member, request, client)
    owned = decode_subscription(request.protocols[0].metadata).owned
    group.reconcile(member, places(topics, owned))
    member.stop_timer(JOIN_BY)
    group.beat(member)
    member.start_timer(SYNC_BY, member.rebalance_timeout, group.remove)
    if old is not None and old is not member and old.classic is None:
        group.retarget_classic(rebalance=False)
    return JoinGroupResponse(
        generation_id=member.epoch,
        protocol_type=PROTOCOL_TYPE,
        protocol_name=request.protocols[0].name,
        member_id=member.id,
    )


def _check_protocols(group: ConsumerGroup, request: JoinGroupRequest) -> None:
    """Raises BrokerError INCONSISTENT_GROUP_PROTOCOL for another type, and for protocols that not all classic members
    have."""
    names = {protocol.name for protocol in request.protocols}
    for member in group.members.values():
        if member.classic is not None and member.id != request.member_id:
            names &= {protocol.name for protocol in member.classic.protocols}
    if request.protocol_type != PROTOCOL_TYPE or not names:
        raise BrokerError(codes.INCONSISTENT_GROUP_PROTOCOL)


def _joining(
    group: ConsumerGroup, old: ConsumerMember | None, request: JoinGroupRequest, new: ConsumerMember
) -> ConsumerMember:
    """The member that joins: one that is there, or `new` in the place of the static member `old`, if it has one."""
    if request.group_instance_id is not None and request.member_id:
        return group.known(request.member_id, request.group_instance_id)
    member = group.members.get(new.id, new)
    if old is not None:
        group.replace(old, member)
    group.add(member)
    return member


def _take_terms(member: ConsumerMember, request: JoinGroupRequest, client: tuple[str, str]) -> None:
    subscription = decode_subscription(request.protocols[0].metadata)
    member.classic, member.sent_assignment = request, None
    member.client_id, member.host = client
    member.instance_id = request.group_instance_id or member.instance_id
    member.topics, member.regex = subscription.topics, ""
    member.rack = subscription.rack or member.rack
    timeout = request.rebalance_timeout_ms if request.rebalance_timeout_ms > 0 else request.session_timeout_ms
    member.rebalance_timeout = timeout / 1000


def sync(group: ConsumerGroup, topics: Topics, request: SyncGroupRequest) -> bytes:
    """The assignment that the member may own now, as ConsumerProtocol has it. Raises BrokerError UNKNOWN_MEMBER_ID,
    FENCED_INSTANCE_ID, ILLEGAL_GENERATION, INCONSISTENT_GROUP_PROTOCOL, REBALANCE_IN_PROGRESS."""
    member, joined = _current(group, request.member_id, request.group_instance_id, request.generation_id)
    first = joined.protocols[0]
    if request.protocol_type not in (None, PROTOCOL_TYPE) or request.protocol_name not in (None, first.name):
        raise BrokerError(codes.INCONSISTENT_GROUP_PROTOCOL)
    if member.epoch < group.epoch and not member.revoking:
        _wait_for_join(group, member)
        raise BrokerError(codes.REBALANCE_IN_PROGRESS)
    member.stop_timer(SYNC_BY)
    group.beat(member)
    return encode_assignment(named(topics, member.assigned), version=version_of(first.metadata) or 0)


def beat(group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int) -> None:
    """A Heartbeat. Raises BrokerError REBALANCE_IN_PROGRESS when the member has to join again, UNKNOWN_MEMBER_ID,
    FENCED_INSTANCE_ID, ILLEGAL_GENERATION."""
    member, _ = _current(group, member_id, instance_id, generation)
    group.beat(member)
    if group.must_rejoin(member):
        _wait_for_join(group, member)
        raise BrokerError(codes.REBALANCE_IN_PROGRESS)


def _current(
    group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int
) -> tuple[ConsumerMember, JoinGroupRequest]:
    """A member of the classic protocol in its generation, and its JoinGroup."""
    member = group.known(member_id, instance_id)
    if member.classic is None:
        raise BrokerError(codes.UNKNOWN_MEMBER_ID, message=f"Member {member_id} does not use the classic protocol.")
    if generation != member.epoch:
        raise BrokerError(codes.ILLEGAL_GENERATION)
    return member, member.classic


def _wait_for_join(group: ConsumerGroup, member: ConsumerMember) -> None:
    """The member has its rebalance timeout to join again."""
    if not member.waits_for(JOIN_BY):
        member.start_timer(JOIN_BY, member.rebalance_timeout, group.remove)


def _new_id() -> str:
    return urlsafe_b64encode(os.urandom(16)).decode().rstrip("=")
