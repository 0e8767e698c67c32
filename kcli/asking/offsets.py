"""ListOffsets: start offsets, end offsets and offsets at a time, with one request per leader.

Retriable errors (`KcliError.retriable`: no leader, OFFSET_NOT_AVAILABLE after an election, a broken connection) are
retried at the new leader; a partition that fails has an error beside the results of the others.
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.asking.fan_out import PATIENCE, gather
from kcli.asking.leaders import AwaitedLeaders, Leaders
from kcli.errors import BrokerError, KcliError
from kcli.model import TopicPartition
from kcli.proto.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kcli.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import NamedTuple

    from kcli.model import Broker, Cluster
    from kcli.proto.messages.list_offsets import ListOffsetsPartitionResponse

    Answers = dict[TopicPartition, "LogOffset | KcliError"]
else:
    from kcli.values import NamedTuple


class LogOffset(NamedTuple):
    """An offset in a log: -1 if no record is that recent. `timestamp` (ms) is -1 unless looked up by time."""

    offset: int = -1
    timestamp: int = -1
    leader_epoch: int = -1


LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = -4, -5, -6
"""Special timestamps of ListOffsets; the last three are for tiered storage (KIP-405, 1005, 1023)."""
SINCE = {EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}
"""The version of ListOffsets that supports them; older ones would look for a record with that timestamp."""

ISOLATION = {"read_uncommitted": 0, "read_committed": 1}


async def list_offsets(
    cluster: Cluster,
    wanted: Mapping[TopicPartition, int],
    isolation: str = "read_uncommitted",
    *,
    patience: float = PATIENCE,
    wait_for_leaders: bool = False,
) -> Answers:
    """Return the offset of each partition at its timestamp (ms, or LATEST, EARLIEST, MAX_TIMESTAMP, …), or its error.

    With read_committed, LATEST is the last stable offset. `patience` is in seconds. `wait_for_leaders` is for engines:
    an unknown topic or leader may appear (`Cluster.leader`); otherwise the metadata decides.
    """
    places = AwaitedLeaders(cluster) if wait_for_leaders else Leaders(cluster)

    async def ask(broker: Broker, some: list[TopicPartition]) -> Answers:
        if needed := max((SINCE.get(wanted[at], 0) for at in some), default=0):
            highest = (await broker.versions()).get(ListOffsetsRequest.api_key, (0, 0))[1]
            if highest < needed:
                return dict.fromkeys(some, LogOffset())
        request = _request(cluster, {at: wanted[at] for at in some}, ISOLATION[isolation])
        response = await broker.ask(request)
        return {
            at: _answer(at, wanted[at], row)
            for topic in response.topics
            for row in topic.partitions
            if (at := TopicPartition(topic.name, row.partition_index)) in wanted
        }

    return await gather(wanted, places, ask, patience=patience)


def _request(cluster: Cluster, wanted: Mapping[TopicPartition, int], isolation: int) -> ListOffsetsRequest:
    topics: dict[str, list[ListOffsetsPartition]] = {}
    for at, timestamp in wanted.items():
        name, partition = at
        row = ListOffsetsPartition(
            partition_index=partition, current_leader_epoch=cluster.leader_epoch(at), timestamp=timestamp
        )
        rows = topics.get(name)
        if rows is None:
            topics[name] = [row]
        else:
            rows.append(row)
    return ListOffsetsRequest(
        replica_id=-1,
        isolation_level=isolation,
        topics=[ListOffsetsTopic(name=name, partitions=rows) for name, rows in topics.items()],
        timeout_ms=30_000,
    )


def _answer(at: TopicPartition, timestamp: int, row: ListOffsetsPartitionResponse) -> LogOffset | KcliError:
    if row.error_code:
        about, api = f"{at.topic} [{at.partition}]", ListOffsetsRequest.api_key
        return BrokerError(codes.of(row.error_code), about, api=api, topic=at.topic)
    if row.offset < 0 and timestamp in (EARLIEST, LATEST):
        return KcliError(f"{at.topic} [{at.partition}]: the broker answered offset {row.offset}")
    return LogOffset(row.offset, row.timestamp, row.leader_epoch)


class TieredOffsets(Value):
    """A partition with tiered storage: the start of the log on its leader's disk, the last offset in remote storage,
    and the first offset not copied there yet. None means unknown to the broker; `last` is also None if nothing was
    copied."""

    local_start: int | None = None
    last: int | None = None
    pending: int | None = None


async def tiered_offsets(cluster: Cluster, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, TieredOffsets]:
    """Return the partitions of topics with data in tiered storage. Partitions that cannot be asked, and other topics,
    are missing."""
    wanted = list(partitions)
    lasts, pending = await asyncio.gather(
        list_offsets(cluster, dict.fromkeys(wanted, LATEST_TIERED)),
        list_offsets(cluster, dict.fromkeys(wanted, EARLIEST_PENDING_UPLOAD)),
    )
    known = {at: (_known(lasts[at]), _known(pending[at])) for at in wanted}
    topics = {at.topic for at, found in known.items() if found != (None, None)}
    tiered = [at for at in wanted if at.topic in topics]
    starts = await list_offsets(cluster, dict.fromkeys(tiered, EARLIEST_LOCAL)) if tiered else {}
    return {at: TieredOffsets(local_start=_known(starts[at]), last=known[at][0], pending=known[at][1]) for at in tiered}


def _known(answer: LogOffset | KcliError) -> int | None:
    return answer.offset if isinstance(answer, LogOffset) and answer.offset >= 0 else None


async def bounds(
    cluster: Cluster,
    partitions: Iterable[TopicPartition],
    isolation: str,
    patience: float = PATIENCE,
    *,
    stable: bool = False,
) -> tuple[Answers, Answers, Answers]:
    """Return the ends, the starts and, if wanted, the last stable offsets of these partitions, all read at the same
    time."""
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
        list_offsets(cluster, dict.fromkeys(wanted, LATEST), isolation, patience=patience),
        list_offsets(cluster, dict.fromkeys(wanted, EARLIEST), patience=patience),
        list_offsets(cluster, dict.fromkeys(also, LATEST), "read_committed", patience=patience),
    )
    return ends, starts, stables if also else ends if isolation == "read_committed" else {}
