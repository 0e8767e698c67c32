"""`produce --repeat N`: records made from --value and --tombstone, with {{seq}}, {{uuid}} and {{now}} filled in."""

from __future__ import annotations

import re
from itertools import cycle, islice

from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kcli.cli.output.records.envelope import Row

PLACE = re.compile(rb"\{\{\s*(seq|uuid|now)\s*\}\}")
ANY_PLACE = re.compile(rb"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
STEP = 1000  # records that are made at once


def filled(rows: Sequence[Row], repeat: int, step: int = STEP) -> Iterator[list[Row]]:
    """The rows, all of them `repeat` times, `step` at a time. {{seq}} counts records from 1; {{uuid}} and {{now}}
    are one value in a record, wherever they occur in it."""
    places = [_has_places(row) for row in rows]
    records = islice(cycle(zip(rows, places, strict=True)), len(rows) * repeat)
    number = 0
    while some := list(islice(records, step)):
        chunk: list[Row] = []
        for row, has_places in some:
            number += 1
            chunk.append(_fill(row, number) if has_places else row)
        yield chunk


def check_places(*texts: bytes | None) -> None:
    """Raises UsageError for a name that nothing is known to fill in for."""
    for match in (match for text in texts if text is not None for match in ANY_PLACE.finditer(text)):
        if PLACE.fullmatch(match[0]) is None:
            from kcli.text.suggest import did_you_mean

            name = match[1].decode()
            near = did_you_mean(name, ("seq", "uuid", "now")) or "; known: {{seq}}, {{uuid}}, {{now}}"
            raise UsageError(f"--repeat: {{{{{name}}}}} is unknown{near}")


def has_places(data: bytes) -> bool:
    """Whether something would be filled in."""
    return PLACE.search(data) is not None


def _has_places(row: Row) -> bool:
    _, _, key, value, headers = row
    return any(has_places(data) for data in (key, value, *(value for _, value in headers)) if data is not None)


def _fill(row: Row, number: int) -> Row:
    known: dict[bytes, bytes] = {b"seq": b"%d" % number}

    def filling(match: re.Match[bytes]) -> bytes:
        name = match[1]
        if name not in known:
            known[name] = _uuid() if name == b"uuid" else _now()
        return known[name]

    partition, timestamp, key, value, headers = row
    key = key if key is None else PLACE.sub(filling, key)
    value = value if value is None else PLACE.sub(filling, value)
    headers = [(name, data if data is None else PLACE.sub(filling, data)) for name, data in headers]
    return partition, timestamp, key, value, headers


def _uuid() -> bytes:
    from uuid import uuid4

    return str(uuid4()).encode()


def _now() -> bytes:
    from time import time

    from kcli.cli.output.timestamps import utc

    return utc(int(time() * 1000)).encode()
