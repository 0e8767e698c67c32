"""What is beside the list of records on a wide screen: the record under the cursor. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.tui.screens.record import decoded, opening, sized, text, times
from kcli.tui.screens.topics.pane import fact
from kcli.tui.text.incidents import Line, Word
from kcli.tui.text.printable import printable, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.tui.tail import Seen

MOST = 16 * 1024
"""Bytes of a value that is shown as it is on its own page, of a larger one its beginning: 10 ms a key press."""
HEADERS, NAME = 8, 100
"""Headers that are shown, and letters of the name of one."""


def record_lines(record: Seen, stored: Seen, command: str) -> list[Line]:
    """A record: where, when, its key, its headers, its sizes. `record` has key and value as they are shown, `stored` as
    they are in the log; `command` reads it."""
    headers = [
        f"{name[:NAME]}{'…' * (len(name) > NAME)} = {'null' if value is None else shown(value)}"
        for name, value in record.headers[:HEADERS]
    ]
    if len(record.headers) > HEADERS:
        headers.append(f"… and {len(record.headers) - HEADERS} more")
    place = f"{printable(record.topic)}[{record.partition}] at {record.offset}"
    return [
        Line([Word(place, "name")]),
        fact("time", times(record.timestamp)[0]),
        fact("key", "null" if record.key is None else shown(record.key), "dim" if record.key is None else ""),
        fact("size", f"key {sized(stored.key)}   value {sized(stored.value)}"),
        *(fact("" if n else "headers", header) for n, header in enumerate(headers or ["none"])),
        fact("", f"$ {command}", "dim"),
        Line([]),
    ]


def value_lines(value: bytes | None) -> list[str]:
    """The value as the page of a record shows it; of a large one the beginning."""
    if value is None or len(value) <= MOST:
        return decoded(value).split("\n")
    begun = opening(value, MOST) or text(value[:MOST]).split("\n")
    return [*begun, "", f"… of {len(value):,} bytes the first {MOST:,}: enter shows more"]


def is_json(lines: Sequence[str]) -> bool:
    """Whether these lines have the colours of JSON."""
    return bool(lines) and lines[0][:1] in ("{", "[")
