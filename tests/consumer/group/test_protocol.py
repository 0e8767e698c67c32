"""What members say: against the JSON schemas' layout by hand, and against strangers who get it wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.consumer.classic.sticky import hash_order, partition_hash, string_hash
from kcli.errors import DecodeError
from kcli.model import TopicPartition as TP
from kcli.proto.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    Subscription,
    decode_assignment,
    decode_generation,
    decode_sticky,
    decode_subscription,
    encode_assignment,
    encode_generation,
    encode_sticky,
    encode_subscription,
)

V3 = (
    b"\x00\x03" b"\x00\x00\x00\x02\x00\x01a\x00\x01b" b"\xff\xff\xff\xff"
    b"\x00\x00\x00\x01\x00\x01a\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x01" b"\x00\x00\x00\x04" b"\x00\x01r"
)  # fmt: skip


def test_E49_a_subscription_is_these_bytes() -> None:
    said = Subscription(topics=["b", "a"], owned=[TP("a", 1), TP("a", 0)], generation=4, rack="r")
    assert encode_subscription(said) == V3
    heard = decode_subscription(V3, "i")
    assert heard == Subscription(
        topics=["a", "b"], owned=[TP("a", 0), TP("a", 1)], generation=4, rack="r", instance_id="i"
    )


def test_E49_a_newer_version_is_read_by_its_known_prefix() -> None:
    assert decode_subscription(b"\x00\x09" + V3[2:] + b"more of the future") == decode_subscription(V3)
    assert decode_assignment(b"\x00\x07" + encode_assignment([TP("t", 1)])[2:] + b"more") == {TP("t", 1)}


def test_E49_a_version_without_its_fields_is_read_as_an_older_one() -> None:
    old = b"".join(bytes(p) for p in ConsumerProtocolSubscription(topics=["t"]).encode(0))
    for claimed in range(4):
        assert decode_subscription(bytes([0, claimed]) + old).topics == ["t"]


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x00\x03", b"\x00\x00\x7f\xff\xff\xff", b"\xff\xff\xff\xff"])
def test_E49_rubbish_is_a_member_that_wants_nothing(data: bytes) -> None:
    assert decode_subscription(data) == Subscription()


@given(st.binary(max_size=80))
def test_E49_no_bytes_of_a_member_raise(data: bytes) -> None:
    decode_subscription(data)
    decode_sticky(data)
    decode_generation(data)


def test_our_own_share_is_not_guessed() -> None:
    assert decode_assignment(b"") == set()
    with pytest.raises(DecodeError):
        decode_assignment(b"\x00\x00\x00\x00\x00\x09")


@pytest.mark.parametrize("version", range(4))
def test_every_version_round_trips(version: int) -> None:
    for said in (ConsumerProtocolSubscription(topics=["t"], user_data=b"x"), ConsumerProtocolAssignment(user_data=b"")):
        data = b"".join(bytes(part) for part in said.encode(version))
        assert type(said).decode(version, data) == said


def test_E51_sticky_user_data_of_both_versions() -> None:
    v1 = encode_sticky([TP("t", 1)], 6)
    assert decode_sticky(v1) == ([TP("t", 1)], 6)
    assert decode_sticky(v1[:-4]) == ([TP("t", 1)], None)
    assert decode_sticky(b"\x09") == ([], -1)
    assert decode_generation(encode_generation(9)) == 9


def test_java_hashes() -> None:
    assert string_hash("hello") == 99162322
    assert string_hash("") == 0
    assert string_hash("polygenelubricants") == 0x80000000
    assert partition_hash(TP("t", 3)) == 31 * (31 + 3) + ord("t")
    assert hash_order(["b", "a"], string_hash) == ["a", "b"]
