"""The kinds of Protobuf fields, numbered like in descriptors (`FieldDescriptorProto.Type`), the limits of payloads, and
the program to which a schema is compiled; shared by both record cores.

A program is an array of int32. It begins with the numbers of messages, fields and oneofs, and the place of each
message: its `known` and number of fields, then FIELD numbers for each field, sorted by number. An enum is a count and
pairs of a number and a text, sorted by number. A text is an index into the program's texts.
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
"""The types with a keyword in a schema's text."""

VARINT, EIGHT, LENGTH, START, END, FOUR = range(6)
"""The wire type of a field."""

_WIDE = dict.fromkeys((DOUBLE, FIXED64, SFIXED64), EIGHT)
_LONG = dict.fromkeys((STRING, MESSAGE, BYTES), LENGTH)
_SHORT = dict.fromkeys((FLOAT, FIXED32, SFIXED32), FOUR)
WIRE = dict.fromkeys(range(DOUBLE, SINT64 + 1), VARINT) | _WIDE | _LONG | _SHORT | {GROUP: START}
"""The wire type of each kind."""

DEEPEST = 100  # nesting depth of messages and groups, as in Google's parsers
LARGEST_NUMBER = (1 << 29) - 1  # of a field
MASK = (1 << 64) - 1  # a negative number is encoded as the varint of its 64 bits

MESSAGES = 3  # where the places of messages begin
FIELD = 7
"""A field: its number, kind, flags, the text of its name, its message or the place of its enum (-1 for neither), its
oneof (-1 for none), and its index in the program."""

REPEATED, PRESENCE, MAP, CLOSED, NULL, LOSSY = 1, 2, 4, 8, 16, 32
"""Flags of a field. PRESENCE: shown even if 0 or empty. CLOSED: its enum allows no other numbers. NULL: its enum is
google.protobuf.NullValue. LOSSY: its text may be invalid UTF-8 (proto2), which Java replaces."""

TIMESTAMP, DURATION, FIELD_MASK, WRAPPER, STRUCT, LIST, VALUE, ANY = range(1, 9)
"""Messages of google.protobuf with a special JSON form."""

BARE, BY_INDEXES, BY_NAME, BY_NUMBER = range(4)
"""What precedes a payload: nothing, Confluent's message indexes, Apicurio's name of a message, AWS Glue's number."""
MOST_INDEXES = 64
NOT_NAMED, UNKNOWN = -2, -1
"""Instead of a message's number: its bytes name no message; the schema has no such message."""

FIRST, LAST = -62_135_596_800, 253_402_300_799
"""Seconds of the years 1 to 9999, from 1970 on."""
NANOS = 10**9
LONGEST_DURATION = 315_576_000_000  # seconds


def camel(name: str) -> str:
    """Return the default JSON name of a field: `user_id` is userId."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)
