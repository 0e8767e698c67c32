"""Reads records at single offsets: the originals of dead letters of share groups (KIP-1191)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli import codes
from kcli.asking.fetch_once import FETCH, Place, fetch_once
from kcli.asking.offsets import EARLIEST, list_offsets
from kcli.errors import BrokerError, KcliError
from kcli.proto.batch import CorruptBatch, read_batches

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kcli.model import Cluster, TopicPartition
    from kcli.proto.columns import Record
    from kcli.proto.messages.fetch import PartitionData

    Found = dict[int, Record]

LITTLE, MOST = 64 * 1024, 32 * 1024 * 1024
"""Bytes requested of a partition, at first and at most, and of a response."""


async def records_at(
    cluster: Cluster, wanted: Mapping[TopicPartition, Collection[int]]
) -> dict[TopicPartition, Found | KcliError]:
    """Return the records at these offsets. One that is missing was deleted or compacted, or is not a record."""
    found: dict[TopicPartition, Found] = {at: {} for at in wanted}

    def following(at: TopicPartition, offset: int, size: int = LITTLE) -> Place | Found:
        """Return where to continue reading for the offsets still wanted, or everything found."""
        left = [one for one in wanted[at] if one >= offset]
        return Place(min(left), size) if left else found[at]

    def read(at: TopicPartition, part: PartitionData, place: Place) -> Found | KcliError | Place:
        code = codes.of(part.error_code)
        if code is codes.OFFSET_OUT_OF_RANGE:  # deleted since the start was looked up, or past the end
            return following(at, place.offset + 1)
        if code:
            return BrokerError(code, f"{at.topic} [{at.partition}]", api=FETCH, topic=at.topic)
        try:
            batches = read_batches(part.records or b"", check_crcs=False)
        except CorruptBatch as damage:
            return damage
        reached = place.offset
        for batch in batches:
            if batch.last_offset >= reached and not batch.is_control:
                batch.first = place.offset  # a batch may begin with deleted records
                found[at].update({record.offset: record for record in batch if record.offset in wanted[at]})
            reached = max(reached, batch.last_offset + 1)
        if reached > place.offset:
            return following(at, reached)
        if part.records and place.size < MOST:  # only the beginning of a batch was returned
            return Place(place.offset, min(place.size * 8, MOST))
        if place.offset < part.high_watermark:
            return KcliError(f"{at.topic} [{at.partition}]: the broker sent no record from offset {place.offset} on")
        return found[at]

    places: dict[TopicPartition, Place] = {}
    answers: dict[TopicPartition, Found | KcliError] = {}
    for at, start in (await list_offsets(cluster, dict.fromkeys(wanted, EARLIEST))).items():
        place = start if isinstance(start, KcliError) else following(at, start.offset)
        if isinstance(place, Place):
            places[at] = place
        else:
            answers[at] = place
    return answers | await fetch_once(cluster, places, read, lambda at, place: found[at], at_once=MOST)
