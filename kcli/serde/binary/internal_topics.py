"""Decodes Kafka's internal topics: committed offsets and groups (`__consumer_offsets`), transactions
(`__transaction_state`), the state of share groups (`__share_group_state`). All records begin with a version; in
`__consumer_offsets` and `__share_group_state` the version of the key determines the type of the record.

Sources: the messages of group-coordinator, transaction-coordinator and share-coordinator in Kafka 4.3.1.
"""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache

from kcli.errors import DecodeError, EncodeError
from kcli.proto.as_json import id_text
from kcli.proto.compile import Wire, fields_of
from kcli.proto.protobuf_code import camel
from kcli.proto.schema import NO_ID, Int8, Int16, Int32, Int64, Message, Struct, Uuid, at
from kcli.serde.binary import group_records as groups
from kcli.serde.schemas.payloads import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from kcli.serde.binary.formats import Read

    M = TypeVar("M", bound=Message)
    from typing import Any


class OffsetKey(Message, versions="0-1"):
    group: str = ""
    topic: str = ""
    partition: Int32 = 0


class GroupKey(Message, versions="2-23"):
    group: str = ""


class MemberKey(Message, versions="5-22"):
    group: str = ""
    member_id: str = ""


class RegularExpressionKey(Message, versions="16"):
    group: str = ""
    regular_expression: str = ""


class OffsetValue(Message, versions="0-4", flexible="4+"):
    offset: Int64 = -1
    leader_epoch: Int32 = at("3+", ignorable=True, default=-1)
    metadata: str = ""
    commit_timestamp: Int64 = -1
    expire_timestamp: Int64 = at("1", ignorable=True, default=-1)
    topic_id: Uuid = at("4+", tag=0, ignorable=True, default=NO_ID)


class GroupMember(Struct):
    member_id: str = ""
    group_instance_id: str | None = at("3+", null="3+", ignorable=True, default=None)
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout: Int32 = at("1+", ignorable=True, default=-1)
    session_timeout: Int32 = -1
    subscription: bytes = b""
    assignment: bytes = b""


class GroupValue(Message, versions="0-4", flexible="4+"):
    protocol_type: str = ""
    generation: Int32 = -1
    protocol: str | None = at(null="0+", default=None)
    leader: str | None = at(null="0+", default=None)
    current_state_timestamp: Int64 = at("2+", ignorable=True, default=-1)
    members: list[GroupMember] = at(factory=list)


RECORDS: dict[int, tuple[str, type[Message], type[Message]]] = {
    0: ("offset", OffsetKey, OffsetValue),
    1: ("offset", OffsetKey, OffsetValue),
    2: ("group", GroupKey, GroupValue),
    3: ("consumer-group", GroupKey, groups.EpochValue),
    4: ("consumer-group-partitions", GroupKey, groups.PartitionMetadataValue),
    5: ("consumer-group-member", MemberKey, groups.ConsumerMemberValue),
    6: ("consumer-group-target-assignment", GroupKey, groups.AssignmentEpochValue),
    7: ("consumer-group-target-assignment-member", MemberKey, groups.AssignmentValue),
    8: ("consumer-group-current-assignment", MemberKey, groups.ConsumerAssignmentValue),
    10: ("share-group-member", MemberKey, groups.ShareMemberValue),
    11: ("share-group", GroupKey, groups.ShareEpochValue),
    12: ("share-group-target-assignment", GroupKey, groups.AssignmentEpochValue),
    13: ("share-group-target-assignment-member", MemberKey, groups.AssignmentValue),
    14: ("share-group-current-assignment", MemberKey, groups.ShareAssignmentValue),
    15: ("share-group-state", GroupKey, groups.ShareStateValue),
    16: ("consumer-group-regular-expression", RegularExpressionKey, groups.RegularExpressionValue),
    17: ("streams-group", GroupKey, groups.StreamsEpochValue),
    19: ("streams-group-member", MemberKey, groups.StreamsMemberValue),
    20: ("streams-group-target-assignment", GroupKey, groups.AssignmentEpochValue),
    21: ("streams-group-target-assignment-member", MemberKey, groups.StreamsTargetValue),
    22: ("streams-group-current-assignment", MemberKey, groups.StreamsAssignmentValue),
    23: ("streams-group-topology", GroupKey, groups.TopologyValue),
}
"""Records of `__consumer_offsets` by the version of the key: name, key and value."""


class TransactionKey(Message, versions="0"):
    transactional_id: str = ""


class TransactionPartitions(Struct):
    topic: str = ""
    partition_ids: list[Int32] = at(factory=list)


class TransactionValue(Message, versions="0-1", flexible="1+"):
    producer_id: Int64 = -1
    previous_producer_id: Int64 = at("1+", tag=0, default=-1)
    next_producer_id: Int64 = at("1+", tag=1, default=-1)
    producer_epoch: Int16 = -1
    transaction_timeout_ms: Int32 = -1
    transaction_status: Int8 = -1
    transaction_partitions: list[TransactionPartitions] | None = at(null="0+", default=None)
    transaction_last_update_timestamp_ms: Int64 = -1
    transaction_start_timestamp_ms: Int64 = -1
    client_transaction_version: Int16 = at("1+", tag=2, default=0)


STATES = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)
"""States of a transaction, by number."""


class ShareKey(Message, versions="0-1"):
    group: str = ""
    topic_id: Uuid = NO_ID
    partition: Int32 = 0


class StateBatch(Struct):
    first_offset: Int64 = 0
    last_offset: Int64 = 0
    delivery_state: Int8 = 0
    delivery_count: Int16 = 0


class ShareSnapshotValue(Message, versions="0", flexible="0+"):
    snapshot_epoch: Int32 = 0
    state_epoch: Int32 = 0
    leader_epoch: Int32 = 0
    start_offset: Int64 = 0
    delivery_complete_count: Int32 = at(tag=0, default=-1)
    create_timestamp: Int64 = 0
    write_timestamp: Int64 = 0
    state_batches: list[StateBatch] = at(factory=list)


class ShareUpdateValue(Message, versions="0", flexible="0+"):
    snapshot_epoch: Int32 = 0
    leader_epoch: Int32 = 0
    start_offset: Int64 = 0
    delivery_complete_count: Int32 = at(tag=0, default=-1)
    state_batches: list[StateBatch] = at(factory=list)


SHARE_RECORDS: dict[int, tuple[str, type[ShareSnapshotValue | ShareUpdateValue]]] = {
    0: ("share-snapshot", ShareSnapshotValue),
    1: ("share-update", ShareUpdateValue),
}
"""Records of `__share_group_state` by the version of the key."""
DELIVERY_STATES = {0: "Available", 2: "Acknowledged", 4: "Archived"}


def read_share_state(kind: str) -> Read:
    """Return a reader of the keys, or the values, of `__share_group_state`."""

    def read(data: bytes, key: bytes | None, topic: str) -> bytes:
        version = version_of(data if kind == "key" else key)
        if version not in SHARE_RECORDS:
            raise Unreadable(f"a key of the version {version} is of no record that kcli knows")
        name, of_value = SHARE_RECORDS[version]
        if kind == "key":
            return json_of(body(ShareKey, data), type=name)
        value = body(of_value, data)
        batches = [
            {
                "firstOffset": batch.first_offset,
                "lastOffset": batch.last_offset,
                "deliveryState": DELIVERY_STATES.get(batch.delivery_state, batch.delivery_state),
                "deliveryCount": batch.delivery_count,
            }
            for batch in value.state_batches
        ]
        return json_of(value, state_batches=batches)

    return read


def read_offsets(kind: str) -> Read:
    """Return a reader of the keys, or the values, of `__consumer_offsets`."""

    def read(data: bytes, key: bytes | None, topic: str) -> bytes:
        version = version_of(data if kind == "key" else key)
        if version not in RECORDS:
            raise Unreadable(f"a key of the version {version} is of no record that kcli knows")
        name, of_key, of_value = RECORDS[version]
        return json_of(body(of_key, data), type=name) if kind == "key" else json_of(body(of_value, data))

    return read


def read_transactions(kind: str) -> Read:
    """Return a reader of the keys, or the values, of `__transaction_state`."""

    def read(data: bytes, key: bytes | None, topic: str) -> bytes:
        if kind == "key":
            return json_of(body(TransactionKey, data))
        value = body(TransactionValue, data)
        status = value.transaction_status
        return json_of(value, transaction_status=STATES[status] if 0 <= status < len(STATES) else status)

    return read


def version_of(data: bytes | None) -> int:
    """Return the leading version. Raises Unreadable."""
    if data is None or len(data) < 2:
        raise Unreadable("it has no version in front")
    return int.from_bytes(data[:2], "big", signed=True)


def body(type: type[M], data: bytes) -> M:
    """Decode the message after its version. Raises Unreadable."""
    version = version_of(data)
    try:
        return type.decode(version, data[2:])
    except (DecodeError, EncodeError, IndexError) as problem:
        raise Unreadable(f"it is no {type.__name__} of version {version}: {problem}") from None


# Kafka messages as JSON: fields in camel case, bytes as `{"base64": …}`, ids in Kafka's form, and null for none.


def json_of(message: Struct, **changed: object) -> bytes:
    """Return the fields, replaced or extended by `changed`."""
    text = json.dumps(_fields(message, changed), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def _fields(message: Struct, changed: dict[str, object]) -> dict[str, Any]:
    fields = {field.name: _plain(getattr(message, field.name), wire) for field, wire in _wires(type(message))}
    return {camel(name): value for name, value in {**fields, **changed}.items()}


_wires = cache(fields_of)


def _plain(value: Any, wire: Wire) -> Any:
    if isinstance(value, Struct):
        return _fields(value, {})
    if isinstance(value, list | tuple):
        return [_plain(item, wire.element or wire) for item in value]
    if wire.kind == "Uuid":
        return None if value == NO_ID else id_text(value)
    return {"base64": b64encode(value).decode()} if isinstance(value, bytes | bytearray | memoryview) else value
