"""The instructions that an Avro schema is compiled to, and the bounds of values; shared by both record cores.

A program is an array of int32: an instruction and its arguments at each place. Composite types name the places of
their parts, so a type that contains itself needs nothing more. `text` is an index into the program's texts.
"""

from __future__ import annotations

(
    NULL,
    BOOLEAN,
    INT,
    LONG,
    FLOAT,
    DOUBLE,
    BYTES,  # {"base64": …}
    STRING,
    FIXED,  # size
    ENUM,  # count, then a text per symbol; -1: a symbol that the reader's schema does not have
    RECORD,  # fields, text of the end, then (text before the field, or -1: skipped; place of its type)
    ARRAY,  # place, fewest bytes of an item
    MAP,  # place, fewest bytes of an entry
    UNION,  # branches, then the place of each
    WRAP,  # text, place: {"name": value}
    REFUSE,  # a branch that the reader's schema does not have
    DATE,
    TIME,  # digits of a second: 3 in an int, 6 in a long
    TIMESTAMP,  # digits of a second: 3, 6 or 9; 1 for UTC, 0 for local
    DECIMAL,  # size, or -1 for bytes with a length; scale, or OWN_SCALE
    UUID,
    DURATION,
    INT_AS_FLOAT,
    INT_AS_DOUBLE,
    LONG_AS_FLOAT,
    LONG_AS_DOUBLE,
    FLOAT_AS_DOUBLE,
    BYTES_AS_STRING,
    REST,  # all bytes that are left, as Java writes a schema that is only "bytes"
    LATIN,  # size, or -1 for bytes with a length: a string with a character per byte, as the specification's JSON
) = range(30)

DEEPEST = 256  # records, arrays and maps within one another
MOST_NOTHING = 1_000_000  # values that take no bytes, in one payload
ROOM, RATIO = 16 << 20, 256  # bytes of JSON that any payload may become, and per byte of it
LONGEST_DECIMAL = 1024  # bytes
OWN_SCALE = -1  # in place of a decimal's scale: each value has its own (big-decimal)
