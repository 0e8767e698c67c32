"""What a ConsumerGroupHeartbeat must say, before any group looks at it (KIP-848)."""

from __future__ import annotations

from collections.abc import Iterable

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kcli.sandbox.groups.consumer.assignors import ASSIGNORS
from kcli.sandbox.groups.re2 import Invalid, pattern_of

JOIN, LEAVE, AWAY = 0, -1, -2
"""Epochs that say what a member does; AWAY: a static member that comes back."""


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
