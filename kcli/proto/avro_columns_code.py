"""The instructions to which an Avro schema is compiled for Arrow columns; shared by both record cores.

A program is an array of int32, as in `avro_code.py`. The first argument is the number of a column, -1 for a value that
is skipped. A layout has three numbers per column: its kind, whether it is nullable, and the number of columns including
its parts. Parts follow their column: a list has one, a struct one per field. A map is a list of structs with two
fields.
"""

from __future__ import annotations

(
    NULL,
    BOOLEAN,
    INT,  # int32
    LONG,  # int64
    NUMBER,  # bits of the integer, target: WIDE, MILLIS, SINGLE, DOUBLED
    FLOAT,
    DOUBLE,
    WIDEN,  # a float stored as double
    TEXT,
    BYTES,  # size; -1: preceded by a length, -2: all remaining bytes
    ENUM,  # count, then a text per symbol; -1: a symbol that the reader's schema lacks
    DECIMAL,  # size, precision
    DIGITS,  # size, scale: a decimal as text
    UUID,  # 16 bytes as text
    REFUSE,  # a branch that the reader's schema lacks
    DEFAULT,  # text, place: a value read from a payload in the program
    RECORD,  # number of fields, then the place of each
    ARRAY,  # place, smallest size of an item
    MAP,  # place of values, smallest size of an entry
    MEMBER,  # place, count, then the columns of the other members, which become null
    UNION,  # number of branches, then the place of each; it has no column
) = range(21)

WIDE, MILLIS, SINGLE, DOUBLED = range(4)
VOID, BITS, FOUR, EIGHT, SIXTEEN, VARIABLE, LIST, STRUCT = range(8)
LENGTH, REST = -1, -2
MOST_DIGITS = 38  # of a decimal stored as a number
# bytes of nulls, symbols and defaults allowed for any payload, and additionally per payload byte
ROOM, RATIO = 16 << 20, 256
EMPTY = 8  # bytes that a null counts in each column
MOST = 2**31 - 1  # bytes, and list items, of a column
