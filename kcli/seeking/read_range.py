"""Small pieces of logs: the records from an offset on, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli import codes
from kcli.asking.fan_out import PATIENCE
from kcli.asking.fetch_once import FETCH, Place, fetch_once
from kcli.errors import BrokerError, KcliError
from kcli.model import Cluster, TopicPartition
from kcli.proto.batch import Batch, CorruptBatch, read_batches
from kcli.proto.buffer import Buffer
from kcli.proto.columns import Columns
from kcli.proto.messages.fetch import PartitionData

if TYPE_CHECKING:
    from kcli.serde.payload_time import Decode

LITTLE, MUCH = 64 * 1024, 4 * 1024 * 1024  # bytes of a partition
AT_ONCE = 32 * 1024 * 1024  # bytes of an answer


class Stretch:
    """Records from an offset up to `following`; markers, what compaction took and what cannot be read are not among
    them. `damage` is the error of the batch at its end that cannot be read."""

    __slots__ = ("_batches", "_parts", "damage", "following", "offsets", "timestamps")

    def __init__(self, following: int) -> None:
        self.following = following
        self.damage: CorruptBatch | None = None
        self.offsets: list[int] = []
        self.timestamps: list[int] = []
        self._batches: list[Batch] = []
        self._parts: list[tuple[Columns, int]] = []

    def add(self, batch: Batch) -> None:
        """Raises CorruptBatch."""
        columns = batch.columns()
        self._batches.append(batch)
        self._parts += [(columns, row) for row in range(len(columns))]
        self.offsets += columns.offsets
        self.timestamps += columns.timestamps

    async def decoded(self, decode: Decode, at: TopicPartition) -> None:
        """Have the values be those that `decode` makes of the batches."""
        self._parts = []
        for batch in self._batches:
            columns = (await decode(batch, at.topic, at.partition)).columns()
            self._parts += [(columns, row) for row in range(len(columns))]

    def value(self, index: int) -> bytes | None:
        columns, row = self._parts[index]
        return columns.value(row)


async def stretches(
    cluster: Cluster,
    wanted: dict[TopicPartition, tuple[int, int]],
    decode: Decode | None = None,
    *,
    patience: float = PATIENCE,
) -> dict[TopicPartition, Stretch | KcliError]:
    """The records at each offset: `wanted` is (offset, about how many bytes). A stretch without records that begins
    at the end of the log is at its end too. `decode` makes of a batch the one whose values are read."""
    places = {at: Place(offset, size) for at, (offset, size) in wanted.items()}
    answers = await fetch_once(cluster, places, _read, _nothing, at_once=AT_ONCE, patience=patience)
    for at, answer in answers.items():
        if decode is not None and isinstance(answer, Stretch):
            await answer.decoded(decode, at)
    return answers


def _nothing(at: TopicPartition, place: Place) -> Stretch:
    return Stretch(place.offset)


def _read(at: TopicPartition, part: PartitionData, place: Place) -> Stretch | KcliError | Place:
    """The records; where only the beginning of a batch came, the same place with more room."""
    stretch = _stretch(part, at, place.offset)
    if stretch is not None:
        return stretch
    return Place(place.offset, min(place.size * 8, AT_ONCE)) if part.records and place.size < AT_ONCE else place


def _stretch(part: PartitionData, at: TopicPartition, offset: int) -> Stretch | KcliError | None:
    code = codes.of(part.error_code)
    if code is codes.OFFSET_OUT_OF_RANGE and part.log_start_offset > offset:
        return Stretch(part.log_start_offset)  # retention was faster
    if code:
        return BrokerError(code, f"{at.topic} [{at.partition}]", api=FETCH, topic=at.topic)
    stretch: Stretch | None = None
    batches, damage = _batches(part.records or b"")
    for batch in batches:
        if batch.last_offset < offset:
            continue
        stretch = stretch or Stretch(offset)
        if not batch.is_control:
            batch.first = offset
            try:
                stretch.add(batch)
            except CorruptBatch as error:
                stretch.damage = error
        stretch.following = batch.last_offset + 1
        if stretch.damage is not None:
            return stretch
    if damage is not None:
        stretch = stretch or Stretch(offset)
        stretch.damage, stretch.following = damage, max(stretch.following, damage.next_offset)
    return stretch


def _batches(records: Buffer) -> tuple[list[Batch], CorruptBatch | None]:
    try:
        return read_batches(records, check_crcs=False), None
    except CorruptBatch as error:
        return error.good, error
