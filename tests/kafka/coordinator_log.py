"""What the coordinator itself wrote down of a group: commits and owners, in the order in which they came to be.

Read from `__consumer_offsets` with librdkafka, a stranger to kcli. Times are seconds since the epoch.
"""

from __future__ import annotations

import time
from typing import NamedTuple, TypeVar

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Consumer, TopicPartition
from confluent_kafka import Message as Kept

from kcli.proto.consumer_protocol import decode_assignment
from kcli.proto.messages.consumer_group_heartbeat import TopicPartitions
from kcli.proto.schema import Int8, Int32, Int64, Message, Struct, at

M = TypeVar("M", bound=Message)
OFFSETS = "__consumer_offsets"
OFFSET_COMMIT, CLASSIC_GROUP, MEMBER, OWNED = 1, 2, 5, 8  # the kinds of key


class Commit(NamedTuple):
    """A position the group has; `offset` None when it was taken away. `note` is the metadata it came with."""

    time: float
    partition: int
    offset: int | None
    note: str = ""


class Owners(NamedTuple):
    """From here on these members own these partitions, named by their client ids; the others own nothing. `anew`: who
    keeps a partition has given it up meanwhile (eager members do, in every rebalance)."""

    time: float
    owners: dict[str, frozenset[int]]
    anew: bool


class GroupKey(Message, versions="0-1"):
    group: str = ""


class CommitKey(Message, versions="0-1"):
    group: str = ""
    topic: str = ""
    partition: Int32 = 0


class MemberKey(Message, versions="0-1"):
    group: str = ""
    member_id: str = ""


class CommitValue(Message, versions="0-4", flexible="4+"):
    offset: Int64 = 0
    leader_epoch: Int32 = at("3+", default=-1)
    metadata: str = ""
    commit_timestamp: Int64 = 0
    expire_timestamp: Int64 = at("1", default=-1)


class ClassicMember(Struct):
    member_id: str = ""
    group_instance_id: str | None = at("3+", null="3+", default=None)
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout: Int32 = at("1+", default=0)
    session_timeout: Int32 = 0
    subscription: bytes = b""
    assignment: bytes = b""


class ClassicValue(Message, versions="0-4", flexible="4+"):
    protocol_type: str = ""
    generation: Int32 = 0
    protocol: str | None = at(null="0+", default=None)
    leader: str | None = at(null="0+", default=None)
    current_state_timestamp: Int64 = at("2+", default=-1)
    members: list[ClassicMember] = at(factory=list)


class MemberValue(Message, versions="0-1", flexible="0+"):
    instance_id: str | None = at(null="0+", default=None)
    rack_id: str | None = at(null="0+", default=None)
    client_id: str = ""
    client_host: str = ""
    topics: list[str] = at(factory=list)
    pattern: str | None = at(null="0+", default=None)
    rebalance_timeout_ms: Int32 = -1
    server_assignor: str | None = at(null="0+", default=None)


class OwnedValue(Message, versions="0-1", flexible="0+"):
    member_epoch: Int32 = 0
    previous_epoch: Int32 = 0
    state: Int8 = 0
    assigned: list[TopicPartitions] = at(factory=list)
    pending_revocation: list[TopicPartitions] = at(factory=list)


def history(bootstrap: str, group: str, topic: str) -> list[Commit | Owners]:
    """Everything written down of the group about one topic (the only one it reads)."""
    found: list[Commit | Owners] = []
    names: dict[str, str] = {}  # of the members of a KIP-848 group
    owned: dict[str, frozenset[int]] = {}
    for message in _messages(bootstrap):
        kind, key = _split(message.key())
        when = message.timestamp()[1] / 1000
        assert message.timestamp()[0] != TIMESTAMP_NOT_AVAILABLE
        value = message.value()
        if kind == OFFSET_COMMIT:
            about = CommitKey.decode(0, key)
            if (about.group, about.topic) == (group, topic):
                kept = None if value is None else _read(CommitValue, value)
                offset, note = (None, "") if kept is None else (kept.offset, kept.metadata)
                found.append(Commit(when, about.partition, offset, note))
        elif kind == CLASSIC_GROUP and value is not None and GroupKey.decode(0, key).group == group:
            found.append(_classic(when, _read(ClassicValue, value)))
        elif kind in (MEMBER, OWNED) and (one := MemberKey.decode(0, key)).group == group:
            if kind == MEMBER and value is not None:
                names[one.member_id] = _read(MemberValue, value).client_id
            elif kind == OWNED:
                owned[names[one.member_id]] = frozenset() if value is None else _owned(_read(OwnedValue, value))
                found.append(Owners(when, dict(owned), anew=False))
    return found


def _classic(when: float, value: ClassicValue) -> Owners:
    owners = {
        one.client_id: frozenset(at.partition for at in decode_assignment(one.assignment)) for one in value.members
    }
    return Owners(when, owners, anew=value.protocol != "cooperative-sticky")


def _owned(value: OwnedValue) -> frozenset[int]:
    """A partition that is to be revoked is the member's until it says that it gave it up (KIP-848)."""
    return frozenset(n for share in (*value.assigned, *value.pending_revocation) for n in share.partitions)


def _split(key: bytes) -> tuple[int, bytes]:
    return int.from_bytes(key[:2], "big", signed=True), key[2:]


def _read(kind: type[M], value: bytes) -> M:
    version, body = _split(value)
    return kind.decode(version, body)


def _messages(bootstrap: str) -> list[Kept]:
    """All of the log, each partition in order: a group is in one of them."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "nobody", "enable.auto.commit": False})
    found: list[Kept] = []
    try:
        for number in consumer.list_topics(OFFSETS, timeout=10).topics[OFFSETS].partitions:
            place = TopicPartition(OFFSETS, number, 0)
            first, end = consumer.get_watermark_offsets(place, timeout=10)
            if first == end:
                continue
            consumer.assign([place])
            deadline = time.monotonic() + 30
            while consumer.position([place])[0].offset < end:
                assert time.monotonic() < deadline, f"{OFFSETS}[{number}] could not be read to its end, {end}"
                for message in consumer.consume(1000, 0.1):
                    assert message.error() is None, message.error()
                    found.append(message)
            consumer.unassign()
    finally:
        consumer.close()
    return found
