"""When records were written: the timestamp of the record at an offset, for time lag that is exact (lag.md).

A fetch of one batch for each partition, all partitions of a leader in one request. A leader gives whole batches only,
so a request brings as many as fit and the rest is asked for again; each round brings at least one.
"""

from __future__ import annotations

from kcli import codes
from kcli.asking.fan_out import PATIENCE, gather
from kcli.asking.leaders import Leaders
from kcli.errors import BrokerError, DecodeError, KcliError
from kcli.model import TopicPartition
from kcli.proto.batch import read_batches
from kcli.proto.messages.fetch import FetchPartition, FetchRequest, FetchTopic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.model import Broker, Cluster
    from kcli.proto.batch import Batch
    from kcli.proto.messages.fetch import PartitionData

NAMES_UP_TO = 12  # from Fetch 13 on topics have ids and no names
ENOUGH = 64 * 1024  # bytes of a partition: usually a batch
AT_ONCE = 16 * 1024 * 1024  # bytes of an answer


class RecordTime(KcliError):
    """There is no record whose time could be told. `reached`: nothing but markers and gaps is there before it."""

    def __init__(self, text: str, reached: int = -1) -> None:
        super().__init__(text)
        self.reached = reached


async def record_times(
    cluster: Cluster, offsets: dict[TopicPartition, int], *, patience: float = PATIENCE
) -> dict[TopicPartition, int | KcliError]:
    """The timestamp (ms) of the first record at or after each offset. Where there is none, or it carries none, the
    error says so. Markers and compacted offsets are passed over as far as one fetch reaches."""
    leaders = Leaders(cluster)

    async def ask(broker: Broker, some: list[TopicPartition]) -> dict[TopicPartition, int | KcliError]:
        found: dict[TopicPartition, int | KcliError] = {}
        left = {at: offsets[at] for at in some}
        while left:
            before = dict(left)
            found |= await _fetch(cluster, broker, left)
            left = {at: offset for at, offset in left.items() if at not in found}
            if left == before:
                return found | {
                    at: RecordTime(f"{at.topic} [{at.partition}]: no record there yet", offset)
                    for at, offset in left.items()
                }
        return found

    return await gather(offsets, leaders.locate, ask, leaders.forget, patience=patience)


async def _fetch(
    cluster: Cluster, broker: Broker, offsets: dict[TopicPartition, int]
) -> dict[TopicPartition, int | KcliError]:
    """One request; only partitions that something is known about afterwards. Where nothing but markers came, the
    partition's offset in `offsets` is moved past them."""
    topics: dict[str, FetchTopic] = {}
    for at, offset in offsets.items():
        topic = topics.get(at.topic) or topics.setdefault(at.topic, FetchTopic(topic=at.topic))
        topic.partitions.append(
            FetchPartition(
                partition=at.partition,
                current_leader_epoch=cluster.leader_epoch(at),
                fetch_offset=offset,
                partition_max_bytes=ENOUGH,
            )
        )
    answer = await broker.ask(
        FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=AT_ONCE, session_epoch=-1, topics=list(topics.values())),
        max_version=NAMES_UP_TO,
    )
    if answer.error_code:
        raise BrokerError(codes.of(answer.error_code), f"broker {broker.node_id}")
    found: dict[TopicPartition, int | KcliError] = {}
    for row in answer.responses:
        for part in row.partitions:
            at = TopicPartition(row.topic, part.partition_index)
            if at not in offsets:
                continue  # nobody asked for it
            name = f"{at.topic} [{at.partition}]"
            try:
                time, offsets[at] = _time_of(part, offsets[at])
            except DecodeError as error:
                found[at] = error
                continue
            if part.error_code:
                found[at] = BrokerError(codes.of(part.error_code), name)
            elif time is not None:
                found[at] = time if time >= 0 else RecordTime(f"{name}: the record there carries no timestamp")
    return found


def _time_of(part: PartitionData, offset: int) -> tuple[int | None, int]:
    """(the time of the first record at or after `offset`, or None; the offset to go on from)."""
    for batch in read_batches(part.records or b"", check_crcs=False):
        time = _first_time(batch, offset)
        if time is not None:
            return time, offset
        offset = max(offset, batch.last_offset + 1)
    return None, offset


def _first_time(batch: Batch, offset: int) -> int | None:
    """The timestamp of the batch's first record at or after `offset`; None where it has none."""
    if batch.is_control or batch.last_offset < offset:
        return None
    batch.first = offset
    return next((record.timestamp for record in batch), None)
