"""Leader elections (KIP-183, KIP-460) at the controller."""

from __future__ import annotations

from collections.abc import Iterable

from kcli import codes
from kcli.admin.reassign.reassignments import MOST, about
from kcli.admin.topics.topics import Partition
from kcli.asking.controller import ask_controller
from kcli.asking.fan_out import pieces
from kcli.errors import BrokerError, KcliError
from kcli.model import Cluster, TopicPartition
from kcli.proto.messages.elect_leaders import ElectLeadersRequest, TopicPartitions

PREFERRED, UNCLEAN = 0, 1


def is_preferred(partition: Partition) -> bool:
    """Whether the leader is the preferred replica, which is the first one."""
    return bool(partition.replicas) and partition.leader == partition.replicas[0]


def why_not_preferred(partition: Partition) -> str:
    """Return why the preferred replica cannot lead now."""
    if partition.replicas and partition.replicas[0] in partition.offline:
        return f"broker {partition.replicas[0]} is offline"
    in_sync = bool(partition.replicas) and partition.replicas[0] in partition.isr
    return "" if in_sync else "the preferred replica is not in sync"


async def elect_leaders(
    cluster: Cluster, partitions: Iterable[TopicPartition], *, unclean: bool = False
) -> dict[TopicPartition, bool | KcliError]:
    """Elect the preferred leader of each partition. With `unclean`, a partition without a leader gets any live replica,
    even one that lacks records. Returns True if a leader was elected, False if none was needed."""
    results: dict[TopicPartition, bool | KcliError] = {}
    for part in pieces(list(dict.fromkeys(partitions)), MOST):
        try:
            results |= await _elect(cluster, part, UNCLEAN if unclean else PREFERRED)
        except KcliError as error:
            results |= dict.fromkeys(part, error)
    return results


async def _elect(cluster: Cluster, part: list[TopicPartition], kind: int) -> dict[TopicPartition, bool | KcliError]:
    topics: dict[str, TopicPartitions] = {}
    for at in part:
        topics.setdefault(at.topic, TopicPartitions(topic=at.topic)).partitions.append(at.partition)
    request = ElectLeadersRequest(election_type=kind, topic_partitions=list(topics.values()), timeout_ms=30_000)
    answer = await ask_controller(cluster, request, lambda answer: [answer.error_code])
    if answer.error_code:
        raise BrokerError(codes.of(answer.error_code), "election", api=request.api_key)
    results: dict[TopicPartition, bool | KcliError] = {}
    for topic in answer.replica_election_results:
        for result in topic.partition_result:
            at, code = TopicPartition(topic.topic, result.partition_id), codes.of(result.error_code)
            if code is codes.ELECTION_NOT_NEEDED:
                results[at] = False
            else:
                results[at] = BrokerError(code, about(at), result.error_message, api=request.api_key) if code else True
    return {
        at: results.get(at, KcliError(f"{about(at)}: the broker's response does not contain this partition"))
        for at in part
    }
