"""Small pieces of logs, many partitions in one request per leader: the records from an offset on, as columns.

A leader gives whole batches only, and with little room to some partitions nothing; those are asked for again, so each
request brings at least one of them.
"""

from __future__ import annotations

from kcli import codes
from kcli.asking.fan_out import PATIENCE, gather
from kcli.asking.leaders import Leaders
from kcli.errors import BrokerError, KcliError
from kcli.model import TopicPartition
from kcli.proto.batch import CorruptBatch, read_batches
from kcli.proto.messages.fetch import FetchPartition, FetchRequest, FetchTopic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.model import Broker, Cluster
    from kcli.proto.batch import Batch
    from kcli.proto.columns import Columns
    from kcli.proto.messages.fetch import PartitionData
    from kcli.proto.schema import Buffer

NAMES_UP_TO = 12  # from Fetch 13 on topics have ids and no names
LITTLE, MUCH = 64 * 1024, 4 * 1024 * 1024  # bytes of a partition
AT_ONCE = 32 * 1024 * 1024  # bytes of an answer


class Stretch:
    """Records from an offset up to `following`; markers, what compaction took and what cannot be read are not among
    them. `damage` is the error of the batch at its end that cannot be read."""

    __slots__ = ("_parts", "damage", "following", "offsets", "timestamps")

    def __init__(self, following: int) -> None:
        self.following = following
        self.damage: CorruptBatch | None = None
        self.offsets: list[int] = []
        self.timestamps: list[int] = []
        self._parts: list[tuple[Columns, int]] = []

    def add(self, columns: Columns) -> None:
        self._parts += [(columns, row) for row in range(len(columns))]
        self.offsets += columns.offsets
        self.timestamps += columns.timestamps

    def value(self, index: int) -> bytes | None:
        columns, row = self._parts[index]
        return columns.value(row)


async def stretches(
    cluster: Cluster, wanted: dict[TopicPartition, tuple[int, int]], *, patience: float = PATIENCE
) -> dict[TopicPartition, Stretch | KcliError]:
    """What stands at each offset: `wanted` is (offset, about how many bytes). A stretch without records that begins
    at the end of the log is at its end too."""
    leaders = Leaders(cluster)

    async def ask(broker: Broker, some: list[TopicPartition]) -> dict[TopicPartition, Stretch | KcliError]:
        found: dict[TopicPartition, Stretch | KcliError] = {}
        left = {at: wanted[at] for at in some}
        while left:
            room = sum(size for _, size in left.values())
            more = await _fetch(cluster, broker, left)
            found |= more
            if not more and room == sum(size for _, size in left.values()):  # nobody took anybody's room
                return found | {at: Stretch(offset) for at, (offset, _) in left.items()}
            left = {at: place for at, place in left.items() if at not in found}
        return found

    return await gather(wanted, leaders.locate, ask, leaders.forget, patience=patience)


async def _fetch(
    cluster: Cluster, broker: Broker, wanted: dict[TopicPartition, tuple[int, int]]
) -> dict[TopicPartition, Stretch | KcliError]:
    """One request, without those to which nothing came; where the beginning of a batch came, `wanted` has more room
    for it."""
    topics: dict[str, FetchTopic] = {}
    for at, (offset, size) in wanted.items():
        topic = topics.get(at.topic) or topics.setdefault(at.topic, FetchTopic(topic=at.topic))
        topic.partitions.append(
            FetchPartition(
                partition=at.partition,
                current_leader_epoch=cluster.leader_epoch(at),
                fetch_offset=offset,
                partition_max_bytes=size,
            )
        )
    answer = await broker.ask(
        FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=AT_ONCE, session_epoch=-1, topics=list(topics.values())),
        max_version=NAMES_UP_TO,
    )
    if answer.error_code:
        raise BrokerError(codes.of(answer.error_code), f"broker {broker.node_id}")
    found: dict[TopicPartition, Stretch | KcliError] = {}
    for row in answer.responses:
        for part in row.partitions:
            at = TopicPartition(row.topic, part.partition_index)
            offset, size = wanted[at]
            read = _read(part, at, offset)
            if read is not None:
                found[at] = read
            elif part.records and size < AT_ONCE:  # less than a batch came (E1)
                wanted[at] = offset, min(size * 8, AT_ONCE)
    return found


def _read(part: PartitionData, at: TopicPartition, offset: int) -> Stretch | KcliError | None:
    code = codes.of(part.error_code)
    if code is codes.OFFSET_OUT_OF_RANGE and part.log_start_offset > offset:
        return Stretch(part.log_start_offset)  # retention was faster
    if code:
        return BrokerError(code, f"{at.topic} [{at.partition}]")
    made: Stretch | None = None
    batches, damage = _batches(part.records or b"")
    for batch in batches:
        if batch.last_offset < offset:
            continue
        made = made or Stretch(offset)
        if not batch.is_control:
            batch.first = offset
            try:
                made.add(batch.columns())
            except CorruptBatch as error:
                made.damage = error
        made.following = batch.last_offset + 1
        if made.damage is not None:
            return made
    if damage is not None:
        made = made or Stretch(offset)
        made.damage, made.following = damage, max(made.following, damage.next_offset)
    return made


def _batches(records: Buffer) -> tuple[list[Batch], CorruptBatch | None]:
    try:
        return read_batches(records, check_crcs=False), None
    except CorruptBatch as error:
        return error.good, error
