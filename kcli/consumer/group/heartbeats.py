"""What heartbeats of KIP-848 and KIP-932 share: the epochs that are questions, and the member id of our making."""

from __future__ import annotations

from binascii import b2a_base64
from os import urandom

JOIN, LEAVE, LEAVE_STATIC = 0, -1, -2
"""Member epochs that are questions."""
FIRST_INTERVAL = 3.0
"""Seconds between heartbeats until the coordinator says its own (E55)."""


def new_member_id() -> str:
    """A random UUID as Kafka writes them: 22 characters, the first one no sign (KIP-1082)."""
    raw = bytearray(urandom(16))
    raw[0] &= 0x7F
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    return b2a_base64(raw, newline=False).decode().rstrip("=").replace("+", "-").replace("/", "_")
