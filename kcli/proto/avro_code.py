"""The instructions to which an Avro schema is compiled, and limits of values; shared by both record cores.

A program is an array of int32: at each place an instruction and its arguments. Composite types refer to the places of
their parts, so recursive types need nothing special. `text` is an index into the program's texts.
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
    ENUM,  # count, then a text per symbol; -1: a symbol that the reader's schema lacks
    RECORD,  # fields, closing text, then (text before the field, or -1: skipped; place of its type)
    ARRAY,  # place, smallest size of an item
    MAP,  # place, smallest size of an entry
    UNION,  # number of branches, then the place of each
    WRAP,  # text, place: {"name": value}
    REFUSE,  # a branch that the reader's schema lacks
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
    REST,  # all remaining bytes, as Java writes a schema of only "bytes"
    LATIN,  # size, or -1 for bytes with a length: a string with one character per byte, as in the specification's JSON
) = range(30)

DEEPEST = 256  # nesting depth of records, arrays and maps
MOST_NOTHING = 1_000_000  # values that take no bytes, per payload
ROOM, RATIO = 16 << 20, 256  # bytes of JSON allowed for any payload, and additionally per payload byte
LONGEST_DECIMAL = 1024  # bytes
OWN_SCALE = -1  # instead of a decimal's scale: each value has its own (big-decimal)
