"""Subscriptions and assignments that members of a classic consumer group exchange.

Brokers pass them on as opaque bytes, and any client may have written them, so they are not trusted: of a newer version
the known prefix is read, and a malformed subscription counts as empty.
"""

from __future__ import annotations

from struct import Struct as Layout

from kcli.errors import DecodeError
from kcli.model import TopicPartition
from kcli.proto.schema import Int32, Message, Struct, at
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.proto.buffer import Buffer

    M = type["ConsumerProtocolSubscription"] | type["ConsumerProtocolAssignment"] | type["StickyUserData"]

PROTOCOL_TYPE = "consumer"
NEWEST = 3
NO_GENERATION = -1
_VERSION = Layout(">h")
_GENERATION = Layout(">i")


class TopicPartitions(Struct):
    topic: str = ""
    partitions: list[Int32] = at(factory=list)


class ConsumerProtocolSubscription(Message, versions="0-3"):
    """The subscription of a member and, from v1, its owned partitions."""

    topics: list[str] = at(factory=list)
    user_data: bytes | None = at(null="0+", default=None)
    owned_partitions: list[TopicPartitions] = at("1+", ignorable=True, factory=list)
    generation_id: Int32 = at("2+", ignorable=True, default=-1)
    rack_id: str | None = at("3+", null="3+", ignorable=True, default=None)


class ConsumerProtocolAssignment(Message, versions="0-3"):
    """The assignment of a member."""

    assigned_partitions: list[TopicPartitions] = at(factory=list)
    user_data: bytes | None = at(null="0+", default=None)


class StickyUserData(Message, versions="0-1"):
    """The sticky assignor's user data: the member's last assignment, from v1 with its generation. It has no version on
    the wire."""

    previous_assignment: list[TopicPartitions] = at(factory=list)
    generation: Int32 = at("1+", ignorable=True, default=-1)


class Subscription(Value):
    """A member as seen by an assignor. `generation` is -1 if the member did not report it."""

    topics: list[str] = field(factory=list)
    owned: list[TopicPartition] = field(factory=list)
    generation: int = NO_GENERATION
    rack: str | None = None
    instance_id: str | None = None
    user_data: bytes | None = None


def encode_subscription(subscription: Subscription) -> bytes:
    """Return the bytes in a JoinGroup for one assignor."""
    body = ConsumerProtocolSubscription(
        topics=sorted(subscription.topics),
        user_data=subscription.user_data,
        owned_partitions=_grouped(subscription.owned),
        generation_id=subscription.generation,
        rack_id=subscription.rack or None,
    )
    return _VERSION.pack(NEWEST) + b"".join(body.encode(NEWEST))


def decode_subscription(data: Buffer, instance_id: str | None = None) -> Subscription:
    """Parse a member's subscription. Never raises: of invalid bytes the longest known prefix counts, if any; negative
    partitions and repeated topics are dropped."""
    body = _tolerant(ConsumerProtocolSubscription, data)
    if body is None:
        return Subscription(instance_id=instance_id)
    return Subscription(
        topics=list(dict.fromkeys(body.topics)),
        owned=_flat(body.owned_partitions),
        generation=max(body.generation_id, NO_GENERATION),
        rack=body.rack_id or None,
        instance_id=instance_id,
        user_data=body.user_data,
    )


def version_of(data: Buffer) -> int | None:
    """Return the version of a subscription, at most the newest known one; None for bytes that are not a
    subscription."""
    if _tolerant(ConsumerProtocolSubscription, data) is None:
        return None
    version: int = _VERSION.unpack_from(data)[0]
    return max(0, min(version, NEWEST))


def encode_assignment(
    partitions: Iterable[TopicPartition], user_data: bytes | None = None, version: int = NEWEST
) -> bytes:
    """Return the bytes in the leader's SyncGroup for one member."""
    body = ConsumerProtocolAssignment(assigned_partitions=_grouped(partitions), user_data=user_data)
    return _VERSION.pack(version) + b"".join(body.encode(version))


def decode_assignment(data: Buffer) -> set[TopicPartition]:
    """Parse our assignment; empty bytes are an empty assignment. Raises DecodeError, because our own partitions must
    not be guessed."""
    if not len(data):
        return set()
    body = _tolerant(ConsumerProtocolAssignment, data)
    if body is None:
        raise DecodeError("the group's leader sent an assignment that cannot be read")
    return set(_flat(body.assigned_partitions))


def has_user_data(data: Buffer) -> bool:
    """Whether an assignment has user data of the assignor, which only its own members understand."""
    body = _tolerant(ConsumerProtocolAssignment, data)
    return body is not None and bool(body.user_data)


def encode_sticky(partitions: Iterable[TopicPartition], generation: int) -> bytes:
    """The sticky assignor's user data, v1."""
    return b"".join(StickyUserData(previous_assignment=_grouped(partitions), generation=generation).encode(1))


def decode_sticky(data: Buffer) -> tuple[list[TopicPartition], int | None]:
    """Return the last assignment and its generation: None if not included (v0), -1 if nothing could be read."""
    for version in (1, 0):
        try:
            body = StickyUserData.decode(version, data)
        except DecodeError:
            continue
        return _flat(body.previous_assignment), body.generation if version else None
    return [], NO_GENERATION


def encode_generation(generation: int) -> bytes:
    """Return the cooperative-sticky assignor's user data: the last generation of which the member was part."""
    return _GENERATION.pack(generation)


def decode_generation(data: Buffer) -> int:
    """Return -1 if the bytes contain none."""
    generation: int = _GENERATION.unpack_from(data)[0] if len(data) >= 4 else NO_GENERATION
    return generation


if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T", ConsumerProtocolSubscription, ConsumerProtocolAssignment)


def _tolerant(message: type[T], data: Buffer) -> T | None:
    """Parse `message` in the version of the bytes, or else in an older one, because some clients write a version
    without its fields. None if even v0 is invalid."""
    if len(data) < 2:
        return None
    body = memoryview(data)[2:]
    for version in range(min(_VERSION.unpack_from(data)[0], NEWEST), -1, -1):
        try:
            return message.decode(version, body)
        except DecodeError:
            continue
    return None


def _grouped(partitions: Iterable[TopicPartition]) -> list[TopicPartitions]:
    topics: dict[str, list[int]] = {}
    for at_ in sorted(partitions):
        topics.setdefault(at_.topic, []).append(at_.partition)
    return [TopicPartitions(topic=topic, partitions=numbers) for topic, numbers in topics.items()]


def _flat(topics: Iterable[TopicPartitions]) -> list[TopicPartition]:
    """Return each partition once, in the order given."""
    return list(
        dict.fromkeys(
            TopicPartition(topic.topic, number) for topic in topics for number in topic.partitions if number >= 0
        )
    )
