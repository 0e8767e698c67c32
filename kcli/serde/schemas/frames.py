"""The names that frames give to schemas: what kind of name each is, and how many bytes of it are before a message's
own indexes.

| name begins with | its form |
|---|---|
| 0, four bytes | Confluent's id, and Apicurio 3's content id |
| 0, eight bytes, the upper four 0 | Apicurio 2's global id |
| 1, 16 bytes | Confluent's GUID |
| 3, 0 or 5, 16 bytes | AWS Glue's version of a schema; 5: the payload is compressed |
| C3 01, eight bytes | the fingerprint of Avro's single objects |
| g or c, eight bytes | Apicurio's headers: the global id or the content id, then the message's name; G or C: JSON |
| h or r, a length of two bytes, a text | Apicurio's hash, or group, artifact and version; the message. H or R: JSON |
| b, a length of two bytes, a text | Buf's headers: commit and message; the message again |
| e, a length of two bytes, a text | the `dataschema` of CloudEvents; the message that its fragment names |
| z, 16 bytes | Azure's header: the id of the schema |

The last five are made here, of headers; the others are what `core.frame_names` found.
"""

from __future__ import annotations

import re
import zlib

from kcli.proto import core
from kcli.schemas import AVRO
from kcli.serde.schemas.payloads import PayloadReader, Unreadable, read_one
from kcli.serde.schemas.readers import indexed, unknown_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from kcli.proto.columns import Columns, Headers
    from kcli.schemas import Schema
    from kcli.serde.schemas.readers import Reader

ID, GUID, GLUE, SINGLE = 0, 1, 3, 0xC3
GLOBAL, CONTENT, AZURE = ord("g"), ord("c"), ord("z")
HASH, COORDINATES = ord("h"), ord("r")
BUF, EVENT = ord("b"), ord("e")
_LONG = (HASH, COORDINATES, BUF, EVENT)
APICURIO = (GLOBAL, CONTENT, HASH, COORDINATES)
JSON_FORMS = tuple(form - 32 for form in APICURIO)
ZLIB = 5
_AZURE = re.compile(rb"avro/binary\+([0-9a-fA-F]{32})")
_APICURIO = b"apicurio."
_BUF = b"buf.registry."
_WORDS = (_APICURIO, _BUF, b"avro/binary+", b"ce_dataschema")
"""What the headers have that name schemas; those of keys first."""
_AVRO_OR_PROTOBUF = re.compile(
    rb"(?:application/(?:[\w.-]*\+)?|avro/)(?:x-|vnd\.google\.|vnd\.apache\.)?(?:avro|protobuf|binary)\s*(?:;.*)?",
    re.DOTALL,
)
"""Content types of bare Avro and Protobuf."""
_DIGEST = re.compile(rb"[0-9a-fA-F]{64}")
_LONGEST = 512  # bytes of a group, an artifact, a version or the name of a message
_SIZES = {GUID: 17, GLUE: 18, SINGLE: 10, GLOBAL: 9, CONTENT: 9, AZURE: 17, ord("G"): 9, ord("C"): 9}


def front(name: bytes) -> int:
    """How many bytes of a name are the schema's."""
    if name[0] == ID:
        return 9 if len(name) == 9 else 5
    if name[0] | 32 in _LONG:
        return 3 + int.from_bytes(name[1:3], "big")
    return _SIZES[name[0]]


def lasting(name: bytes) -> bool:
    """Whether a name means one schema for ever: coordinates without a version mean the latest."""
    return name[0] | 32 != COORDINATES or not name[: front(name)].endswith(b"\0")


def uuid_of(data: bytes) -> str:
    digits = data.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def reader_behind(name: bytes, schema: Schema, reader: Reader, imported: Sequence[str] = ()) -> Reader:
    """The reader of what is behind a frame, or of the bare payload that a header names; `imported` are texts that the
    schema refers to. Raises Unreadable for a message that the schema does not have, SchemaRefused."""
    form, rest = name[0], name[front(name) :]
    if form in JSON_FORMS and schema.kind == AVRO:
        from kcli.serde.json_schema.avro import SpecifiedReader

        return SpecifiedReader(schema.text, imported, reader)
    if form in JSON_FORMS:
        from kcli.serde.json_schema.reader import JsonReader

        return JsonReader()
    of_messages = indexed(schema, reader)
    if of_messages is not None:
        if form == GLUE:
            reader = of_messages.numbered()
        elif form in (BUF, EVENT) or (form in APICURIO and rest):
            reader = of_messages.message(rest.decode(errors="replace"))
        elif rest:  # a header has them; the payload is bare
            reader = of_messages.named(rest)
    if form == GLUE and name[1] == ZLIB:
        return CompressedReader(reader)
    return reader


def frame_names(
    columns: Columns, starts: array[int], lengths: array[int], kind: str, header: bytes
) -> tuple[list[bytes], array[int], array[int]]:
    """As `core.frame_names`, with the headers of other serializers too. They are looked for only in batches whose bytes
    have such a word."""
    names, numbers, skips = core.frame_names(columns, starts, lengths, header)
    data = columns.data
    if not any(columns.header_counts):
        return names, numbers, skips
    if not may_name(bytes(data), kind):
        return names, numbers, skips
    known = {name: number for number, name in enumerate(names)}
    for row, count in enumerate(columns.header_counts):
        if not count or lengths[row] < 0:
            continue
        name = of_headers(core.read_headers(data, columns.header_starts[row], count), kind)
        if name:
            numbers[row], skips[row] = known.setdefault(name, len(known)), 0
    return list(known), numbers, skips


def may_name(whole: bytes, kind: str) -> bool:
    """Whether these bytes of records have a word of such headers."""
    return any(word in whole for word in (_WORDS if kind == "value" else _WORDS[:2]))


def message_names(columns: Columns, lengths: array[int], kind: str) -> dict[int, str]:
    """By row the message that Buf's header names, where a batch has one."""
    if not any(columns.header_counts) or _BUF not in bytes(columns.data):
        return {}
    named: dict[int, str] = {}
    for row, count in enumerate(columns.header_counts):
        if count and lengths[row] >= 0:
            name = of_headers(core.read_headers(columns.data, columns.header_starts[row], count), kind)
            if name[:1] == b"b":
                named[row] = name[front(name) :].decode(errors="replace")
    return named


def of_headers(headers: Headers, kind: str) -> bytes:
    """The name that headers give, b"" for none."""
    held = dict(headers)
    name = _of_apicurio(held, f"apicurio.{kind}.")
    if name and (held.get(f"apicurio.{kind}.encoding") or b"").upper() == b"JSON":
        return name[:1].upper() + name[1:]
    if name:
        message = held.get("apicurio.protobuf.type" + (".key" if kind == "key" else ""))
        return name + (message or b"")[:_LONGEST]
    of_type = held.get("content-type") or b""
    match = _AZURE.fullmatch(of_type) if kind == "value" else None
    if match is not None:
        return b"z" + bytes.fromhex(match[1].decode())
    message = held.get(f"buf.registry.{kind}.schema.message")
    if message and len(message) <= _LONGEST and b"\0" not in message:
        commit = (held.get(f"buf.registry.{kind}.schema.commit") or b"")[:_LONGEST].replace(b"\0", b"")
        return _long(b"b", commit + b"\0" + message) + message
    uri = held.get("ce_dataschema")
    if kind == "value" and uri and len(uri) <= _LONGEST and _AVRO_OR_PROTOBUF.fullmatch(of_type):
        uri, _, message = uri.partition(b"#")
        return _long(b"e", uri) + message
    return b""


def _long(form: bytes, text: bytes) -> bytes:
    return form + len(text).to_bytes(2, "big") + text


def _of_apicurio(held: dict[str, bytes | None], front: str) -> bytes:
    """In the order of Apicurio's own deserializers: an id, else the hash, else the coordinates; without a version they
    name the latest one."""
    for word, tag in (("globalId", b"g"), ("contentId", b"c")):
        id = held.get(front + word)
        if id is not None and len(id) == 8:
            return tag + id
    digest = held.get(f"{front}contentHash")
    if digest is not None and _DIGEST.fullmatch(digest):
        return b"h\0\x40" + digest.lower()
    artifact = held.get(f"{front}artifactId")
    if not artifact:
        return b""
    parts = [held.get(f"{front}groupId") or b"", artifact, held.get(f"{front}version") or b""]
    if any(len(part) > _LONGEST or b"\0" in part for part in parts):
        return b""
    text = b"\0".join(parts)
    return _long(b"r", text)


# Payloads that AWS Glue's serializer compressed with zlib: unpacked within bounds, then read.


LARGEST = 64 << 20  # bytes of a payload that was unpacked
RATIO = 1000
"""How many times the packed payload it may be."""


class CompressedReader(PayloadReader):
    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @property
    def unknown(self) -> int:
        return unknown_fields(self._reader)

    def message_name(self, data: bytes) -> str:
        """Of Protobuf: behind what is compressed it is not looked for."""
        return ""

    def json(self, data: bytes) -> bytes:
        return read_one(self._reader, unpacked(data))


def unpacked(data: bytes) -> bytes:
    """What zlib packed. Raises Unreadable."""
    most = min(LARGEST, RATIO * len(data))
    unpacking = zlib.decompressobj()
    try:
        payload = unpacking.decompress(data, most + 1)
    except zlib.error:
        raise Unreadable("the payload is not compressed with zlib") from None
    if len(payload) > most:
        raise Unreadable(f"it would be larger than {LARGEST >> 20} MiB or {RATIO:,} times what is stored")
    if not unpacking.eof or unpacking.unused_data:
        raise Unreadable("the compressed payload is cut, or bytes are left after it")
    return payload
