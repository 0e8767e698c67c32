"""Moves of partitions to other brokers (KIP-455): list those in progress, start and cancel them at the controller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kcli import codes
from kcli.asking.controller import ask_controller
from kcli.asking.fan_out import pieces
from kcli.errors import BrokerError, KcliError
from kcli.model import Cluster, TopicPartition
from kcli.proto.messages import alter_partition_reassignments as altering
from kcli.proto.messages import list_partition_reassignments as listing
from kcli.values import Value, field

Assignment = dict[TopicPartition, list[int]]

MOST = 1000
"""Partitions in a request: the controller writes each request's records at once."""


class Ongoing(Value):
    """A move under way. `replicas` are all for the time being: the `adding` ones are being filled, the `removing` ones
    go when that is done."""

    replicas: list[int] = field(factory=list)
    adding: list[int] = field(factory=list)
    removing: list[int] = field(factory=list)

    @property
    def target(self) -> list[int]:
        """The replicas when it is done."""
        return [replica for replica in self.replicas if replica not in self.removing]

    @property
    def sources(self) -> list[int]:
        """The replicas before."""
        return [replica for replica in self.replicas if replica not in self.adding]


async def list_reassignments(
    cluster: Cluster, partitions: Iterable[TopicPartition] | None = None
) -> dict[TopicPartition, Ongoing]:
    """All moves under way, or those of these partitions. Raises BrokerError."""
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
    """Start to move each partition to these brokers, the preferred leader first; None cancels a move. None where it was
    begun. A request for every `MOST` partitions; an answer that is lost is the error of all it was about."""
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
    """A partition in a sentence."""
    return f"{at.topic} [{at.partition}]"
