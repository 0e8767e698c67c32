"""How far moves are: bytes that new replicas have, beside those of the replicas they are copied from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kcli.admin.reassign.reassignments import Ongoing
from kcli.admin.storage.log_dirs import log_dirs
from kcli.errors import KcliError
from kcli.model import Cluster, TopicPartition
from kcli.values import Value


class Share(Value):
    """Bytes to copy in all, and bytes left."""

    size: int = 0
    left: int = 0

    def rate_since(self, before: Share, seconds: float) -> float | None:
        """Bytes copied a second since an earlier share; None where no time has passed."""
        return max(before.left - self.left, 0) / seconds if seconds > 0 else None

    def eta(self, rate: float | None) -> float | None:
        """Seconds until nothing is left, at that rate."""
        return self.left / rate if rate else None


async def replica_sizes(
    cluster: Cluster, partitions: Iterable[TopicPartition] | None, *, brokers: Iterable[int] | None = None
) -> tuple[dict[TopicPartition, dict[int, int]], dict[int, KcliError]]:
    """The bytes of each replica, by partition and broker, of these partitions or of all; and the brokers that could not
    tell."""
    topics: dict[str, list[int]] | None = None
    if partitions is not None:
        topics = {}
        for at in partitions:
            topics.setdefault(at.topic, []).append(at.partition)
    places, failed = await log_dirs(cluster, topics, brokers=brokers)
    sizes: dict[TopicPartition, dict[int, int]] = {}
    for place in places:
        for replica in place.replicas:
            if not replica.future:
                sizes.setdefault(TopicPartition(replica.topic, replica.partition), {})[replica.broker] = replica.size
    return sizes, failed


async def shares(cluster: Cluster, ongoing: Mapping[TopicPartition, Ongoing]) -> dict[TopicPartition, Share]:
    """The progress of each move. A replica that no broker reports has no bytes yet."""
    if not ongoing:
        return {}
    known = {node.id for node in await cluster.nodes()}
    brokers = {node for move in ongoing.values() for node in move.replicas} & known
    sizes, _ = await replica_sizes(cluster, ongoing, brokers=brokers)
    shares = {}
    for at, move in ongoing.items():
        here = sizes.get(at, {})
        whole = max((here.get(node, 0) for node in move.sources), default=0)
        left = sum(max(whole - here.get(node, 0), 0) for node in move.adding)
        shares[at] = Share(size=whole * len(move.adding), left=left)
    return shares
