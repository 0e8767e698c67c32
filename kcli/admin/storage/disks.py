"""Moves of replicas between the log directories of a broker (KIP-113), at that broker."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import NamedTuple

from kcli import codes
from kcli.admin.storage.log_dirs import log_dirs
from kcli.asking.ask import ask_once
from kcli.errors import BrokerError, KcliError
from kcli.model import Cluster
from kcli.proto.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)


class Replica(NamedTuple):
    """A replica of a partition at a broker."""

    topic: str
    partition: int
    broker: int


async def directories(cluster: Cluster, replicas: Collection[Replica]) -> dict[tuple[Replica, bool], str]:
    """The directory of each of these replicas that its broker has (False), and the one it is being moved to (True)."""
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
    """Start to move each replica to this directory of its broker; one request per broker. None when it was started,
    also if the replica is in it already. A replica that the broker does not have yet gets REPLICA_NOT_AVAILABLE: it
    will be created in that directory."""
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
