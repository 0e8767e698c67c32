"""What a field of Protobuf may be, by the numbers that descriptors have for it (`FieldDescriptorProto.Type`), the
bounds of what is read, and the program that a schema is compiled to; shared by both record cores.

A program is an array of int32. It begins with how many messages, fields and oneofs there are, and the place of each
message: its `known` and how many fields it has, then FIELD numbers of each field, by their numbers. An enum is a count
and pairs of a number and a text, by their numbers. A text is an index into the program's texts.
"""

from __future__ import annotations

(
    DOUBLE,
    FLOAT,
    INT64,
    UINT64,
    INT32,
    FIXED64,
    FIXED32,
    BOOL,
    STRING,
    GROUP,
    MESSAGE,
    BYTES,
    UINT32,
    ENUM,
    SFIXED32,
    SFIXED64,
    SINT32,
    SINT64,
) = range(1, 19)

KINDS = {
    "double": DOUBLE,
    "float": FLOAT,
    "int64": INT64,
    "uint64": UINT64,
    "int32": INT32,
    "fixed64": FIXED64,
    "fixed32": FIXED32,
    "bool": BOOL,
    "string": STRING,
    "bytes": BYTES,
    "uint32": UINT32,
    "sfixed32": SFIXED32,
    "sfixed64": SFIXED64,
    "sint32": SINT32,
    "sint64": SINT64,
}
"""The types that have a word of their own in a schema's text."""

VARINT, EIGHT, LENGTH, START, END, FOUR = range(6)
"""How the bytes of a field are written: its wire type."""

_WIDE = dict.fromkeys((DOUBLE, FIXED64, SFIXED64), EIGHT)
_LONG = dict.fromkeys((STRING, MESSAGE, BYTES), LENGTH)
_SHORT = dict.fromkeys((FLOAT, FIXED32, SFIXED32), FOUR)
WIRE = dict.fromkeys(range(DOUBLE, SINT64 + 1), VARINT) | _WIDE | _LONG | _SHORT | {GROUP: START}
"""The wire type of each kind."""

DEEPEST = 100  # messages and groups within one another, as Google's readers
LARGEST_NUMBER = (1 << 29) - 1  # of a field
MASK = (1 << 64) - 1  # a negative number is written as the varint of its 64 bits

MESSAGES = 3  # where the places of messages begin
FIELD = 7
"""A field: its number, kind, flags, the text of its name, its message or the place of its enum (-1 for neither), its
oneof (-1 for none), and which field of the program it is."""

REPEATED, PRESENCE, MAP, CLOSED, NULL, LOSSY = 1, 2, 4, 8, 16, 32
"""Flags of a field. PRESENCE: it is shown also where it is 0 or empty. CLOSED: its enum takes no other number. NULL:
its enum is google.protobuf.NullValue. LOSSY: its text may be other bytes than UTF-8 (proto2), which Java replaces."""

TIMESTAMP, DURATION, FIELD_MASK, WRAPPER, STRUCT, LIST, VALUE, ANY = range(1, 9)
"""The messages of google.protobuf that have a JSON of their own."""

BARE, BY_INDEXES, BY_NAME, BY_NUMBER = range(4)
"""What is before a payload: nothing, Confluent's message indexes, Apicurio's name of a message, AWS Glue's number."""
MOST_INDEXES = 64
NOT_NAMED, UNKNOWN = -2, -1
"""In place of a message's number: its bytes are no name of a message; the schema has no such message."""

FIRST, LAST = -62_135_596_800, 253_402_300_799
"""Seconds of the years 1 to 9999, from 1970 on."""
NANOS = 10**9
LONGEST_DURATION = 315_576_000_000  # seconds


def camel(name: str) -> str:
    """The name that a field has in JSON by default: `user_id` is userId."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)
