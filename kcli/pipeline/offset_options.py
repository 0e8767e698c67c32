"""Where reading starts and ends, as the options say it: earliest, latest, a time, or JSON per partition."""

from __future__ import annotations

from collections.abc import Mapping

from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.pipeline.pickling import Carried

Offsets = Mapping[TopicPartition, int]

LATEST, EARLIEST = -1, -2
KEY = "@kcli"
"""Under which a stream's offsets say whose they are: no topic can be named so."""


class Places(Carried):
    """`kind` is earliest, latest, offsets (`each`: -1 latest, -2 earliest), time (ms, for all) or times (`each`).
    With `strict` a time after the last record is an error, else it is the end."""

    kind: str = "earliest"
    each: tuple[tuple[TopicPartition, int], ...] = ()
    time: int = 0
    strict: bool = False


def places_of(text: str, option: str) -> Places:
    """startingOffsets or endingOffsets. Raises UsageError."""
    if text.lower() in ("earliest", "latest"):
        return Places(kind=text.lower())
    offsets = from_json(text, option)
    bad = next((at for at, offset in offsets.items() if offset < EARLIEST), None)
    if bad is not None:
        raise UsageError(f"option {option}: {offsets[bad]} is not an offset of {bad.topic}[{bad.partition}]")
    return Places(kind="offsets", each=tuple(offsets.items()))


def timestamps_of(text: str, option: str) -> tuple[tuple[TopicPartition, int], ...]:
    """JSON of times in ms per partition. Raises UsageError."""
    times = from_json(text, option)
    bad = next((at for at, time in times.items() if time < 0), None)
    if bad is not None:
        raise UsageError(f"option {option}: {times[bad]} is not a time of {bad.topic}[{bad.partition}] (ms since 1970)")
    return tuple(times.items())


def from_json(text: str, option: str) -> dict[TopicPartition, int]:
    """`{"orders":{"0":123}}`. Raises UsageError."""
    import json

    try:
        found = json.loads(text)
        return {
            TopicPartition(str(topic), int(partition)): _whole(value)
            for topic, parts in found.items()
            if not topic.startswith("@")  # no topic: what a checkpoint says besides offsets
            for partition, value in parts.items()
        }
    except (ValueError, TypeError, AttributeError):
        raise UsageError(
            f'option {option} {text}: expected earliest, latest, or JSON such as {{"orders":{{"0":23,"1":-2}}}}'
        ) from None


def to_json(offsets: Offsets) -> dict[str, dict[str, int]]:
    """As Spark's Kafka source writes offsets into a checkpoint: `{"orders": {"0": 123}}`, in order."""
    made: dict[str, dict[str, int]] = {}
    for at in sorted(offsets):
        made.setdefault(at.topic, {})[str(at.partition)] = offsets[at]
    return made


def from_offsets(found: Mapping[str, Mapping[str, int]]) -> dict[TopicPartition, int]:
    """What `to_json` made, or a stream's offset, which says besides whose offsets they are."""
    return {
        TopicPartition(topic, int(part)): int(at)
        for topic, parts in found.items()
        if not topic.startswith("@")
        for part, at in parts.items()
    }


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(value)
    return value
