"""Avro values as JSON, in plain Python: a program of `avro_code` run over a payload. The twin of `compiled/avro.pxi`.

A payload that ends early, continues after its value or breaks a bound has a fault.
Also here: the frames before payloads.
"""

from __future__ import annotations

from array import array

from kcli.proto.plain.avro_payload import Payload
from kcli.proto.plain.avro_values import read_payload
from kcli.proto.plain.walk import read_headers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.proto.buffer import Buffer
    from kcli.proto.columns import Columns


LONGEST_NAME = 384  # bytes of a header that names a schema: 1, a GUID, 64 indexes and their count


class AvroReader:
    """A compiled schema: the instructions (int32) and the texts that they name."""

    def __init__(self, code: array[int], texts: Sequence[bytes]) -> None:
        self.code = code
        self.texts = texts

    def json(self, data: bytes) -> bytes:
        """A payload's JSON. Raises Fault."""
        return read_payload(Payload(self.code, self.texts, data))


def frame_ids(data: Buffer, starts: array[int], lengths: array[int]) -> array[int]:
    """The schema id of each row that begins as Confluent's frames do (0, then four bytes, big-endian); else -1."""
    return array(
        "q",
        [
            int.from_bytes(data[start + 1 : start + 5], "big") if length >= 5 and not data[start] else -1
            for start, length in zip(starts, lengths, strict=True)
        ],
    )


def frame_names(
    columns: Columns, starts: array[int], lengths: array[int], header: bytes
) -> tuple[list[bytes], array[int], array[int]]:
    """The name of the schema of each row: Confluent's 0 and an id of four bytes, or 1 and a GUID of 16, in the last
    header of this name, else one of any form at the front of the row. A header's name keeps what follows there: the
    indexes of a Protobuf message. Returns the names, the number of each row's name (-1 for none) and how many bytes of
    the row are its framing."""
    data = columns.data
    numbers: dict[bytes, int] = {}
    which, skips = array("i"), array("i")
    for row, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        name, skip = b"", 0
        if length >= 0:
            count = columns.header_counts[row] if header else 0
            for own, content in read_headers(data, columns.header_starts[row], count) if count else ():
                if own.encode("utf-8", "surrogateescape") == header and content:
                    name = content[:LONGEST_NAME] if content[0] <= 1 and _schema_name(content) else name
            if not name:
                name = _schema_name(bytes(data[start : start + min(length, 18)]))
                skip = len(name)
        which.append(numbers.setdefault(name, len(numbers)) if name else -1)
        skips.append(skip)
    return list(numbers), which, skips


def _schema_name(content: bytes) -> bytes:
    """The bytes at the front that name a schema: Confluent's (0 and an id, 1 and a GUID), Apicurio's 0 and a long, AWS
    Glue's 3, 0 or 5 and a UUID, Avro's C3 01 and a fingerprint."""
    first = content[:1]
    if first == b"\0":
        if len(content) >= 9 and content[:5] == bytes(5) and content[5:9] != bytes(4):
            return content[:9]
        return content[:5] if len(content) >= 5 else b""
    if first == b"\1":
        return content[:17] if len(content) >= 17 else b""
    if first == b"\3":
        return content[:18] if len(content) >= 18 and content[1] in (0, 5) else b""
    return content[:10] if len(content) >= 10 and content[:2] == b"\xc3\1" else b""
