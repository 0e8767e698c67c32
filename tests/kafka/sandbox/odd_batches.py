"""Batches that may be wrong in one place: in their header, in a record, in what follows the records."""

from __future__ import annotations

import struct

from kcli.proto.compression import compress
from kcli.sandbox.log.batches import checksum

HEADER = struct.Struct(">qiibI")  # base offset, length, leader epoch, magic, checksum
REST = struct.Struct(">hiqqqhii")  # attributes to the count of records
CODECS = {"gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
VALUE = b"v"


def varint(number: int) -> bytes:
    """A zigzag varint."""
    left, out = (number << 1) ^ (number >> 63), b""
    while left > 0x7F:
        out, left = out + bytes([left & 0x7F | 0x80]), left >> 7
    return out + bytes([left])


def odd_batch(text: str, known: dict[str, object]) -> bytes:
    """The batches that `3 count=5 codec=gzip` asks for.

    Of the header: base, size (its length), length (added to it), leader, magic, crc (added), attributes, last (offset
    delta), timestamp, max, producer, epoch, sequence, count. Of the records: deltas, key, null (value), mark (their
    attributes), and wrong lengths: reclen, keylen, vallen, headers. Of the bytes: codec, extra (hexadecimal, after the
    records), shorter (the last bytes of the records are missing), times (so many batches), cut (the end is missing),
    spoil (a byte is another).
    """
    first, *words = text.split()
    options = dict(word.split("=", 1) for word in words)
    codec, extra = options.pop("codec", ""), bytes.fromhex(options.pop("extra", ""))
    deltas = [int(part) for part in options.pop("deltas", "").split(",") if part] or list(range(int(first)))
    named = {name: known.get(word, word) for name, word in options.items()}
    numbers: dict[str, int] = {name: int(str(value)) for name, value in named.items()}
    records = b"".join(_record(number, delta, numbers) for number, delta in enumerate(deltas)) + extra
    records = records[: len(records) - numbers.get("shorter", 0)]
    if codec:
        records = bytes(compress(codec, records))
    count, start = int(first), numbers.get("timestamp", 1000)
    rest = REST.pack(
        numbers.get("attributes", 0) | CODECS.get(codec, 0), numbers.get("last", count - 1), start,
        numbers.get("max", start + max(count - 1, 0)), numbers.get("producer", -1), numbers.get("epoch", -1),
        numbers.get("sequence", -1), numbers.get("count", count),
    )  # fmt: skip
    size = numbers.get("size", 49 + len(records) + numbers.get("length", 0))
    head = HEADER.pack(
        numbers.get("base", 0), size, numbers.get("leader", -1), numbers.get("magic", 2),
        (checksum(rest + records) + numbers.get("crc", 0)) & 0xFFFFFFFF,
    )  # fmt: skip
    data = bytearray((head + rest + records) * numbers.get("times", 1))
    if "spoil" in numbers:
        data[numbers["spoil"]] ^= 0xFF
    return bytes(data[: len(data) - numbers.get("cut", 0)])


def _record(number: int, delta: int, numbers: dict[str, int]) -> bytes:
    key = b"key" if numbers.get("key") else None
    value = None if numbers.get("null") else VALUE
    body = bytes([numbers.get("mark", 0)]) + varint(number) + varint(delta)
    body += varint(numbers.get("keylen", -1 if key is None else len(key))) + (key or b"")
    body += varint(numbers.get("vallen", -1 if value is None else len(value))) + (value or b"")
    body += varint(numbers.get("headers", 0))
    return varint(numbers.get("reclen", len(body))) + body
