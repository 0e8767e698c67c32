"""The producers of a partition and their open transactions (DescribeProducers, KIP-664)."""

from __future__ import annotations

from collections.abc import Iterable

from kcli import codes
from kcli.asking.fan_out import PATIENCE, gather
from kcli.asking.leaders import Leaders
from kcli.errors import BrokerError, KcliError
from kcli.model import Broker, Cluster, TopicPartition
from kcli.proto.messages.describe_producers import DescribeProducersRequest, TopicRequest
from kcli.proto.messages.describe_producers import ProducerState as DescribedProducer
from kcli.values import Value


class ProducerState(Value):
    """A producer in the state of a partition's leader. `last_timestamp` (ms) is of its last batch; `open_since` the
    offset at which its open transaction began, None without one."""

    producer_id: int = -1
    epoch: int = -1
    last_sequence: int = -1
    last_timestamp: int = -1
    coordinator_epoch: int = -1
    open_since: int | None = None


async def describe_producers(
    cluster: Cluster,
    partitions: Iterable[TopicPartition],
    *,
    replica: int | None = None,
    patience: float = PATIENCE,
    most: int = 1_000_000,
) -> dict[TopicPartition, list[ProducerState] | KcliError]:
    """Return the producers of each partition: one request per leader and `most` partitions, or all from the broker
    `replica`, which may know less. Failed partitions have their error."""
    leaders = Leaders(cluster) if replica is None else _Replica(cluster, replica)

    async def ask(broker: Broker, some: list[TopicPartition]) -> dict[TopicPartition, list[ProducerState] | KcliError]:
        topics: dict[str, list[int]] = {}
        for at in some:
            topics.setdefault(at.topic, []).append(at.partition)
        answer = await broker.ask(
            DescribeProducersRequest(
                topics=[TopicRequest(name=name, partition_indexes=numbers) for name, numbers in topics.items()]
            )
        )
        states: dict[TopicPartition, list[ProducerState] | KcliError] = {}
        for topic in answer.topics:
            for part in topic.partitions:
                at = TopicPartition(topic.name, part.partition_index)
                if part.error_code:
                    code = codes.of(part.error_code)
                    about, api = f"{at.topic} [{at.partition}]", DescribeProducersRequest.api_key
                    states[at] = BrokerError(code, about, part.error_message or None, api=api, topic=at.topic)
                    continue
                states[at] = [_state(producer) for producer in part.active_producers]
        return states

    return await gather(partitions, leaders, ask, patience=patience, most=most)


def _state(row: DescribedProducer) -> ProducerState:
    return ProducerState(
        producer_id=row.producer_id,
        epoch=row.producer_epoch,
        last_sequence=row.last_sequence,
        last_timestamp=row.last_timestamp,
        coordinator_epoch=row.coordinator_epoch,
        open_since=row.current_txn_start_offset if row.current_txn_start_offset >= 0 else None,
    )


class _Replica:
    """Locates all partitions at one broker, wherever their leaders are."""

    def __init__(self, cluster: Cluster, node_id: int) -> None:
        self._cluster = cluster
        self._node_id = node_id

    async def locate(
        self, partitions: list[TopicPartition]
    ) -> tuple[list[tuple[Broker, list[TopicPartition]]], dict[TopicPartition, KcliError]]:
        return [(await self._cluster.node(self._node_id), partitions)], {}

    def forget(self, at: TopicPartition) -> None:
        """Do nothing: there is no other place to ask."""
