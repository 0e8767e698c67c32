"""What was promised against what is in the log: R1 (acked is read, failed is not), R2, R5 (nothing twice, in order).

A pure function of two histories, so that a test of the checker itself needs no broker. `unknown` may be either.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

ACKED, FAILED, UNKNOWN, PENDING = "acked", "failed", "unknown", "pending"


class Sent(NamedTuple):
    """A record somebody tried to write. `offset` is -1 unless the broker told it. Numbers of a key ascend as sent."""

    key: bytes
    number: int
    outcome: str
    partition: int = -1
    offset: int = -1


class Read(NamedTuple):
    """A record somebody read."""

    partition: int
    offset: int
    key: bytes
    number: int


def problems(sent: list[Sent], read: list[Read]) -> list[str]:
    """Every promise that was broken, as sentences; none is what everybody hopes for. `read` is all of the log, each
    partition in the order read."""
    found: list[str] = []
    places = {(one.key, one.number): (one.partition, one.offset) for one in read}
    for (key, number), times in Counter((one.key, one.number) for one in read).items():
        if times > 1:
            found.append(f"{key!r} {number} is in the log {times} times")
    known = {(one.key, one.number) for one in sent}
    found += [f"{key!r} {number} was read and never sent" for key, number in places if (key, number) not in known]
    for one in sent:
        place = places.get((one.key, one.number))
        if one.outcome == PENDING:
            found.append(f"{one.key!r} {one.number} was never settled")
        elif one.outcome == FAILED and place is not None:
            found.append(f"{one.key!r} {one.number} failed, and is in the log at {place}")
        elif one.outcome == ACKED and place is None:
            found.append(f"{one.key!r} {one.number} was acknowledged at {one.partition}:{one.offset} and is lost")
        elif one.outcome == ACKED and one.offset >= 0 and place != (one.partition, one.offset):
            found.append(f"{one.key!r} {one.number} was acknowledged at {one.partition}:{one.offset}, it is at {place}")
    return found + disorder(read)


def disorder(read: list[Read]) -> list[str]:
    """Offsets ascend in a partition, numbers in a key."""
    found = []
    offsets: dict[int, int] = {}
    numbers: dict[bytes, int] = {}
    for one in read:
        if one.offset <= offsets.get(one.partition, -1):
            found.append(f"partition {one.partition}: offset {one.offset} after {offsets[one.partition]}")
        if one.number <= numbers.get(one.key, -1):
            found.append(f"{one.key!r}: {one.number} after {numbers[one.key]}")
        offsets[one.partition], numbers[one.key] = one.offset, one.number
    return found


def count(sent: list[Sent]) -> dict[str, int]:
    """How many records ended how."""
    return dict(Counter(one.outcome for one in sent))
