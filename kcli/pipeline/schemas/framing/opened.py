"""Payloads that are not bare behind their names: those that AWS Glue's serializer compressed, and those that Apicurio's
writes as JSON. They become what the others are, row by row."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

import pyarrow as pa

from kcli.serde.schemas.compressed import unpacked
from kcli.serde.schemas.frames import GLUE, JSON_FORMS, ZLIB
from kcli.serde.schemas.payloads import Unreadable

Open = Callable[[bytes], bytes]
"""The bare payload of one that is not. Raises ValueError."""


def compressed(name: bytes) -> bool:
    return name[0] == GLUE and name[1] == ZLIB


def in_json(name: bytes) -> bool:
    return name[0] in JSON_FORMS


def opening(name: bytes, write: Callable[[str], bytes] | None) -> Open | None:
    """What opens payloads of a name; None where they are bare. `write` makes one of its JSON, None where JSON is what
    payloads are."""
    if compressed(name):
        return unpacked
    if not in_json(name) or write is None:
        return None

    def written(payload: bytes) -> bytes:
        try:
            return write(payload.decode())
        except ValueError as problem:
            raise Unreadable(f"the JSON of its schema: {problem}") from None

    return written


def opened(
    cells: pa.Array, skips: array[int], which: array[int], openings: Sequence[Open | None]
) -> tuple[pa.Array, dict[int, str]]:
    """The cells with payloads opened, which have nothing in front then (`skips`), and by row why one is not; `which`
    gives the row to no reader then."""
    texts, errors = cells.to_pylist(), dict[int, str]()
    for row, number in enumerate(which):
        way = openings[number] if number >= 0 else None
        if way is None or texts[row] is None:
            continue
        try:
            texts[row], skips[row] = way(texts[row][skips[row] :]), 0
        except Unreadable as problem:
            errors[row], which[row] = str(problem), -1
    return pa.array(texts, pa.binary()), errors
