"""Records of the usual shape, which the plain core writes a column at a time: what comes of them is what comes of each,
whatever stands between them, and a broken byte among them is a DecodeError."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcli.errors import DecodeError
from kcli.proto import records as twin
from kcli.proto.core import crc32c
from kcli.proto.plain.scan import HEADER
from kcli.proto.varint import encode_varint
from tests.effort import tries
from tests.proto.record_cores import CORES, built, opened
from tests.proto.test_records_cores import PROGRAM, as_json

MANY = 150
TEXTS = [b"", b"a" * 70, b'{"q":"\\"}' * 9, "ü€".encode() * 20, b"x" * 300, b"tab\there" * 9]
KEYS = [b"", b"key-7", 'ü"'.encode() * 9]
ODD = [b"\xff" * 80, b"del\x7f" * 20, None]
SHOWN = (("write_values", (b"\n", -1, b"~")), ("write_format", (PROGRAM, b"t", 7, -1)), ("write_json", ('a"ü', 7, -1)))
cores = pytest.mark.parametrize("core", CORES, ids=lambda core: core.NAME)


def rows(seed: int, keyed: bool, odd: int) -> list[tuple[int, bytes | None, bytes | None, list[Any]]]:
    """Many records, of which `odd` at random places are not of the usual shape, or hard to show."""
    rng = random.Random(seed)
    made: list[tuple[int, bytes | None, bytes | None, list[Any]]] = [
        (1_700_000_000_000 + rng.randrange(60), rng.choice(KEYS) if keyed else None, rng.choice(TEXTS[1:]), [])
        for _ in range(MANY)
    ]
    for _ in range(odd):
        at, n = rng.randrange(MANY), rng.randrange(4)
        stamp, key, value, held = made[at]
        made[at] = [
            (stamp + 5000, key, value, held),
            (stamp, None if keyed else b"k" * 90, value, held),
            (stamp, key, rng.choice(ODD), held),
            (stamp, key, value, [("h", b"v"), ("n", None)]),
        ][n]
    return made


def placed(core: Any, data: bytes, base: int) -> Any:
    batch = opened(core, data)
    batch.base_offset, batch.last_offset = base, base + MANY - 1
    batch.first, batch.stop = base, base + MANY
    return batch


@cores
@settings(deadline=None, max_examples=tries(40))
@given(seed=st.integers(0, 2**32), keyed=st.booleans(), odd=st.sampled_from((0, 0, 1, 3)), base=st.integers(0, 2200))
def test_columns_of_usual_records_show_what_each_record_is(
    core: Any, seed: int, keyed: bool, odd: int, base: int
) -> None:
    given_rows = rows(seed, keyed, odd)
    data = built(twin, given_rows)
    for write, arguments in SHOWN:
        out, expected = bytearray(b"> "), bytearray(b"> ")
        written = getattr(core, write)(placed(core, data, base), out, *arguments)
        assert written == (MANY, base + MANY)
        one_by_one = [MANY if given == -1 else given for given in arguments]  # with a limit no columns are made
        assert getattr(twin, write)(placed(twin, data, base), expected, *one_by_one) == (MANY, base + MANY)
        assert out == expected
    assert out[2:].decode() == "".join(as_json(row, base + n) for n, row in enumerate(given_rows))


@cores
@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("field", ["record", "value", "end"])
def test_a_broken_byte_among_usual_records_is_seen_by_both(core: Any, keyed: bool, field: str) -> None:
    whole = built(twin, rows(5, keyed, 0))
    columns = twin.read_columns(opened(twin, whole))
    begins = {
        "record": range(columns.key_starts[70] - 7, columns.key_starts[70]),
        "value": range(columns.value_starts[70] - 2, columns.value_starts[70]),
        "end": range(columns.header_starts[70] - 1, columns.header_starts[70]),
    }
    for at in begins[field]:
        for change in (1, 2, 4, 0x80, 0xFF):
            section = bytearray(whole)
            section[61 + at] ^= change
            same_of_both(core, bytes(section))


def same_of_both(core: Any, section: bytes) -> None:
    for write, arguments in SHOWN:
        outcomes = []
        for one in (core, twin):
            batch, out = opened(one, section, check_crcs=False), bytearray(b"> ")
            try:
                outcomes.append((getattr(one, write)(batch, out, *arguments)[0], bytes(out)))
            except DecodeError:
                outcomes.append((-1, bytes(out)))
        assert outcomes[0] == outcomes[1]


@cores
def test_usual_records_in_a_batch_with_the_time_of_its_append(core: Any) -> None:
    data = bytearray(built(twin, rows(1, True, 0)))
    batch = placed(core, bytes(data), 10)
    batch.attributes |= 8
    batch.max_timestamp = 77
    out = bytearray()
    core.write_json(batch, out, "t", 0, -1)
    assert out.count(b'"timestamp":77,"timestamp_type":"append"') == MANY


def section(*records: bytes) -> Any:
    """A batch of these records, opened by the plain core."""
    body = b"".join(encode_varint(len(record)) + record for record in records)
    data = bytearray(61) + body
    HEADER.pack_into(data, 0, 0, len(data) - 12, -1, 2, 0, 0, len(records) - 1, 0, 0, -1, -1, -1, len(records))
    data[17:21] = crc32c(memoryview(data)[21:]).to_bytes(4, "big")
    return bytes(data)


def record(delta: int, value: bytes, key: bytes = b"\x01") -> bytes:
    """Without its length; `key` as its length and bytes."""
    return b"\0\0" + encode_varint(delta) + key + encode_varint(len(value)) + value + b"\0"


@cores
def test_a_last_record_that_is_shorter_than_the_bytes_of_its_place_is_read(core: Any) -> None:
    """From 8,192 on an offset delta has three bytes; a broker may repeat a small one."""
    many = [record(n, b"v" * 70) for n in range(8192)]
    out = bytearray()
    wrote, _ = core.write_values(opened(core, section(*many, record(5, b""))), out, b"\n", -1, b"~")
    assert wrote == 8193
    assert len(out) == 8192 * 71 + 1


@cores
@pytest.mark.parametrize("name", ["write_values", "write_json"])
def test_a_null_key_may_be_written_in_more_bytes_than_one(core: Any, name: str) -> None:
    data = section(record(0, b"abc", b"\x81\0"))
    out = bytearray()
    getattr(core, name)(opened(core, data), out, *dict(SHOWN)[name])
    assert b"abc" in out
    assert [(key, value) for _, _, key, value, *_ in core.read_records(opened(core, data))] == [(None, b"abc")]
