"""Moves of partitions to other brokers (KIP-455): list those in progress, start and cancel them at the controller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kcli import codes
from kcli.admin.storage import log_dirs
from kcli.asking.controller import ask_controller
from kcli.asking.fan_out import pieces
from kcli.errors import BrokerError, KcliError
from kcli.model import Cluster, TopicPartition
from kcli.proto.messages import alter_partition_reassignments as altering
from kcli.proto.messages import list_partition_reassignments as listing
from kcli.values import Value, field

Assignment = dict[TopicPartition, list[int]]

MOST = 1000
"""Partitions in one request: the controller writes each request's records at once."""


class Ongoing(Value):
    """A move in progress. `replicas` are all current replicas: the `adding` ones are being filled, the `removing` ones
    are dropped after that."""

    replicas: list[int] = field(factory=list)
    adding: list[int] = field(factory=list)
    removing: list[int] = field(factory=list)

    @property
    def target(self) -> list[int]:
        """The replicas after the move."""
        return [replica for replica in self.replicas if replica not in self.removing]

    @property
    def sources(self) -> list[int]:
        """The replicas before the move."""
        return [replica for replica in self.replicas if replica not in self.adding]


async def list_reassignments(
    cluster: Cluster, partitions: Iterable[TopicPartition] | None = None
) -> dict[TopicPartition, Ongoing]:
    """Return all moves in progress, or those of these partitions. Raises BrokerError."""
    topics = None
    if partitions is not None:
        by_topic: dict[str, list[int]] = {}
        for at in partitions:
            by_topic.setdefault(at.topic, []).append(at.partition)
        topics = [
            listing.ListPartitionReassignmentsTopics(name=name, partition_indexes=some)
            for name, some in by_topic.items()
        ]
        if not topics:
            return {}
    request = listing.ListPartitionReassignmentsRequest(topics=topics, timeout_ms=30_000)
    answer = await ask_controller(cluster, request, lambda answer: [answer.error_code])
    if answer.error_code:
        raise BrokerError(codes.of(answer.error_code), "reassignments", answer.error_message, api=request.api_key)
    ongoing = {
        TopicPartition(topic.name, partition.partition_index): Ongoing(
            replicas=partition.replicas, adding=partition.adding_replicas, removing=partition.removing_replicas
        )
        for topic in answer.topics
        for partition in topic.partitions
    }
    return dict(sorted(ongoing.items()))


async def alter_reassignments(
    cluster: Cluster, wanted: Mapping[TopicPartition, Sequence[int] | None]
) -> dict[TopicPartition, KcliError | None]:
    """Start to move each partition to these brokers, the preferred leader first; None cancels a move.

    The result is None if the move was started. One request per `MOST` partitions; a lost response is the error of all
    of them.
    """
    errors: dict[TopicPartition, KcliError | None] = {}
    for part in pieces(list(wanted), MOST):
        try:
            errors |= await _alter(cluster, {at: wanted[at] for at in part})
        except KcliError as error:
            errors |= dict.fromkeys(part, error)
    return errors


async def _alter(
    cluster: Cluster, wanted: Mapping[TopicPartition, Sequence[int] | None]
) -> dict[TopicPartition, KcliError | None]:
    topics: dict[str, altering.ReassignableTopic] = {}
    for at, brokers in wanted.items():
        row = altering.ReassignablePartition(
            partition_index=at.partition, replicas=None if brokers is None else list(brokers)
        )
        topics.setdefault(at.topic, altering.ReassignableTopic(name=at.topic)).partitions.append(row)
    request = altering.AlterPartitionReassignmentsRequest(topics=list(topics.values()), timeout_ms=30_000)
    answer = await ask_controller(cluster, request, lambda answer: [answer.error_code])
    if answer.error_code:
        raise BrokerError(codes.of(answer.error_code), "reassignments", answer.error_message, api=request.api_key)
    responses = {
        TopicPartition(topic.name, partition.partition_index): partition
        for topic in answer.responses
        for partition in topic.partitions
    }
    errors: dict[TopicPartition, KcliError | None] = {}
    for at in wanted:
        answered = responses.get(at)
        if answered is None:
            errors[at] = KcliError(f"{about(at)}: the broker's response does not contain this partition")
        elif answered.error_code:
            errors[at] = BrokerError(
                codes.of(answered.error_code), about(at), answered.error_message, api=request.api_key
            )
        else:
            errors[at] = None
    return errors


def about(at: TopicPartition) -> str:
    """Return the text for a partition in a sentence."""
    return f"{at.topic} [{at.partition}]"


class Share(Value):
    """Bytes to copy in total, and bytes left."""

    size: int = 0
    left: int = 0

    def rate_since(self, before: Share, seconds: float) -> float | None:
        """Return the bytes copied per second since an earlier share; None if no time has passed."""
        return max(before.left - self.left, 0) / seconds if seconds > 0 else None

    def eta(self, rate: float | None) -> float | None:
        """Return the seconds until nothing is left, at that rate."""
        return self.left / rate if rate else None


async def replica_sizes(
    cluster: Cluster, partitions: Iterable[TopicPartition] | None, *, brokers: Iterable[int] | None = None
) -> tuple[dict[TopicPartition, dict[int, int]], dict[int, KcliError]]:
    """Return the size of each replica in bytes, by partition and broker, of these partitions or of all; and the errors
    of brokers."""
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
    """Return the progress of each move. A replica that no broker reports has no bytes yet."""
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
