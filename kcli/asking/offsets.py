"""ListOffsets: where logs start, end, or stand at a time; asked of the leaders (C14), one request for each."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.asking.fan_out import PATIENCE, gather
from kcli.asking.leaders import Leaders
from kcli.errors import BrokerError, KcliError
from kcli.model import TopicPartition
from kcli.proto.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kcli.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.model import Broker, Cluster

    Ends = dict[TopicPartition, "LogOffset | KcliError"]

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
"""The special timestamps of ListOffsets (E22)."""

ISOLATION = {"read_uncommitted": 0, "read_committed": 1}


class LogOffset(Value):
    """A place in a log. `offset` is -1 when no record is that young; `timestamp` (ms) is -1 unless asked by time."""

    offset: int = -1
    timestamp: int = -1
    leader_epoch: int = -1


async def list_offsets(
    cluster: Cluster,
    timestamp: int,
    partitions: Iterable[TopicPartition],
    *,
    isolation: str = "read_uncommitted",
    patience: float = PATIENCE,
) -> dict[TopicPartition, LogOffset | KcliError]:
    """Where each log stands at `timestamp` (ms, or LATEST, EARLIEST, MAX_TIMESTAMP): one request per leader.
    With isolation read_committed LATEST is the last stable offset. Failed partitions carry their error."""
    places = Leaders(cluster)

    async def ask(broker: Broker, some: list[TopicPartition]) -> dict[TopicPartition, LogOffset | KcliError]:
        return await _ask_leader(cluster, broker, some, timestamp, ISOLATION[isolation])

    return await gather(partitions, places.locate, ask, places.forget, patience=patience)


async def _ask_leader(
    cluster: Cluster, broker: Broker, partitions: list[TopicPartition], timestamp: int, isolation: int
) -> dict[TopicPartition, LogOffset | KcliError]:
    topics: dict[str, ListOffsetsTopic] = {}
    for at in partitions:
        topic = topics.get(at.topic) or topics.setdefault(at.topic, ListOffsetsTopic(name=at.topic))
        epoch = cluster.leader_epoch(at)
        topic.partitions.append(
            ListOffsetsPartition(partition_index=at.partition, current_leader_epoch=epoch, timestamp=timestamp)
        )
    answer = await broker.ask(
        ListOffsetsRequest(replica_id=-1, isolation_level=isolation, topics=list(topics.values()), timeout_ms=30_000)
    )
    answers: dict[TopicPartition, LogOffset | KcliError] = {}
    for row in answer.topics:
        for part in row.partitions:
            at = TopicPartition(row.name, part.partition_index)
            if part.error_code:
                answers[at] = BrokerError(codes.of(part.error_code), f"{at.topic} [{at.partition}]")
            else:
                answers[at] = LogOffset(offset=part.offset, timestamp=part.timestamp, leader_epoch=part.leader_epoch)
    return answers


async def bounds(
    cluster: Cluster, partitions: Iterable[TopicPartition], isolation: str, patience: float = PATIENCE,
    *, stable: bool = False,
) -> tuple[Ends, Ends, Ends]:  # fmt: skip
    """The ends, the starts and, if wanted, the last stable offsets of these partitions, all read at the same time."""
    wanted = sorted(partitions)
    if not wanted:
        return {}, {}, {}
    if any(cluster.leader_id(at) < 0 for at in wanted):
        try:
            await cluster.refresh(sorted({at.topic for at in wanted}))
        except KcliError as error:
            return dict.fromkeys(wanted, error), {}, {}
    also = wanted if stable and isolation != "read_committed" else []
    ends, starts, stables = await asyncio.gather(
        list_offsets(cluster, LATEST, wanted, isolation=isolation, patience=patience),
        list_offsets(cluster, EARLIEST, wanted, patience=patience),
        list_offsets(cluster, LATEST, also, isolation="read_committed", patience=patience),
    )
    return ends, starts, stables if also else ends if isolation == "read_committed" else {}
