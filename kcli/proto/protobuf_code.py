"""What a field of Protobuf may be, by the numbers that descriptors have for it (`FieldDescriptorProto.Type`), and the
bounds of what is read."""

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
