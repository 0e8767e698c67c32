"""Moves replicas between the log directories of a broker (KIP-113), at that broker."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from kcli import codes
from kcli.asking.ask import ask_once
from kcli.asking.fan_out import ask_every
from kcli.errors import BrokerError, KcliError
from kcli.model import Broker, Cluster
from kcli.proto.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from kcli.proto.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from kcli.values import Value, field

ENOUGH = 0.05
"""Accepted difference between the fullest and the emptiest directory, as a fraction of the mean."""


class Replica(NamedTuple):
    """A replica of a partition at a broker."""

    topic: str
    partition: int
    broker: int


async def directories(cluster: Cluster, replicas: Collection[Replica]) -> dict[tuple[Replica, bool], str]:
    """Return the directory of each of these replicas (False), and the one to which it is being moved (True)."""
    topics: dict[str, set[int]] = {}
    for at in replicas:
        topics.setdefault(at.topic, set()).add(at.partition)
    asked = {topic: sorted(some) for topic, some in topics.items()}
    places, _ = await log_dirs(cluster, asked, brokers={at.broker for at in replicas})
    return {
        (Replica(replica.topic, replica.partition, replica.broker), replica.future): place.directory
        for place in places
        for replica in place.replicas
    }


async def alter_log_dirs(cluster: Cluster, wanted: Mapping[Replica, str]) -> dict[Replica, KcliError | None]:
    """Start to move each replica to this directory of its broker, with one request per broker.

    The result is None if it was started, or if the replica is already there. A replica that the broker does not have
    yet gets REPLICA_NOT_AVAILABLE, and will be created in that directory.
    """
    by_broker: dict[int, list[Replica]] = {}
    for at in wanted:
        by_broker.setdefault(at.broker, []).append(at)
    errors: dict[Replica, KcliError | None] = {}
    for part in await asyncio.gather(*(_at_broker(cluster, some, wanted) for some in by_broker.values())):
        errors |= part
    return errors


async def _at_broker(
    cluster: Cluster, some: list[Replica], wanted: Mapping[Replica, str]
) -> dict[Replica, KcliError | None]:
    places: dict[str, AlterReplicaLogDir] = {}
    for at in some:
        place = places.setdefault(wanted[at], AlterReplicaLogDir(path=wanted[at]))
        topic = next((topic for topic in place.topics if topic.name == at.topic), None)
        if topic is None:
            topic = AlterReplicaLogDirTopic(name=at.topic)
            place.topics.append(topic)
        topic.partitions.append(at.partition)
    try:
        broker = await cluster.node(some[0].broker)
        answer = await ask_once(broker, AlterReplicaLogDirsRequest(dirs=list(places.values())))
    except KcliError as error:
        return dict.fromkeys(some, error)
    results = {
        (topic.topic_name, partition.partition_index): partition
        for topic in answer.results
        for partition in topic.partitions
    }
    errors: dict[Replica, KcliError | None] = {}
    for at in some:
        row = results.get((at.topic, at.partition))
        where = f"{at.topic} [{at.partition}] at broker {at.broker}"
        if row is None:
            errors[at] = KcliError(f"{where}: the broker's response does not contain this replica")
        else:
            errors[at] = (
                BrokerError(codes.of(row.error_code), where, api=AlterReplicaLogDirsRequest.api_key)
                if row.error_code
                else None
            )
    return errors


def evened(places: Iterable[LogDir], movable: Collection[Replica]) -> dict[Replica, str]:
    """Return moves within one broker, the largest replicas first, each of which makes the fullest directory
    less full."""
    sizes: dict[str, int] = {}
    here: dict[Replica, tuple[str, int]] = {}
    for place in places:
        sizes[place.directory] = place.size
        for replica in place.replicas:
            at = Replica(replica.topic, replica.partition, replica.broker)
            if at in movable and not replica.future:
                here[at] = place.directory, replica.size
    moved: dict[Replica, str] = {}
    for _ in range(len(here)):
        full, empty = max(sizes, key=lambda d: (sizes[d], d)), min(sizes, key=lambda d: (sizes[d], d))
        gap = sizes[full] - sizes[empty]
        if gap <= ENOUGH * sum(sizes.values()) / len(sizes):
            break
        some = [
            (size, at) for at, (place, size) in here.items() if place == full and 0 < size < gap and at not in moved
        ]
        if not some:
            break
        size, at = min(some, key=lambda replica: (abs(gap - 2 * replica[0]), replica[1]))
        moved[at], here[at] = empty, (empty, size)
        sizes[full] -= size
        sizes[empty] += size
    return moved


class ReplicaSize(Value):
    """A replica in a directory. `size` is in bytes; `offset_lag` is how far it is behind. `future`: it is being moved
    here from another directory of the broker, and will replace that one."""

    topic: str = ""
    partition: int = 0
    broker: int = 0
    directory: str = ""
    size: int = 0
    offset_lag: int = 0
    future: bool = False


class LogDir(Value):
    """A directory of a broker. `total` and `usable` are the bytes of its volume, -1 from brokers before 3.3. `error` is
    its failure, such as a broken disk."""

    broker: int = 0
    directory: str = ""
    total: int = -1
    usable: int = -1
    cordoned: bool = False
    replicas: list[ReplicaSize] = field(factory=list)
    error: KcliError | None = None

    @property
    def size(self) -> int:
        """Bytes of all replicas."""
        return sum(replica.size for replica in self.replicas)


async def log_dirs(
    cluster: Cluster,
    topics: dict[str, list[int]] | None = None,
    *,
    brokers: Iterable[int] | None = None,
) -> tuple[list[LogDir], dict[int, KcliError]]:
    """Return the directories of all brokers or of these, with all replicas or only those of `topics` (name to
    partitions), and the errors of brokers. One request per broker."""
    asked = None
    if topics is not None:
        asked = [DescribableLogDirTopic(topic=name, partitions=some) for name, some in topics.items()]
    request = DescribeLogDirsRequest(topics=asked)

    async def ask(broker: Broker) -> DescribeLogDirsResponse:
        answer = await broker.ask(request)
        if answer.error_code:
            raise BrokerError(codes.of(answer.error_code), f"broker {broker.node_id}", api=request.api_key)
        return answer

    wanted = set(brokers) if brokers is not None else {node.id for node in await cluster.nodes()}
    answers, failed = await ask_every(cluster, sorted(wanted), ask)
    return [_log_dir(broker, row) for broker, answer in answers.items() for row in answer.results], failed


def _log_dir(broker: int, row: DescribeLogDirsResult) -> LogDir:
    replicas = [
        ReplicaSize(
            topic=topic.name,
            partition=partition.partition_index,
            broker=broker,
            directory=row.log_dir,
            size=partition.partition_size,
            offset_lag=partition.offset_lag,
            future=partition.is_future_key,
        )
        for topic in row.topics
        for partition in topic.partitions
    ]
    code, api = codes.of(row.error_code), DescribeLogDirsRequest.api_key
    error = BrokerError(code, f"broker {broker}: {row.log_dir}", api=api) if code else None
    return LogDir(
        broker=broker,
        directory=row.log_dir,
        total=row.total_bytes,
        usable=row.usable_bytes,
        cordoned=row.is_cordoned,
        replicas=replicas,
        error=error,
    )
