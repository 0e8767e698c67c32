"""Numbered errors of Avro and Protobuf values, shared by both record cores."""

from __future__ import annotations

(
    WHOLE,
    CUT,
    LEFT,
    VARINT,
    INDEX,
    NEGATIVE,
    BLOCK,
    DEEP,
    TEXT,
    NO_BOOLEAN,
    LARGE,
    NOTHING,
    REFUSED,
    DIGITS,
    NESTED,
    GROUP,
    WIRE,
    NUMBER,
    INDEXES,
    FEW_INDEXES,
    NO_MESSAGE,
    BULKY,
    PRECISION,
    RANGE,
) = range(24)

FAULTS = (
    "",
    "the payload ends in the middle of a value",
    "bytes are left after the value",
    "an integer is longer than its type",
    "a union or an enum has no branch of that number",
    "a length is negative",
    "a block has more items than the payload has bytes for",
    "values are nested more than 256 deep",
    "a string is not UTF-8",
    "a boolean is neither 0 nor 1",
    "its JSON would be larger than 16 MiB and 256 times the payload",
    "it has more than a million values without bytes",
    "the reader's schema does not have this branch or symbol",
    "a decimal has more than 1,024 bytes",
    "messages are nested more than 100 deep",
    "a group ends that did not begin",
    "a field has a wire type that Protobuf does not have",
    "a field has a number that Protobuf does not have",
    "its message indexes are not Confluent's",
    "the payload ends before its message indexes do",
    "its schema has no such message",
    "its columns would be larger than 16 MiB and 256 times the payload",
    "a decimal has more digits than its schema says",
    "a timestamp is out of the range of microseconds",
)
"""The error messages, by number."""


class Fault(Exception):
    """A value that cannot be read; its number is an index in FAULTS."""

    def __init__(self, number: int) -> None:
        super().__init__(FAULTS[number])
        self.number = number
