"""Hanging transactions (KIP-664): open in a partition, but no coordinator will ever end them.

A transaction is open in a partition until a marker of its producer arrives, and its coordinator writes markers to the
partitions that it knows. So a transaction hangs if no coordinator has its producer id, or if the coordinator does not
know the partition; read_committed consumers then wait forever. Young transactions are skipped, because the coordinator
may learn of them soon. Only WriteTxnMarkers, sent to the partition's leader, ends a hanging transaction.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from kcli import codes
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.admin.transactions.producers import ProducerState, describe_producers
from kcli.admin.transactions.transactions import Described, Filter, describe_transactions, list_transactions
from kcli.asking.fan_out import PATIENCE, gather
from kcli.asking.leaders import Leaders
from kcli.errors import BrokerError, KcliError
from kcli.model import Broker, Cluster, TopicPartition
from kcli.proto.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kcli.values import Value, field

OLD = 15 * 60.0
"""Seconds: the brokers' default of transaction.max.timeout.ms, so that every coordinator had its chance."""
MOST = 1_000
"""Partitions in one request, so that it does not block a broker with many partitions."""


class OpenTransaction(Value):
    """An open transaction of a partition. `name` is its transactional id if a coordinator reported it, `known` the
    coordinator's state of it; `hangs` is why it will never end, "" if it may. `age` is the seconds since its last
    record."""

    at: TopicPartition = None  # type: ignore[assignment]  # always given
    producer: ProducerState = None  # type: ignore[assignment]
    age: float = 0.0
    name: str | None = None
    known: Described | None = None
    hangs: str = ""


class Search(Value):
    """The open transactions, and the errors of brokers, because of which hanging transactions may be missing."""

    transactions: list[OpenTransaction] = field(factory=list)
    asked: int = 0
    failed: dict[TopicPartition, KcliError] = field(factory=dict)
    untold: dict[int, KcliError] = field(factory=dict)


async def find_open(
    cluster: Cluster, partitions: Iterable[TopicPartition], *, older_than: float, patience: float = PATIENCE
) -> Search:
    """Return the transactions open in the partitions whose last record is more than `older_than` seconds old, each
    judged.

    One request per leader and thousand partitions, then one per broker and one per coordinator if any is open.
    """
    now = time.time()
    search = Search()
    states = await describe_producers(cluster, partitions, patience=patience, most=MOST)
    search.asked = len(states)
    for at, producers in states.items():
        if isinstance(producers, KcliError):
            search.failed[at] = producers
            continue
        for state in producers:
            age = max(now - state.last_timestamp / 1000, 0.0)
            if state.open_since is not None and age >= older_than:
                search.transactions.append(OpenTransaction(at=at, producer=state, age=age))
    if search.transactions:
        await _judge(cluster, search, patience)
    search.transactions.sort(key=lambda transaction: (-transaction.age, transaction.at))
    return search


async def every_partition(cluster: Cluster) -> list[TopicPartition]:
    """Return the partitions of all topics that the cluster describes."""
    topics = await describe_topics(cluster, None)
    return [
        TopicPartition(name, partition.partition)
        for name, topic in topics.items()
        if isinstance(topic, Topic)
        for partition in topic.partitions
    ]


async def _judge(cluster: Cluster, search: Search, patience: float) -> None:
    """Ask the coordinators for the producers, and for the partitions of their transactions. If a coordinator cannot be
    asked, no transaction is reported as hanging, because that coordinator may know it."""
    producers = sorted({transaction.producer.producer_id for transaction in search.transactions})
    listed, search.untold = await list_transactions(cluster, Filter(producer_ids=producers))
    names = {listed.producer_id: listed.name for listed in listed}
    described = await describe_transactions(cluster, set(names.values()), patience=patience)
    for transaction in search.transactions:
        transaction.name = names.get(transaction.producer.producer_id)
        if transaction.name is None:
            if not search.untold:
                transaction.hangs = f"no coordinator knows producer id {transaction.producer.producer_id}"
            continue
        known = described[transaction.name]
        if isinstance(known, Described):
            transaction.known = known
            if transaction.at not in known.partitions:
                transaction.hangs = (
                    f"its coordinator does not include this partition in {transaction.name} ({known.state})"
                )
        elif isinstance(known, BrokerError) and known.code is codes.TRANSACTIONAL_ID_NOT_FOUND:
            transaction.hangs = f"its coordinator has forgotten {transaction.name}"
        else:
            search.failed[transaction.at] = known


async def find_one(cluster: Cluster, at: TopicPartition, *, patience: float = PATIENCE) -> list[OpenTransaction]:
    """Return the transactions open in one partition, including young ones. Raises KcliError if the partition's leader
    does not respond."""
    search = await find_open(cluster, [at], older_than=0.0, patience=patience)
    for problem in search.failed.values():
        raise problem
    for problem in search.untold.values():
        raise problem
    return search.transactions


async def abort(
    cluster: Cluster, at: TopicPartition, producer: ProducerState, *, patience: float = PATIENCE
) -> KcliError | None:
    """Write the marker that aborts the open transaction of `producer` in one partition; return None when it is written.
    The marker has the epochs that the leader reported, so a producer that has moved on since is not affected."""
    marker = WritableTxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        transaction_result=False,
        topics=[WritableTxnMarkerTopic(name=at.topic, partition_indexes=[at.partition])],
        coordinator_epoch=max(producer.coordinator_epoch, 0),  # -1: no marker yet; no coordinator is older than 0
    )

    async def ask(broker: Broker, _: list[TopicPartition]) -> dict[TopicPartition, KcliError | None]:
        answer = await broker.ask(WriteTxnMarkersRequest(markers=[marker]))
        errors: dict[TopicPartition, KcliError | None] = {}
        for row in answer.markers:
            for topic in row.topics:
                for part in topic.partitions:
                    where = TopicPartition(topic.name, part.partition_index)
                    code = codes.of(part.error_code)
                    errors[where] = BrokerError(code, f"{where.topic} [{where.partition}]") if code else None
        return errors

    (done,) = (await gather([at], Leaders(cluster), ask, patience=patience)).values()
    return done


async def still_open(cluster: Cluster, at: TopicPartition, producer: ProducerState) -> KcliError | None:
    """Return the error if the partition still has the transaction after an abort; None also if that is unknown, because
    the marker was accepted."""
    states = (await describe_producers(cluster, [at]))[at]
    if isinstance(states, KcliError):
        return None
    same = [state for state in states if state.producer_id == producer.producer_id and state.open_since is not None]
    return KcliError("the broker accepted the marker, but the transaction is still open") if same else None
