"""Small pieces of logs without a fetch session, many partitions in one request per leader.

A leader gives whole batches only, and with little room to some partitions nothing; those are asked for again, so each
request brings at least one of them.
"""

from __future__ import annotations

from collections import namedtuple

from kcli import codes
from kcli.asking.fan_out import PATIENCE, gather
from kcli.asking.leaders import Leaders
from kcli.errors import BrokerError
from kcli.model import TopicPartition
from kcli.proto.messages.fetch import FetchPartition, FetchRequest, FetchTopic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import NamedTuple, TypeVar

    from kcli.errors import KcliError
    from kcli.model import Broker, Cluster
    from kcli.proto.messages.fetch import PartitionData

    A = TypeVar("A")

    class Place(NamedTuple):
        """Where to read from, and about how many bytes."""

        offset: int
        size: int
else:
    Place = namedtuple("Place", "offset size")

FETCH = FetchRequest.api_key
NAMES_UP_TO = 12  # from Fetch 13 on topics have ids and no names


async def fetch_once(
    cluster: Cluster,
    wanted: Mapping[TopicPartition, Place],
    read: Callable[[TopicPartition, PartitionData, Place], A | KcliError | Place],
    nothing: Callable[[TopicPartition, Place], A | KcliError],
    *,
    at_once: int,
    patience: float = PATIENCE,
) -> dict[TopicPartition, A | KcliError]:
    """What `read` makes of each partition's data: an answer, an error, or the next place to read from. Where a request
    brought no answer and moved no place, `nothing` makes the answer. `at_once` is in bytes of a response, `patience`
    in seconds."""

    async def ask(broker: Broker, some: list[TopicPartition]) -> dict[TopicPartition, A | KcliError]:
        answers: dict[TopicPartition, A | KcliError] = {}
        left = {at: wanted[at] for at in some}
        while left:
            before = dict(left)
            for at, part in (await _fetch(cluster, broker, left, at_once)).items():
                outcome = read(at, part, left[at])
                if isinstance(outcome, Place):
                    left[at] = outcome
                else:
                    answers[at] = outcome
                    del left[at]
            if left == before:
                return answers | {at: nothing(at, place) for at, place in left.items()}
        return answers

    return await gather(wanted, Leaders(cluster), ask, patience=patience)


async def _fetch(
    cluster: Cluster, broker: Broker, wanted: Mapping[TopicPartition, Place], at_once: int
) -> dict[TopicPartition, PartitionData]:
    """One request. Raises BrokerError where it is refused as a whole, and what `Broker.ask` raises."""
    topics: dict[str, FetchTopic] = {}
    for at, place in wanted.items():
        topic = topics.get(at.topic) or topics.setdefault(at.topic, FetchTopic(topic=at.topic))
        topic.partitions.append(
            FetchPartition(
                partition=at.partition,
                current_leader_epoch=cluster.leader_epoch(at),
                fetch_offset=place.offset,
                partition_max_bytes=place.size,
            )
        )
    answer = await broker.ask(
        FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=at_once, session_epoch=-1, topics=list(topics.values())),
        max_version=NAMES_UP_TO,
    )
    if answer.error_code:
        raise BrokerError(codes.of(answer.error_code), f"broker {broker.node_id}")
    return {
        at: part
        for row in answer.responses
        for part in row.partitions
        if (at := TopicPartition(row.topic, part.partition_index)) in wanted
    }
