"""What the members of a classic consumer group say to each other: subscriptions and assignments.

The broker carries these as opaque bytes, so every client may have written them. Nothing in here trusts a stranger:
a newer version is read by its known prefix, a malformed member is a member with nothing to say (E49).
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
    """What a member wants and, from v1, what it owns."""

    topics: list[str] = at(factory=list)
    user_data: bytes | None = at(null="0+", default=None)
    owned_partitions: list[TopicPartitions] = at("1+", ignorable=True, factory=list)
    generation_id: Int32 = at("2+", ignorable=True, default=-1)
    rack_id: str | None = at("3+", null="3+", ignorable=True, default=None)


class ConsumerProtocolAssignment(Message, versions="0-3"):
    """What a member is given."""

    assigned_partitions: list[TopicPartitions] = at(factory=list)
    user_data: bytes | None = at(null="0+", default=None)


class StickyUserData(Message, versions="0-1"):
    """The sticky assignor's user data: the member's last assignment, from v1 with its generation. It carries no
    version on the wire."""

    previous_assignment: list[TopicPartitions] = at(factory=list)
    generation: Int32 = at("1+", ignorable=True, default=-1)


class Subscription(Value):
    """A member as an assignor sees it. `generation` is -1 when the member did not tell."""

    topics: list[str] = field(factory=list)
    owned: list[TopicPartition] = field(factory=list)
    generation: int = NO_GENERATION
    rack: str | None = None
    instance_id: str | None = None
    user_data: bytes | None = None


def encode_subscription(subscription: Subscription) -> bytes:
    """The bytes a JoinGroup carries for one assignor."""
    body = ConsumerProtocolSubscription(
        topics=sorted(subscription.topics),
        user_data=subscription.user_data,
        owned_partitions=_grouped(subscription.owned),
        generation_id=subscription.generation,
        rack_id=subscription.rack or None,
    )
    return _VERSION.pack(NEWEST) + b"".join(body.encode(NEWEST))


def decode_subscription(data: Buffer, instance_id: str | None = None) -> Subscription:
    """What a member sent. Never raises: of bytes that make no sense the longest known prefix counts, at worst
    nothing, and negative partitions and repeated topics are dropped."""
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
    """The version of a subscription, at most the newest one that is known here; None for bytes that are not a
    subscription."""
    if _tolerant(ConsumerProtocolSubscription, data) is None:
        return None
    version: int = _VERSION.unpack_from(data)[0]
    return max(0, min(version, NEWEST))


def encode_assignment(
    partitions: Iterable[TopicPartition], user_data: bytes | None = None, version: int = NEWEST
) -> bytes:
    """The bytes the leader's SyncGroup carries for one member."""
    body = ConsumerProtocolAssignment(assigned_partitions=_grouped(partitions), user_data=user_data)
    return _VERSION.pack(version) + b"".join(body.encode(version))


def decode_assignment(data: Buffer) -> set[TopicPartition]:
    """What the leader gave us; empty bytes are an empty assignment. Raises DecodeError: our own share may not be
    guessed."""
    if not len(data):
        return set()
    body = _tolerant(ConsumerProtocolAssignment, data)
    if body is None:
        raise DecodeError("the group's leader sent an assignment that cannot be read")
    return set(_flat(body.assigned_partitions))


def has_user_data(data: Buffer) -> bool:
    """Whether an assignment carries bytes of the assignor, which only its own members understand."""
    body = _tolerant(ConsumerProtocolAssignment, data)
    return body is not None and bool(body.user_data)


def encode_sticky(partitions: Iterable[TopicPartition], generation: int) -> bytes:
    """The sticky assignor's user data, v1."""
    return b"".join(StickyUserData(previous_assignment=_grouped(partitions), generation=generation).encode(1))


def decode_sticky(data: Buffer) -> tuple[list[TopicPartition], int | None]:
    """The last assignment and its generation: None when the member said none (v0), -1 when nothing could be read."""
    for version in (1, 0):
        try:
            body = StickyUserData.decode(version, data)
        except DecodeError:
            continue
        return _flat(body.previous_assignment), body.generation if version else None
    return [], NO_GENERATION


def encode_generation(generation: int) -> bytes:
    """The cooperative-sticky assignor's user data: the last generation the member was part of."""
    return _GENERATION.pack(generation)


def decode_generation(data: Buffer) -> int:
    """-1 when the bytes hold none."""
    generation: int = _GENERATION.unpack_from(data)[0] if len(data) >= 4 else NO_GENERATION
    return generation


if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T", ConsumerProtocolSubscription, ConsumerProtocolAssignment)


def _tolerant(message: type[T], data: Buffer) -> T | None:
    """`message` at the version the bytes name; what that version cannot read is tried as an older one, because
    there are clients that write a version and not its fields. None when not even v0 makes sense."""
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
    """Each partition once, in the order given."""
    return list(
        dict.fromkeys(
            TopicPartition(topic.topic, number) for topic in topics for number in topic.partitions if number >= 0
        )
    )
