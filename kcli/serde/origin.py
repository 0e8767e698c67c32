"""The origin of dead letters, from the headers that frameworks add.

If a record has several such headers because it was moved several times, the first one is the origin.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NamedTuple

    Headers = Sequence[tuple[str, bytes | None]]

    class Family(NamedTuple):
        """The headers of one framework: original topic and partition, and the common prefix of headers about the error.
        `offset` is the header of the original offset, for dead letters without the record itself."""

        name: str
        topic: str
        partition: str
        prefixes: tuple[str, ...]
        offset: str = ""
else:
    Family = namedtuple("Family", "name topic partition prefixes offset", defaults=("",))

SHARE_GROUPS = Family(
    "share groups", "__dlq.errors.topic", "__dlq.errors.partition", ("__dlq.errors.",), "__dlq.errors.offset"
)
"""Kafka's own (KIP-1191): by default brokers write only the location of the record, optionally key and value."""
FAMILIES = (
    Family("Kafka Connect", "__connect.errors.topic", "__connect.errors.partition", ("__connect.errors.",)),
    Family("Kafka Streams", "__streams.errors.topic", "__streams.errors.partition", ("__streams.errors.",)),
    Family("Spring", "kafka_dlt-original-topic", "kafka_dlt-original-partition", ("kafka_dlt-", "retry_topic-")),
    Family("Spring Cloud Stream", "x-original-topic", "x-original-partition", ("x-original-", "x-exception-")),
    Family("SmallRye", "dead-letter-topic", "dead-letter-partition", ("dead-letter-",)),
    SHARE_GROUPS,
)
ATTEMPTS = "kcli-redrive-attempts"


class Origins:
    """Finds origins by the families' headers, and first by those of the command line."""

    def __init__(self, topics: Sequence[str] = (), partitions: Sequence[str] = ()) -> None:
        self._topics = (*topics, *(family.topic for family in FAMILIES))
        self._partitions = (*partitions, *(family.partition for family in FAMILIES))
        self._own = frozenset((*topics, *partitions))

    def of(self, headers: Headers) -> tuple[str, int | None] | None:
        """Return the topic and, if a header has it, the partition; None without a header for the topic."""
        topic = _first(headers, self._topics)
        if not topic:
            return None
        return topic.decode("utf-8", "backslashreplace"), _number(_first(headers, self._partitions))

    def cleaned(self, headers: Headers) -> list[tuple[str, bytes | None]]:
        """The headers without those that tell of the error, as the record had them at first."""
        names = {name for name, _ in headers}
        prefixes = tuple(prefix for family in FAMILIES if family.topic in names for prefix in family.prefixes)
        return [
            pair for pair in headers if pair[0] not in self._own and not (prefixes and pair[0].startswith(prefixes))
        ]


def original_of(headers: Headers) -> tuple[str, int, int] | None:
    """Topic, partition and offset of the record that a share group's dead letter is about; None without all three."""
    topic = _first(headers, (SHARE_GROUPS.topic,))
    partition, offset = (_number(_first(headers, (name,))) for name in (SHARE_GROUPS.partition, SHARE_GROUPS.offset))
    if not topic or partition is None or offset is None:
        return None
    return topic.decode("utf-8", "backslashreplace"), partition, offset


def attempts_of(headers: Headers) -> int:
    """How often the record was driven back before."""
    text = _first(headers, (ATTEMPTS,)) or b""
    return int(text) if text.isdigit() and len(text) < 10 else 0


def with_attempts(headers: Headers, attempts: int) -> list[tuple[str, bytes | None]]:
    return [*(pair for pair in headers if pair[0] != ATTEMPTS), (ATTEMPTS, b"%d" % attempts)]


def _first(headers: Headers, names: Sequence[str]) -> bytes | None:
    """The first value of the first name that is there."""
    for wanted in names:
        for name, value in headers:
            if name == wanted and value is not None:
                return value
    return None


def _number(data: bytes | None) -> int | None:
    """Digits (Connect, Streams, SmallRye), or a big-endian int32 or int64 (Spring)."""
    if not data:
        return None
    if data.isdigit() and len(data) < 20:
        return int(data)
    if len(data) in (4, 8):
        number = int.from_bytes(data, "big", signed=True)
        return number if number >= 0 else None
    return None
