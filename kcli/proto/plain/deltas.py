"""Offset deltas as varints, made once."""

from __future__ import annotations

from kcli.proto.varint import encode_varint

DELTAS: list[bytes] = []
"""Offset delta to its varint, for as many as were needed up to now."""


def count_to(count: int) -> None:
    while len(DELTAS) < count:
        DELTAS.append(encode_varint(len(DELTAS)))
