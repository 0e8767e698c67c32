"""A broker that refuses what its profile forbids, by API key, before anything is sent (cli.md 11).

read_only lets through only what is known to change nothing; joining a group takes partitions from its members and is
refused with the rest. protected refuses what deletes or alters.
"""

from __future__ import annotations

from kcli.broker.broker import NetworkBroker
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from kcli.proto.schema import Request

    R = TypeVar("R")

# Fetch, ListOffsets, Metadata, OffsetFetch, FindCoordinator, DescribeGroups, ListGroups, SaslHandshake, ApiVersions,
# OffsetForLeaderEpoch, DescribeAcls, DescribeConfigs, DescribeLogDirs, SaslAuthenticate, DescribeDelegationToken,
# ListPartitionReassignments, DescribeClientQuotas, DescribeUserScramCredentials, DescribeQuorum, DescribeCluster,
# DescribeProducers, DescribeTransactions, ListTransactions, ConsumerGroupDescribe, ListConfigResources,
# DescribeTopicPartitions, ShareGroupDescribe, StreamsGroupDescribe, DescribeShareGroupOffsets
READING = frozenset(
    (1, 2, 3, 9, 10, 15, 16, 17, 18, 23, 29, 32, 35, 36, 41, 46, 48, 50, 55, 60, 61, 65, 66)
) | frozenset((69, 74, 75, 77, 89, 90))
# DeleteTopics, DeleteRecords, WriteTxnMarkers, CreateAcls, DeleteAcls, AlterConfigs, AlterReplicaLogDirs,
# CreatePartitions, DeleteGroups, ElectLeaders, IncrementalAlterConfigs, AlterPartitionReassignments, OffsetDelete,
# AlterClientQuotas, AlterUserScramCredentials, UpdateFeatures, UnregisterBroker, AlterShareGroupOffsets,
# DeleteShareGroupOffsets
DESTROYING = frozenset((20, 21, 27, 30, 31, 33, 34, 37, 42, 43, 44, 45, 47, 49, 51, 57, 64, 91, 92))
OFFSET_COMMIT = 8


def check(guard: str, profile: str, request: Request[Any]) -> None:
    """Raises UsageError for a request that the guard forbids."""
    key = request.api_key
    name = type(request).__name__.removesuffix("Request")
    if guard == "read_only" and key not in READING:
        raise UsageError(f"profile {profile} is read-only: {name} would change the cluster, and nothing was sent")
    if guard == "protected" and (key in DESTROYING or (key == OFFSET_COMMIT and _from_outside(request))):
        raise UsageError(
            f"profile {profile} is protected: {name} deletes or alters; `--confirm {profile}` lets it through"
        )


def _from_outside(request: Any) -> bool:
    """A commit by nobody's member: a reset."""
    return bool(request.generation_id_or_member_epoch < 0)


class GuardedBroker(NetworkBroker):
    """A NetworkBroker behind the guard of `ClientSettings.guard`."""

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
