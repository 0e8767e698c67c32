"""What the APIs of share groups have in common (KIP-932)."""

from __future__ import annotations

from collections.abc import Iterable

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.share_acknowledge import AcknowledgementBatch as Alone
from kcli.proto.messages.share_acknowledge import ShareAcknowledgeRequest
from kcli.proto.messages.share_fetch import AcknowledgementBatch, ShareFetchRequest
from kcli.sandbox.answers.partitions import led_here, name_of
from kcli.sandbox.groups.share import GAP, REJECT, RENEW, Place, ShareGroup
from kcli.sandbox.wire.request_context import RequestContext

SHARE_ACKNOWLEDGE = 79
RENEWALS = 2  # the version of ShareFetch and ShareAcknowledge since which acquired records can be renewed


def switched_on(context: RequestContext) -> None:
    """Raises BrokerError UNSUPPORTED_VERSION below share.version 1, as Kafka does."""
    if context.cluster.features.level("share.version") < 1:
        raise BrokerError(codes.UNSUPPORTED_VERSION, message="share groups are not enabled")


def existing(context: RequestContext, api: int, name: str) -> ShareGroup:
    """The share group that this broker coordinates. Raises BrokerError GROUP_ID_NOT_FOUND, NOT_COORDINATOR, a
    scripted one."""
    switched_on(context)
    context.check_coordinator(api, name)
    group = context.cluster.groups.shared(name)
    if group is None:
        raise BrokerError(codes.GROUP_ID_NOT_FOUND, message=f"Group {name} not found.")
    return group


def by_topic(places: Iterable[tuple[bytes, int]]) -> dict[bytes, list[int]]:
    topics: dict[bytes, list[int]] = {}
    for topic_id, number in sorted(places):
        topics.setdefault(topic_id, []).append(number)
    return topics


def must_know(context: RequestContext, topic_ids: Iterable[bytes]) -> None:
    """Raise BrokerError UNKNOWN_SERVER_ERROR for an unknown topic id: Kafka's authorizer has no name to look up."""
    if not set(topic_ids) <= context.cluster.topics.by_id.keys():
        raise BrokerError(codes.UNKNOWN_SERVER_ERROR, message="a topic id is unknown")


def acknowledge(
    context: RequestContext, request: ShareFetchRequest | ShareAcknowledgeRequest
) -> dict[Place, BrokerError | None]:
    """Acknowledge what a request says, and return what is wrong with each partition. One without an acknowledgement is
    there, too, if another partition's was tried."""
    found: dict[Place, BrokerError | None] = {}
    idle: list[Place] = []
    newest, tried = RENEW if context.version >= RENEWALS else REJECT, False
    group = context.cluster.groups.shared(request.group_id or "")
    for topic in request.topics:
        for row in topic.partitions:
            place = (topic.topic_id, row.partition_index)
            try:
                ranges = ranges_of(row.acknowledgement_batches, newest, renews=request.is_renew_ack)
                led_here(context, SHARE_ACKNOWLEDGE, name_of(context, "", topic.topic_id), row.partition_index)
                if not ranges:
                    idle.append(place)
                    continue
                tried, found[place] = True, None
                if group is None or place not in group.partitions:  # nothing of it was ever fetched
                    raise BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION)
                group.partitions[place].led().acknowledge(request.member_id or "", ranges)
            except BrokerError as refused:
                found[place] = refused
    return found | (dict.fromkeys(idle) if tried else {})


def ranges_of(
    batches: Iterable[AcknowledgementBatch | Alone], newest: int, *, renews: bool
) -> list[tuple[int, int, int]]:
    """First offset, last offset and type of acknowledgements. `newest` is the last type that the request's version
    knows. Raises BrokerError INVALID_REQUEST."""
    ranges: list[tuple[int, int, int]] = []
    end = -1
    for batch in batches:
        kinds = batch.acknowledge_types
        if not end <= batch.first_offset <= batch.last_offset:
            raise BrokerError(codes.INVALID_REQUEST, message="acknowledgement batches must ascend")
        end = batch.last_offset
        if len(kinds) not in (1, batch.last_offset - batch.first_offset + 1):
            raise BrokerError(codes.INVALID_REQUEST, message="the types of an acknowledgement do not fit its offsets")
        if not all(GAP <= kind <= newest for kind in kinds) or (RENEW in kinds and not renews):
            raise BrokerError(codes.INVALID_REQUEST, message="the type of an acknowledgement is not valid here")
        if len(kinds) == 1:
            ranges.append((batch.first_offset, batch.last_offset, kinds[0]))
        else:
            ranges += [(batch.first_offset + n, batch.first_offset + n, kind) for n, kind in enumerate(kinds)]
    return ranges
