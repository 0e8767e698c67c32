"""No reader of the record core looks beyond the bytes it was given: one record, cut off after every byte.

The bytes lie in an array that ends where they end. A `bytes` or `bytearray` has a NUL behind its last byte, in the same
block of memory, so that AddressSanitizer (`make asan`) does not see a reader that goes one byte too far into it.
"""

from __future__ import annotations

from array import array
from typing import Any

import pytest

from kcli.errors import DecodeError
from tests.each import each

from .record_cores import CORES, built, opened

LONG = b"x" * 200  # its length takes two bytes
ROWS = {
    "plain": (1_000, b"key", b"value", ()),
    "null key": (1_000, None, LONG, ()),
    "null value": (1_000, LONG, None, ()),
    "headers": (1_000, b"k", b"v", (("name", b"value"), ("null", None), ("long", LONG))),
    "not UTF-8": (1_000, b"\xe2\x82", b"\xf0\x9f\x98", (("h", b"\xc3"),)),
}


def exact(data: bytes) -> memoryview:
    """The bytes, with nothing of ours behind the last one. (An array that was just made has room to grow; its copy has
    none.)"""
    return memoryview(array("B", data)[:])


def readers(core):
    program = (b"<", ("k", None), ("s", None), ("h", None), b">")
    return {
        "count_visible": core.count_visible,
        "read_columns": core.read_columns,
        "read_records": core.read_records,
        "Messages": lambda h: core.Messages(lambda: None).open(h, "t", 0),
        "write_values": lambda h: core.write_values(h, bytearray(), b"\n", -1, b""),
        "write_format": lambda h: core.write_format(h, bytearray(), program, b"t", 0, -1),
        "write_json": lambda h: core.write_json(h, bytearray(), "t", 0, -1),
        "write_readable": lambda h: core.write_readable(h, bytearray(), "t", 0, -1, None, None),
    }


@pytest.mark.slow
@each("name", list(readers(CORES[0])))
@each("row", list(ROWS))
@each("core", CORES, ids=lambda core: core.__name__.rpartition(".")[2])
def test_B14_a_record_that_is_cut_off_is_broken_and_nothing_behind_it_is_read(core, row, name):
    data = built(core, [ROWS[row]])
    whole = opened(core, data)
    body = data[whole.body_start : whole.body_end]
    two = len(body) > 64  # the record's own length takes two bytes
    for size in range(7, len(body) + 1):
        # as it was cut, and with a length that says it is whole, so that its fields run out instead
        cut = bytearray(body[:size])
        said = size - (2 if two else 1)
        patched = bytearray(cut)
        patched[: 2 if two else 1] = bytes([said * 2 & 127 | 128, said * 2 >> 7]) if two else bytes([said * 2])
        for piece in (cut, patched):
            header = opened(core, data)
            header.data, header.body_start, header.body_end = exact(bytes(piece)), 0, size
            if size == len(body):
                readers(core)[name](header)
                continue
            with pytest.raises(DecodeError):
                readers(core)[name](header)


@pytest.mark.parametrize("core", CORES, ids=lambda core: core.__name__.rpartition(".")[2])
def test_B14_bytes_beside_records_are_read_to_their_end_and_no_further(core):
    for size in range(70):
        data = exact(bytes(range(1, size + 1)))
        assert core.crc32c(data) == core.crc32c(bytes(data))
        assert core.murmur2(data) == core.murmur2(bytes(data))
    whole = built(core, [ROWS["headers"]])
    for size in range(len(whole)):
        found: list[object] = []
        core.scan(exact(whole[:size]), 0, True, core.Header, found)
        assert found == []


@pytest.mark.parametrize("core", CORES, ids=lambda core: core.__name__.rpartition(".")[2])
def test_B14_a_text_is_looked_for_in_the_section_and_no_further(core: Any) -> None:
    """Its first byte may be the last one of the section, and its last byte may lie behind it."""
    data = built(core, [ROWS["plain"]])
    for size in range(7, 80):
        body = bytes(range(1, size + 1))
        header = opened(core, data)
        header.data, header.body_start, header.body_end = exact(body), 0, size
        for length in range(1, 40):
            end = body[-length:]
            for wanted in (end, end + b"\xff", body[:1] + b"\xff" * length + body[-1:], b"\xff" * length):
                if wanted:
                    assert core.contains(header, wanted) == (wanted in body)
