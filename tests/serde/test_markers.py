"""Markers as readable records: what they say, and that nothing else is touched."""

from __future__ import annotations

import json

import pytest

from kcli.errors import DecodeError
from kcli.proto.batch import Batch, read_batches, seal
from kcli.proto.core import Builder
from kcli.serde.markers import readable

CONTROL = 0x30
COMMIT_7 = (bytes.fromhex("00000001"), bytes.fromhex("000000000007"))  # F.3
ABORT_0 = (bytes.fromhex("00000000"), bytes.fromhex("000000000000"))


def marker(key: bytes | None, value: bytes | None, *, base: int = 41, attributes: int = CONTROL) -> Batch:
    builder = Builder()
    builder.append(1_700_000_000_000, key, value)
    sealed = seal(builder.take(), 1, 1_700_000_000_000, 1_700_000_000_000, transactional=True)
    sealed.stamp(4000, 3, -1)
    data = bytearray(sealed.data)
    data[0:8] = base.to_bytes(8, "big")
    data[21:23] = attributes.to_bytes(2, "big")
    (batch,) = read_batches(bytes(data), check_crcs=False)
    return batch


@pytest.mark.parametrize(
    ("key", "value", "kind", "said"),
    [
        (*COMMIT_7, b"COMMIT", {"producer_id": 4000, "producer_epoch": 3, "coordinator_epoch": 7}),
        (*ABORT_0, b"ABORT", {"producer_id": 4000, "producer_epoch": 3, "coordinator_epoch": 0}),
        (
            COMMIT_7[0] + b"new", COMMIT_7[1] + b"er", b"COMMIT",
            {"producer_id": 4000, "producer_epoch": 3, "coordinator_epoch": 7},
        ),
        (COMMIT_7[0], None, b"COMMIT", {"producer_id": 4000, "producer_epoch": 3}),
        (bytes.fromhex("00000002"), b"whatever", b"LEADER_CHANGE", {}),
        (bytes.fromhex("00000063"), b"", b"99", {}),
        (bytes.fromhex("0000ffff"), b"", b"-1", {}),
    ],
)  # fmt: skip
def test_E14_a_marker_says_what_it_is(key: bytes, value: bytes | None, kind: bytes, said: dict[str, int]) -> None:
    given = marker(key, value)
    (record,) = readable(given)
    assert (record.offset, record.timestamp, record.key) == (41, 1_700_000_000_000, kind)
    assert list(record.headers) == [("__control", kind)]
    assert record.value is not None
    assert json.loads(record.value) == {"type": kind.decode()} | said
    assert next(iter(given)).key == key  # the batch that was fetched is as it was


def test_E14_the_envelope_and_the_window_are_those_of_the_marker() -> None:
    made = readable(marker(*COMMIT_7))
    out = bytearray()
    assert made.write_json(out, "t", 5) == (1, 42)
    envelope = json.loads(out)
    assert (envelope["topic"], envelope["partition"], envelope["offset"], envelope["key"]) == ("t", 5, 41, "COMMIT")
    assert made.visible == 1
    made.first = 42
    assert list(made) == []


def test_E14_what_is_no_marker_or_cannot_be_read_is_left_as_it_is() -> None:
    data = marker(*COMMIT_7, attributes=0x10)
    assert readable(data) is data
    for key in (None, b"", b"\x00\x00\x00"):
        short = marker(key, b"")
        assert readable(short) is short
    broken = marker(*COMMIT_7)
    broken.body_end -= 3
    assert readable(broken) is broken
    with pytest.raises(DecodeError):
        list(broken)
