"""The two blobs inside a classic consumer group: what a member subscribed to and what it was given.

Only the admin's half: read, tolerant of versions to come (E49), never written.
"""

from __future__ import annotations

from struct import error as StructError
from struct import unpack_from

from kcli.model import TopicPartition


def subscribed_topics(blob: bytes) -> list[str]:
    """The topics of a ConsumerProtocolSubscription, whatever its version; [] for bytes that are not one."""
    try:
        (count,) = unpack_from(">i", blob, 2)
        at, topics = 6, []
        for _ in range(count):
            name, at = _string(blob, at)
            topics.append(name)
        return topics
    except (StructError, ValueError):
        return []


def assigned_partitions(blob: bytes) -> list[TopicPartition]:
    """The partitions of a ConsumerProtocolAssignment, whatever its version; [] for bytes that are not one."""
    try:
        (count,) = unpack_from(">i", blob, 2)
        at, given = 6, []
        for _ in range(count):
            topic, at = _string(blob, at)
            (size,) = unpack_from(">i", blob, at)
            if size * 4 > len(blob) - at:
                raise ValueError("more partitions than bytes")
            given += [TopicPartition(topic, partition) for partition in unpack_from(f">{max(size, 0)}i", blob, at + 4)]
            at += 4 + 4 * max(size, 0)
        return sorted(given)
    except (StructError, ValueError):
        return []


def _string(blob: bytes, at: int) -> tuple[str, int]:
    (size,) = unpack_from(">h", blob, at)
    if size < 0 or at + 2 + size > len(blob):
        raise ValueError("a string ends after its bytes")
    return blob[at + 2 : at + 2 + size].decode("utf-8", "replace"), at + 2 + size
