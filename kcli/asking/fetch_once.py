"""Reads small pieces of logs without a fetch session, with many partitions in one request per leader.

A leader returns only whole batches, and nothing for some partitions if there is little room; those are requested again,
so each request returns at least one of them.
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
NAMES_UP_TO = 12  # from Fetch 13 on, topics have ids instead of names


async def fetch_once(
    cluster: Cluster,
    wanted: Mapping[TopicPartition, Place],
    read: Callable[[TopicPartition, PartitionData, Place], A | KcliError | Place],
    nothing: Callable[[TopicPartition, Place], A | KcliError],
    *,
    at_once: int,
    patience: float = PATIENCE,
) -> dict[TopicPartition, A | KcliError]:
    """Return the result of `read` for each partition's data: a result, an error, or the next place to read from.

    If a request returned no result and moved no place, `nothing` creates the result. `at_once` limits the bytes of a
    response; `patience` is in seconds.
    """

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
    """Send one request. Raises BrokerError if it is rejected as a whole, and the errors of `Broker.ask`."""
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
