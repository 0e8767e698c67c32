"""What the APIs of share groups have in common (KIP-932)."""

from __future__ import annotations

from collections.abc import Iterable

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.share_acknowledge import AcknowledgementBatch as Alone
from kcli.proto.messages.share_fetch import AcknowledgementBatch
from kcli.sandbox.groups.share.group import ShareGroup
from kcli.sandbox.groups.share.partition import SharePartition
from kcli.sandbox.wire.request_context import RequestContext

RENEW = 4


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


def acknowledge(
    share: SharePartition, member: str, batches: Iterable[AcknowledgementBatch | Alone], *, renews: bool
) -> None:
    """Raises BrokerError INVALID_RECORD_STATE, INVALID_REQUEST; then nothing was done."""
    ranges: list[tuple[int, int, int]] = []
    for batch in batches:
        kinds = batch.acknowledge_types
        if len(kinds) not in (1, batch.last_offset - batch.first_offset + 1) or (RENEW in kinds and not renews):
            raise BrokerError(codes.INVALID_REQUEST, message="the types of an acknowledgement do not fit its offsets")
        if len(kinds) == 1:
            ranges.append((batch.first_offset, batch.last_offset, kinds[0]))
        else:
            ranges += [(batch.first_offset + n, batch.first_offset + n, kind) for n, kind in enumerate(kinds)]
    share.acknowledge(member, ranges)
