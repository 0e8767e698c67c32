"""Keys and values of known forms without a schema: numbers, CBOR, Protobuf by its numbers, Kafka's own topics."""

from __future__ import annotations

import asyncio
import json
import struct
import sys
import time
import uuid
from typing import Any

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.errors import UsageError
from kcli.proto.batch import read_batches
from kcli.serde.binary.formats import FormatDecoder
from kcli.serde.binary.group_records import ClassicMemberMetadata, ClassicProtocol, ConsumerMemberValue
from kcli.serde.binary.internal_topics import (
    GroupMember,
    GroupValue,
    OffsetKey,
    OffsetValue,
    ShareKey,
    ShareSnapshotValue,
    ShareUpdateValue,
    StateBatch,
    TransactionKey,
    TransactionPartitions,
    TransactionValue,
)
from kcli.serde.formats import reader_of_format
from kcli.serde.schemas.decoder import SchemaDecoder
from kcli.serde.schemas.payloads import Unreadable
from tests.each import each
from tests.proto.record_cores import CORES, built
from tests.serde.protobuf.samples import OLD, ORDER, RANDOM, messages

SECONDS = 5.0  # of CPU, for what must take milliseconds
ID = uuid.UUID("123e4567-e89b-12d3-a456-426614174000")


def read(name: str, data: bytes) -> Any:
    return json.loads(reader_of_format(name).json(data))


@each(
    ("name", "data", "shown"),
    [
        ("int8", b"\xff", -1),
        ("uint8", b"\xff", 255),
        ("int16", b"\x80\0", -(2**15)),
        ("uint16", b"\x80\0", 2**15),
        ("int32", b"\0\0\1\0", 256),
        ("uint32", b"\xff" * 4, 2**32 - 1),
        ("int64", (-7).to_bytes(8, "big", signed=True), -7),
        ("uint64", b"\xff" * 8, 2**64 - 1),
        ("float", struct.pack(">f", 0.1), 0.1),
        ("double", struct.pack(">d", 0.1), 0.1),
        ("double", struct.pack(">d", float("inf")), "Infinity"),
        ("uuid", ID.bytes, str(ID)),
    ],
)
def test_numbers(name: str, data: bytes, shown: Any) -> None:
    assert read(name, data) == shown
    for wrong in (b"", data[:-1], data + b"\0"):
        with pytest.raises(Unreadable, match=f"{name} has {len(data)}"):
            read(name, wrong)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    )
)  # fmt: skip
def test_cbor_is_the_json_that_it_was_made_of(value: Any) -> None:
    data = cbor2.dumps(value)
    if not any(tag in data for tag in (b"\xd8\x1c", b"\xd8\x1d", b"\xd9\x01\x00", b"\xd8\x19")):
        assert read("cbor", data) == value


@each(
    ("data", "shown"),
    [
        (bytes.fromhex("a201020304"), {"1": 2, "3": 4}),
        (bytes.fromhex("42000f"), {"base64": "AA8="}),
        (bytes.fromhex("c11a514b67b0"), "2013-03-21T20:04:00+00:00"),
        (bytes.fromhex("f97e00"), "NaN"),
        (bytes.fromhex("f7"), None),
        (bytes.fromhex("d9d9f7820102"), [1, 2]),
    ],
)
def test_what_json_does_not_have(data: bytes, shown: Any) -> None:
    assert read("cbor", data) == shown


@each(
    "data",
    [
        b"", b"\x81", b"\xff", b"\x01\x01", b"\x9b" + b"\xff" * 8, b"\x5b" + b"\x7f" * 8, b"\x81" * 100_000,
        b"\x81" * 300 + b"\1", b"\xd8\x1c\x81\xd8\x1d\0", b"\x62\xc3\x28", b"\xa1\x80",
    ],
    ids=lambda data: data[:4].hex(),
)  # fmt: skip
def test_cbor_that_is_refused_at_once(data: bytes) -> None:
    began = time.process_time()
    with pytest.raises(Unreadable):
        read("cbor", data)
    assert time.process_time() - began < SECONDS


def test_cbor_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cbor2", None)
    with pytest.raises(UsageError, match=r"pip install 'kcli-kafka\[cbor\]'"):
        reader_of_format("cbor")


def test_protobuf_by_its_numbers() -> None:
    data = b"\x08\7\x12\2hi\x1a\4\x0a\2ab\x08\x09\x25\1\0\0\0\x2a\2\xff\xfe\x33\x08\1\x34"
    assert read("protobuf-raw", data) == {
        "1": [7, 9], "2": "hi", "3": {"1": "ab"}, "4": 1, "5": {"base64": "//4="}, "6": {"1": 1},
    }  # fmt: skip
    assert read("protobuf-raw", b"") == {}


@pytest.mark.slow
@each("name", ["shop.Order", "old.shop.Item"])
@given(st.data())
@RANDOM
def test_any_message_is_read_without_its_schema(name: str, data: st.DataObject) -> None:
    message = data.draw(messages(name, ORDER if name == "shop.Order" else OLD))
    numbers = {str(field.number) for field, _ in message.ListFields()}
    assert set(read("protobuf-raw", message.SerializeToString())) == numbers


@each(
    "data",
    [b"\x08", b"\0", b"\x0f", b"\x33\x08\1", b"\x34", b"\x12\x05a", b"\x08" + b"\xff" * 11, b"\x33" * 200_000],
    ids=lambda data: data[:4].hex(),
)
def test_what_is_no_protobuf(data: bytes) -> None:
    began = time.process_time()
    with pytest.raises(Unreadable):
        read("protobuf-raw", data)
    assert time.process_time() - began < SECONDS


def test_messages_within_messages_take_no_more_than_linear_time() -> None:
    data = b""
    for _ in range(20_000):
        size, length = len(data), bytearray()
        while size > 127:
            length.append(size & 127 | 128)
            size >>= 7
        data = b"\x0a" + bytes([*length, size]) + data
    began = time.process_time()
    with pytest.raises(Unreadable):
        read("protobuf-raw", data + b"\0")
    read("protobuf-raw", data)
    assert time.process_time() - began < SECONDS


def versioned(version: int, message: Any, of: int | None = None) -> bytes:
    return version.to_bytes(2, "big") + b"".join(message.encode(version if of is None else of))


def decoded(format: str, rows: list[tuple[bytes | None, bytes | None]], topic: str = "t") -> list[list[Any]]:
    fields = [FormatDecoder(kind, format) for kind in ("key", "value")]
    batch = read_batches(built(CORES[-1], [(0, key, value, ()) for key, value in rows]))[0]
    made = asyncio.run(SchemaDecoder(fields).batch(batch, topic, 0))
    return [[None if one is None else json.loads(one) for one in (record.key, record.value)] for record in made]


def test_committed_offsets_and_groups() -> None:
    key = versioned(1, OffsetKey(group="g", topic="t", partition=3))
    values = [
        versioned(n, OffsetValue(offset=7, metadata="m", commit_timestamp=5, leader_epoch=2 if n > 2 else -1))
        for n in range(5)
    ]
    group = (2).to_bytes(2, "big") + b"\0\1g"
    member = GroupMember(member_id="m", client_id="c", client_host="/h", subscription=b"s", assignment=b"a")
    for version in range(5):
        state = versioned(version, GroupValue(protocol_type="consumer", generation=4, members=[member]))
        ((shown_key, shown),) = decoded("consumer-offsets", [(group, state)])
        assert shown_key == {"group": "g", "type": "group"}
        assert (shown["generation"], shown["members"][0]["memberId"]) == (4, "m")
        assert shown["members"][0]["assignment"] == {"base64": "YQ=="}
    for version, (shown_key, shown) in enumerate(decoded("consumer-offsets", [(key, value) for value in values])):
        assert shown_key == {"group": "g", "topic": "t", "partition": 3, "type": "offset"}
        assert (shown["offset"], shown["metadata"], shown["leaderEpoch"]) == (7, "m", 2 if version > 2 else -1)
    assert decoded("consumer-offsets", [(key, None)])[0][1] is None


RECORDED = [
    (
        "00030010742d3334316235376533653463652d63",
        "000000000002010008d497cf65476112b8",
        "consumer-group",
        {"epoch": 2, "metadataHash": -3127803382289329480},
    ),
    (
        "00050010742d3334316235376533653463652d72001644516a37574a474c53514f4a566c496b44316c566341",
        "000000000c6b636c692d383939372d310b2f3132372e302e302e3101165c7e745c2d3334316235376533653463655c2e2e2a0000ea600001000100",
        "consumer-group-member",
        {
            "instanceId": None,
            "rackId": None,
            "clientId": "kcli-8997-1",
            "clientHost": "/127.0.0.1",
            "subscribedTopicNames": [],
            "subscribedTopicRegex": "\\~t\\-341b57e3e4ce\\..*",
            "rebalanceTimeoutMs": 60000,
            "serverAssignor": None,
            "classicMemberMetadata": None,
        },
    ),
    (
        "00060010742d3334316235376533653463652d63",
        "000000000002010008000001a20e490af1",
        "consumer-group-target-assignment",
        {"assignmentEpoch": 2, "assignmentTimestamp": 1795535997681},
    ),
    (
        "00070010742d3334316235376533653463652d630016544f3777452d71385361434b684b5178735147735241",
        "000002ae19ec092a3d4a66875619fa784f54a10300000000000000010000",
        "consumer-group-target-assignment-member",
        {"topicPartitions": [{"topicId": "rhnsCSo9SmaHVhn6eE9UoQ", "partitions": [0, 1]}]},
    ),
    (
        "00080010742d3334316235376533653463652d630016544f3777452d71385361434b684b5178735147735241",
        "000000000002000000000002ae19ec092a3d4a66875619fa784f54a10300000000000000010100090300000002000000020100",
        "consumer-group-current-assignment",
        {
            "memberEpoch": 2,
            "previousMemberEpoch": 0,
            "state": 0,
            "assignedPartitions": [
                {"topicId": "rhnsCSo9SmaHVhn6eE9UoQ", "partitions": [0, 1], "assignmentEpochs": [2, 2]}
            ],
            "partitionsPendingRevocation": [],
        },
    ),
    (
        "000e0010742d3334316235376533653463652d73001647786c4b634a4849543053596e6a5f716a4c33546751",
        "000000000003000000020002ae19ec092a3d4a66875619fa784f54a10300000000000000010000",
        "share-group-current-assignment",
        {
            "memberEpoch": 3,
            "previousMemberEpoch": 2,
            "state": 0,
            "assignedPartitions": [{"topicId": "rhnsCSo9SmaHVhn6eE9UoQ", "partitions": [0, 1]}],
        },
    ),
    (
        "000f0010742d3334316235376533653463652d73",
        "000002ae19ec092a3d4a66875619fa784f54a10f742d33343162353765336534636503000000000000000100010100",
        "share-group-state",
        {
            "initializingTopics": [
                {"topicId": "rhnsCSo9SmaHVhn6eE9UoQ", "topicName": "t-341b57e3e4ce", "partitions": [0, 1]}
            ],
            "initializedTopics": [],
            "deletingTopics": [],
        },
    ),
    (
        "00100010742d3334316235376533653463652d7200155c7e745c2d3334316235376533653463655c2e2e2a",
        "0000010000000000000021000001a20e49102900",
        "consumer-group-regular-expression",
        {"topics": [], "version": 33, "timestamp": 1795535999017},
    ),
    (
        "00110010742d3334316235376533653463652d74",
        "000000000003fbb72e894191daea02000400000000011902156e756d2e7374616e6462792e7265706c69636173023000",
        "streams-group",
        {
            "epoch": 3,
            "metadataHash": -308726882406114582,
            "validatedTopologyEpoch": 0,
            "lastAssignmentConfigs": [{"key": "num.standby.replicas", "value": "0"}],
        },
    ),
    (
        "00160010742d3334316235376533653463652d74002462663431633366632d653733392d343030332d393537622d376333356535303435653235",
        "00000000000300000001010302300300000000000000010100090300000003000000030231030000000000000001010009030000000300000003010101010100",
        "streams-group-current-assignment",
        {
            "memberEpoch": 3,
            "previousMemberEpoch": 1,
            "state": 1,
            "activeTasks": [
                {"subtopologyId": "0", "partitions": [0, 1], "assignmentEpochs": [3, 3]},
                {"subtopologyId": "1", "partitions": [0, 1], "assignmentEpochs": [3, 3]},
            ],
            "standbyTasks": [],
            "warmupTasks": [],
            "activeTasksPendingRevocation": [],
            "standbyTasksPendingRevocation": [],
            "warmupTasksPendingRevocation": [],
        },
    ),
]
"""Records that Kafka 4.3.1 wrote: key, value, what it is, and the value as Kafka's own classes show it."""


@each(("key", "value", "kind", "shown"), RECORDED)
def test_records_of_groups_of_all_protocols(key: str, value: str, kind: str, shown: Any) -> None:
    keyed, stored = bytes.fromhex(key), bytes.fromhex(value)
    ((found_key, found),) = decoded("consumer-offsets", [(keyed, stored)])
    assert (found_key["type"], found) == (kind, shown)
    field = FormatDecoder("value", "consumer-offsets")
    for size in range(len(stored)):
        with pytest.raises(Unreadable):
            field._read(stored[:size], keyed, "t")


def test_a_member_that_moves_from_the_classic_protocol_keeps_what_it_said() -> None:
    """A tagged field that may be null has a byte in front: 1, or 0 for null."""
    said = ClassicMemberMetadata(
        session_timeout_ms=5, supported_protocols=[ClassicProtocol(name="range", metadata=b"x")]
    )
    for value, shown in (
        (said, {"sessionTimeoutMs": 5, "supportedProtocols": [{"name": "range", "metadata": {"base64": "eA=="}}]}),
        (None, None),
    ):
        stored = versioned(0, ConsumerMemberValue(client_id="c", classic_member_metadata=value))
        assert stored.count(b"\0\x10\1\0\0\0\5") == (1 if value else 0)
        ((_, found),) = decoded("consumer-offsets", [(b"\0\5\0\1g\0\1m", stored)])
        assert (found["clientId"], found["classicMemberMetadata"]) == ("c", shown)


def test_members_of_the_new_protocol_have_keys() -> None:
    field = FormatDecoder("key", "consumer-offsets")
    assert field._read((5).to_bytes(2, "big") + b"\0\1g\0\2id", None, "t") == (
        b'{"group":"g","memberId":"id","type":"consumer-group-member"}'
    )
    for wrong in (b"", b"\0", b"\0\x63", b"\0\1\0\5g", (5).to_bytes(2, "big")):
        with pytest.raises(Unreadable):
            field._read(wrong, None, "t")


def test_the_state_of_share_groups() -> None:
    """Bytes by hand: the tagged count is behind the fields (KIP-482)."""
    batches = [StateBatch(first_offset=5, last_offset=7, delivery_state=2, delivery_count=1)]
    shown = {"firstOffset": 5, "lastOffset": 7, "deliveryState": "Acknowledged", "deliveryCount": 1}
    snapshot = ShareSnapshotValue(start_offset=5, delivery_complete_count=3, state_batches=batches)
    update = ShareUpdateValue(snapshot_epoch=1, start_offset=-1, state_batches=batches)
    topic_id = bytes(range(16))
    pairs: list[tuple[bytes | None, bytes | None]] = [
        (versioned(version, ShareKey(group="s", topic_id=topic_id, partition=2)), versioned(0, value))
        for version, value in ((0, snapshot), (1, update))
    ]
    (first_key, first), (second_key, second) = decoded("share-group-state", pairs)
    assert first_key == {"group": "s", "topicId": "AAECAwQFBgcICQoLDA0ODw", "partition": 2, "type": "share-snapshot"}
    assert second_key["type"] == "share-update"
    assert (first["startOffset"], first["deliveryCompleteCount"], first["stateBatches"]) == (5, 3, [shown])
    assert (second["snapshotEpoch"], second["startOffset"], second["stateBatches"]) == (1, -1, [shown])
    data = versioned(0, snapshot)[2:]
    assert data == bytes(19) + b"\5" + bytes(16) + b"\2" + bytes(7) + b"\5" + bytes(7) + b"\7\2\0\1\0\1\0\4\0\0\0\3"
    field = FormatDecoder("key", "share-group-state")
    with pytest.raises(Unreadable):
        field._read(b"\0\2\0\1s", None, "__share_group_state")


def test_transactions() -> None:
    parts = [TransactionPartitions(topic="t", partition_ids=[0, 2])]
    for version in (0, 1):
        value = TransactionValue(producer_id=9, producer_epoch=1, transaction_status=4, transaction_partitions=parts)
        key = versioned(0, TransactionKey(transactional_id="tx"))
        ((shown_key, shown),) = decoded("transaction-state", [(key, versioned(version, value))])
        assert shown_key == {"transactionalId": "tx"}
        assert (shown["producerId"], shown["transactionStatus"]) == (9, "CompleteCommit")
        assert shown["transactionPartitions"] == [{"topic": "t", "partitionIds": [0, 2]}]


@each(
    ("topic", "key", "value", "shown"),
    [
        ("heartbeats", b"\0\1a\0\1b", b"\0\0" + (5).to_bytes(8, "big"), {"timestamp": 5}),
        (
            "a.checkpoints.internal", b"\0\1g\0\1t\0\0\0\1", b"\0\0" + bytes(7) + b"\1" + bytes(7) + b"\2\0\1m",
            {"upstreamOffset": 1, "offset": 2, "metadata": "m"},
        ),
        (
            "mm2-offset-syncs.a.internal", b"\0\1t\0\0\0\1", bytes(7) + b"\1" + bytes(7) + b"\2",
            {"upstreamOffset": 1, "offset": 2},
        ),
    ],
)  # fmt: skip
def test_topics_of_mirror_maker(topic: str, key: bytes, value: bytes, shown: Any) -> None:
    ((shown_key, found),) = decoded("mm2", [(key, value)], topic)
    assert found == shown
    assert len(shown_key) >= 2
    with pytest.raises(Unreadable, match="not a topic of MirrorMaker"):
        FormatDecoder("value", "mm2")._read(value, key, "orders")
