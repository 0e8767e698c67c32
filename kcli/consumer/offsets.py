"""Offsets from the log itself: ListOffsets, split by leader, gathered, and asked again until it is answered.

Always at the leader, whatever replica is read from (C14). One partition's failure stands beside the good answers (C17).
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.backoff import Backoff
from kcli.consumer.bounds import EARLIEST, LATEST, Bound, OffsetAnswer
from kcli.errors import BrokerError, KcliError
from kcli.proto.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.model import Broker, Cluster, TopicPartition

    Answers = dict[TopicPartition, OffsetAnswer | KcliError]

ISOLATION = {"read_uncommitted": 0, "read_committed": 1}


async def list_offsets(
    cluster: Cluster,
    wanted: Mapping[TopicPartition, int],
    isolation: str = "read_uncommitted",
    *,
    deadline: float = 30.0,
    backoff: float = 0.1,
    backoff_max: float = 1.0,
) -> Answers:
    """The offset of each partition's timestamp (ms, or EARLIEST, LATEST, MAX_TIMESTAMP), or its error.

    Errors that pass (no leader, OFFSET_NOT_AVAILABLE, a broken connection) are tried again for `deadline` seconds.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + deadline
    answers: Answers = {}
    left = list(wanted)
    pauses = Backoff(backoff, backoff_max)
    while left:
        answers.update(await _round(cluster, {at: wanted[at] for at in left}, isolation))
        left = [at for at in left if isinstance(error := answers[at], KcliError) and error.retriable]
        pause = pauses.next()
        if not left or loop.time() + pause > until:
            break
        await asyncio.sleep(pause)
    return answers


async def _round(cluster: Cluster, wanted: dict[TopicPartition, int], isolation: str) -> Answers:
    """Ask everybody once."""
    answers: Answers = {}
    brokers = await asyncio.gather(*(_leader(cluster, at) for at in wanted))
    by_node: dict[int, tuple[Broker, list[TopicPartition]]] = {}
    for at, found in zip(wanted, brokers):
        if isinstance(found, KcliError):
            answers[at] = found
        else:
            by_node.setdefault(found.node_id, (found, []))[1].append(at)
    for some in await asyncio.gather(
        *(_ask(cluster, broker, ats, wanted, isolation) for broker, ats in by_node.values())
    ):
        answers.update(some)
    return answers


async def _leader(cluster: Cluster, at: TopicPartition) -> Broker | KcliError:
    try:
        return await cluster.leader(at)
    except KcliError as error:
        return error


async def _ask(
    cluster: Cluster, broker: Broker, ats: list[TopicPartition], wanted: dict[TopicPartition, int], isolation: str
) -> Answers:
    topics: dict[str, list[ListOffsetsPartition]] = {}
    for at in ats:
        topics.setdefault(at.topic, []).append(
            ListOffsetsPartition(
                partition_index=at.partition, current_leader_epoch=cluster.leader_epoch(at), timestamp=wanted[at]
            )
        )
    request = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=ISOLATION[isolation],
        topics=[ListOffsetsTopic(name=name, partitions=parts) for name, parts in topics.items()],
        timeout_ms=30_000,
    )
    try:
        response = await broker.ask(request)
    except KcliError as error:
        for at in ats:
            cluster.leader_moved(at)
        return dict.fromkeys(ats, error)
    rows = {(topic.name, row.partition_index): row for topic in response.topics for row in topic.partitions}
    answers: Answers = {}
    for at in ats:
        row = rows.get((at.topic, at.partition))
        code = codes.UNKNOWN_SERVER_ERROR if row is None else codes.of(row.error_code)
        if row is None or code:
            if code.forget == "leader":
                cluster.leader_moved(at)
            answers[at] = BrokerError(code, f"{at.topic} partition {at.partition}")
        elif row.offset < 0 and wanted[at] in (EARLIEST, LATEST):
            answers[at] = KcliError(f"{at.topic} partition {at.partition}: the broker answered offset {row.offset}")
        else:
            answers[at] = OffsetAnswer(row.offset, row.timestamp, row.leader_epoch)
    return answers


async def resolve(
    cluster: Cluster,
    bounds: Mapping[TopicPartition, Bound],
    isolation: str = "read_uncommitted",
    *,
    reset: str = "earliest",
    deadline: float = 30.0,
) -> Answers:
    """Every bound as an offset. "latest" and what counts from the end mean the last stable offset with read_committed
    (E17). "stored" becomes the reset policy: whoever has a group looks there first. A place before the start or after
    the end of the log becomes the start or the end, an explicit offset stays as it is said."""
    rounds: list[dict[TopicPartition, int]] = [{}, {}, {}]
    for at, bound in bounds.items():
        kind = reset if bound.kind == "stored" else bound.kind
        if kind in ("earliest", "relative", "from_start"):
            rounds[0][at] = EARLIEST
        if kind in ("latest", "relative", "from_start", "time"):
            rounds[1][at] = LATEST
        if kind == "time":
            rounds[2][at] = bound.value
    first, last, timed = await asyncio.gather(
        *(list_offsets(cluster, wanted, isolation, deadline=deadline) for wanted in rounds)
    )
    answers: Answers = {}
    for at, bound in bounds.items():
        kind = reset if bound.kind == "stored" else bound.kind
        if kind == "offset":
            answers[at] = OffsetAnswer(bound.value)
        elif kind == "none":
            answers[at] = KcliError(f"{at.topic} partition {at.partition}: no position, and auto.offset.reset is none")
        else:
            answers[at] = _place(kind, abs(bound.value), first.get(at), last.get(at), timed.get(at))
    return answers


def _place(
    kind: str,
    value: int,
    first: OffsetAnswer | KcliError | None,
    last: OffsetAnswer | KcliError | None,
    timed: OffsetAnswer | KcliError | None,
) -> OffsetAnswer | KcliError:
    for answer in (first, last, timed):
        if isinstance(answer, KcliError):
            return answer
    if kind == "time" and isinstance(timed, OffsetAnswer) and timed.offset >= 0:
        return timed
    if isinstance(first, OffsetAnswer) and isinstance(last, OffsetAnswer):
        if kind == "relative":
            return OffsetAnswer(max(first.offset, last.offset - value))
        return OffsetAnswer(min(first.offset + value, max(first.offset, last.offset)))
    return first if kind == "earliest" else last  # type: ignore[return-value]
