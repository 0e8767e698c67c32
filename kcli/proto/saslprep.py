"""SASLprep (RFC 4013): normalizes names and passwords that look the same.

Kafka's own tools store a password as typed, others prepare it first: see `kcli/broker/security/access.py`.
"""

from __future__ import annotations

import stringprep
from unicodedata import ucd_3_2_0 as unicode32

_PROHIBITED = (
    stringprep.in_table_c12,
    stringprep.in_table_c21_c22,
    stringprep.in_table_c3,
    stringprep.in_table_c4,
    stringprep.in_table_c5,
    stringprep.in_table_c6,
    stringprep.in_table_c7,
    stringprep.in_table_c8,
    stringprep.in_table_c9,
    stringprep.in_table_a1,
)


def saslprep(text: str) -> str:
    """Return the prepared form. Raises ValueError for a text that has none: control characters, mixed directions."""
    mapped = "".join(
        " " if stringprep.in_table_c12(letter) else letter for letter in text if not stringprep.in_table_b1(letter)
    )
    prepared = unicode32.normalize("NFKC", mapped)
    for letter in prepared:
        if any(prohibited(letter) for prohibited in _PROHIBITED):
            raise ValueError(f"U+{ord(letter):04X} is not allowed in a name or password")
    if any(map(stringprep.in_table_d1, prepared)):  # right-to-left text must not be mixed, and must be at both ends
        ends = stringprep.in_table_d1(prepared[0]) and stringprep.in_table_d1(prepared[-1])
        if not ends or any(map(stringprep.in_table_d2, prepared)):
            raise ValueError("right-to-left characters are mixed with others")
    return prepared
