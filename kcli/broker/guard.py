"""Broker connections that refuse requests forbidden by the profile, by API key, before they are sent.

read_only allows only requests that are known to change nothing; joining a group is refused, too, because it takes
partitions from other members. protected refuses deletions and alterations. Both refuse unknown APIs, and allow requests
that only validate.
"""

from __future__ import annotations

from kcli.broker.broker import ControllerBroker, NetworkBroker
from kcli.errors import UsageError
from kcli.proto.messages import REQUESTS, api_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from kcli.model import Posted
    from kcli.proto.schema import Request

    R = TypeVar("R")

READING = {
    1: "Fetch",
    2: "ListOffsets",
    3: "Metadata",
    9: "OffsetFetch",
    10: "FindCoordinator",
    15: "DescribeGroups",
    16: "ListGroups",
    17: "SaslHandshake",
    18: "ApiVersions",
    23: "OffsetForLeaderEpoch",
    29: "DescribeAcls",
    32: "DescribeConfigs",
    35: "DescribeLogDirs",
    36: "SaslAuthenticate",
    41: "DescribeDelegationToken",
    46: "ListPartitionReassignments",
    48: "DescribeClientQuotas",
    50: "DescribeUserScramCredentials",
    55: "DescribeQuorum",
    60: "DescribeCluster",
    61: "DescribeProducers",
    65: "DescribeTransactions",
    66: "ListTransactions",
    69: "ConsumerGroupDescribe",
    74: "ListConfigResources",
    75: "DescribeTopicPartitions",
    77: "ShareGroupDescribe",
    89: "StreamsGroupDescribe",
    90: "DescribeShareGroupOffsets",
}
"""APIs that change nothing."""
WORKING = {
    0: "Produce",
    8: "OffsetCommit",
    11: "JoinGroup",
    12: "Heartbeat",
    13: "LeaveGroup",
    14: "SyncGroup",
    19: "CreateTopics",
    22: "InitProducerId",
    24: "AddPartitionsToTxn",
    25: "AddOffsetsToTxn",
    26: "EndTxn",
    28: "TxnOffsetCommit",
    38: "CreateDelegationToken",
    39: "RenewDelegationToken",
    68: "ConsumerGroupHeartbeat",
    71: "GetTelemetrySubscriptions",
    72: "PushTelemetry",
    76: "ShareGroupHeartbeat",
    78: "ShareFetch",
    79: "ShareAcknowledge",
    88: "StreamsGroupHeartbeat",
}
"""APIs that a protected profile allows in addition: they only add."""
OFFSET_COMMIT = 8
METADATA = 3


def check(guard: str, profile: str, request: Request[Any]) -> None:
    """Raise UsageError for a request that the guard forbids."""
    key = request.api_key
    if getattr(request, "validate_only", False):
        return  # only validated by the broker; a version without this flag fails to encode
    name = api_name(key) if key in REQUESTS else type(request).__name__.removesuffix("Request")
    if guard == "read_only" and (key not in READING or (key == METADATA and _creates(request))):
        raise UsageError(f"refused by read-only profile {profile}: {name} would change the cluster")
    known = key in READING or key in WORKING
    if guard == "protected" and (not known or (key == OFFSET_COMMIT and _from_outside(request))):
        refused = UsageError(f"refused by protected profile {profile}: {name} deletes or alters")
        raise refused.hinted("confirm", profile=profile)


def _creates(request: Any) -> bool:
    """Whether a metadata request may create topics."""
    return bool(request.topics and request.allow_auto_topic_creation)


def _from_outside(request: Any) -> bool:
    """Whether a commit comes from outside the group, which resets offsets."""
    return bool(request.generation_id_or_member_epoch < 0)


class GuardedBroker(NetworkBroker):
    """A NetworkBroker that enforces `ClientSettings.guard`."""

    async def ask(
        self,
        request: Request[R],
        *,
        timeout: float | None = None,
        lane: str | None = None,
        max_version: int | None = None,
    ) -> R:
        check(self._settings.guard, self._settings.profile, request)
        return await super().ask(request, timeout=timeout, lane=lane, max_version=max_version)

    async def tell(self, request: Request[Any], *, max_version: int | None = None) -> None:
        check(self._settings.guard, self._settings.profile, request)
        await super().tell(request, max_version=max_version)

    def post(
        self,
        requests: Sequence[Posted],
        *,
        timeout: float,
        after: Callable[[], None] | None = None,
        enough: int = 1,
    ) -> int:
        try:
            for request, _, _ in requests:
                check(self._settings.guard, self._settings.profile, request)
        except UsageError:
            return 0  # `ask` raises the reason
        return super().post(requests, timeout=timeout, after=after, enough=enough)


class GuardedController(GuardedBroker, ControllerBroker):
    """A KRaft controller that enforces the guard."""


def guarded(kind: type[NetworkBroker]) -> type[NetworkBroker]:
    """Return the guarded version of a broker class."""
    return GuardedController if kind is ControllerBroker else GuardedBroker
