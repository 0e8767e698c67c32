"""The instructions that an Avro schema is compiled to where values become Arrow's columns; shared by both record cores.

A program is an array of int32, as in `avro_code.py`. The first argument is the number of a column, -1 for a value that
is only passed. A layout has three numbers for each column: its kind, whether it may be null, and how many columns it
and its parts are. Parts follow their column: a list has one, a struct as many as it has fields. A map is a list of
structs of two.
"""

from __future__ import annotations

(
    NULL,
    BOOLEAN,
    INT,  # int32
    LONG,  # int64
    NUMBER,  # bits of the integer, what it becomes: WIDE, MILLIS, SINGLE, DOUBLED
    FLOAT,
    DOUBLE,
    WIDEN,  # a float as a double
    TEXT,
    BYTES,  # size; -1: a length is in front, -2: all bytes that are left
    ENUM,  # count, then a text per symbol; -1: a symbol that the reader's schema does not have
    DECIMAL,  # size, precision
    DIGITS,  # size, scale: a decimal as text
    UUID,  # 16 bytes as text
    REFUSE,  # a branch that the reader's schema does not have
    DEFAULT,  # text, place: a value that is read from a payload of the program's own
    RECORD,  # fields, then the place of each
    ARRAY,  # place, fewest bytes of an item
    MAP,  # place of values, fewest bytes of an entry
    MEMBER,  # place, count, then the columns of the other members: null
    UNION,  # branches, then the place of each; it has no column
) = range(21)

WIDE, MILLIS, SINGLE, DOUBLED = range(4)
VOID, BITS, FOUR, EIGHT, SIXTEEN, VARIABLE, LIST, STRUCT = range(8)
LENGTH, REST = -1, -2
MOST_DIGITS = 38  # of a decimal that is a number
ROOM, RATIO = 16 << 20, 256  # bytes of nulls, symbols and defaults that any payload may become, and per byte of it
EMPTY = 8  # bytes that a null counts, in each column
MOST = 2**31 - 1  # bytes, and items of lists, of a column
