"""Records laid out for reading: time, partition:offset, key and value in colour, JSON on as many lines as it needs.

Record by record, for what a person reads. Nothing of a record reaches the output as it is: control bytes are shown.
"""

from __future__ import annotations

import os

from kcli.cli.output.terminal import painted
from kcli.cli.output.timestamps import utc
from kcli.serde.json_text import TOKEN
from kcli.text.escape import visible_bytes, visible_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kcli.proto.batch import Batch
    from kcli.proto.columns import Record

    Node = str | list[tuple[str, "Node"]]
    """A token, or what is between two brackets: first ("", bracket), then (name or "", node) of each."""

TIME, PLACE, KEY, QUIET = "2", "36", "1;33", "2"
WIDTH = 100  # columns where the output is no terminal
LONGEST = 16 * 1024  # bytes of a value that a terminal is shown
LARGEST = 4 << 20  # bytes of one that is laid out for a file: a page of it costs forty times its memory
KEY_WIDTH = 24  # columns up to which keys are aligned
STEP = 2  # columns of an indent
DEEP = 60  # levels that are laid out; deeper ones are on one line
NAME, TEXT, NUMBER, WORD = "34;1", "32", "36", "33"
CLOSES = {"{": "}", "[": "]"}


class Pretty:
    """The view of records. `terminal` cuts long values; `color` is auto, always or never;
    `value_format` is how values are read: what is of another format is text. `several`: each record has its topic."""

    def __init__(self, *, terminal: bool, color: str | None, value_format: str, several: bool = False) -> None:
        self._terminal = terminal
        self._color = color == "always" or (color != "never" and terminal and not os.environ.get("NO_COLOR"))
        self._read = _reader(value_format)
        self._several = several
        self._place_width = self._key_width = 0
        self._time_width = len(utc(0))

    def put(self, out: bytearray, batch: Batch, topic: str, partition: int, limit: int = -1) -> tuple[int, int]:
        """Append a batch's records, at most `limit` (-1: all). Returns how many, and the offset after the last."""
        count, after = 0, max(batch.first, batch.base_offset)
        for record in batch:
            if count == limit:
                break
            lines = self._record(record, topic, partition)
            out += "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
            count, after = count + 1, record.offset + 1
        else:
            after = min(batch.stop, batch.last_offset + 1)
        return count, after

    def _record(self, record: Record, topic: str, partition: int) -> list[str]:
        place = f"{partition}:{record.offset}"
        if self._several:
            place = f"{visible_bytes(topic.encode('utf-8', 'surrogateescape')).decode()} {place}"
        key, dim = _key(record.key)
        self._place_width = max(self._place_width, len(place))
        self._key_width = max(self._key_width, min(len(key), KEY_WIDTH))
        time = utc(record.timestamp) if record.timestamp >= 0 else "no timestamp"
        head = "  ".join(
            (
                self._paint(time.ljust(self._time_width), TIME),
                self._paint(place.ljust(self._place_width), PLACE),
                self._paint(key.ljust(self._key_width), QUIET if dim else KEY),
            )
        )
        used = self._time_width + 2 + self._place_width + 2 + max(self._key_width, len(key)) + 2
        first, *rest = self._value(record.value, used, self._width())
        return [f"{head}  {first}".rstrip(), *rest, *self._headers(record)]

    def _value(self, value: bytes | None, used: int, width: int) -> list[str]:
        """The lines of a value, the first one beside the head, where `used` columns are taken."""
        if value is None:
            return [self._paint("<null>", QUIET)]
        if not value:
            return [self._paint("<empty>", QUIET)]
        given, more = value, ""
        most = LONGEST if self._terminal else LARGEST
        if len(value) > most:
            given = value[:most]
            more = self._paint(f"… {len(value) - most:,} more bytes; -f '%s\\n' prints all of them", QUIET)
        found = None if more else self._read(given)
        if found is not None:
            return self._json(visible_json(found.encode()).decode(), used, width)
        lines = visible_bytes(given, keep="\n\t").decode().removesuffix("\n").split("\n")
        if len(lines) > 1 or more:
            lines = ["", *(f"  {line}" for line in lines)]
        return [*lines, f"  {more}"] if more else lines

    def _json(self, text: str, used: int, width: int) -> list[str]:
        if used + len(text) <= width:
            return laid_out(text, 2 * width, color=self._color)
        try:
            lines = laid_out(text, width, 2, color=self._color)
        except RecursionError:
            return [text]
        return ["", f"  {lines[0]}", *lines[1:]]

    def _headers(self, record: Record) -> list[str]:
        if not record.headers:
            return []
        shown = []
        for name, value in record.headers:
            data = name.encode("utf-8", "surrogateescape") + (b"" if value is None else b"=" + value)
            shown.append(_cut(data))
        return [self._paint("  headers: " + ", ".join(shown), QUIET)]

    def _width(self) -> int:
        """Columns of a line. Asked for each record: a window changes its size while records come."""
        try:
            return os.get_terminal_size(1).columns or WIDTH if self._terminal else WIDTH
        except OSError:
            return WIDTH

    def _paint(self, text: str, code: str) -> str:
        return painted(text, code, self._color)


def _key(key: bytes | None) -> tuple[str, bool]:
    """A key as it is shown, and whether it is a word of ours for none."""
    if key is None:
        return "<null>", True
    return (_cut(key), False) if key else ("<empty>", True)


def _cut(data: bytes) -> str:
    """A key or a header, as far as it is shown."""
    more = f"… {len(data) - LONGEST:,} more bytes" if len(data) > LONGEST else ""
    return visible_bytes(data[:LONGEST]).decode() + more


def _reader(value_format: str) -> Callable[[bytes], str | None]:
    from kcli.serde import json_text

    readers: dict[str, Callable[[bytes], str | None]] = {
        "json": json_text.written_json,
        "msgpack": json_text.msgpack_json,
        "url": json_text.url_json,
    }
    return readers.get(value_format, json_text.json_or_map)


def laid_out(text: str, room: int, indent: int = 0, *, color: bool = False) -> list[str]:
    """The lines of a JSON text, without the indent of the first one; `room` is the width of a line in columns. Raises
    RecursionError."""
    return _lines(_node(TOKEN.finditer(text)), room, indent, color, 0)


def _node(tokens: Iterator[object]) -> Node:
    return _after(_next(tokens), tokens)


def _next(tokens: Iterator[object]) -> str:
    return next(tokens).group()  # type: ignore[attr-defined, no-any-return]


def _after(token: str, tokens: Iterator[object]) -> Node:
    """The node that begins with a token."""
    if token not in CLOSES:
        return token
    node: list[tuple[str, Node]] = [("", token)]
    closing = CLOSES[token]
    while (token := _next(tokens)) != closing:
        if token == ",":
            continue
        name = ""
        if closing == "}":
            name, _ = token, _next(tokens)  # the colon
            token = _next(tokens)
        node.append((name, _after(token, tokens)))
    return node


def _lines(node: Node, room: int, indent: int, color: bool, depth: int) -> list[str]:
    if isinstance(node, str) or len(node) == 1 or depth > DEEP or indent + _width(node, room) <= room:
        return [_flat(node, color)]
    bracket = str(node[0][1])
    lines = [bracket]
    for number, (name, child) in enumerate(node[1:], 2):
        label = painted(name, NAME, color) + ": " if name else ""
        first, *rest = _lines(child, room - len(name) - 3, indent + STEP, color, depth + 1)
        lines += [" " * (indent + STEP) + label + first, *rest]
        if number < len(node):
            lines[-1] += ","
    lines.append(" " * indent + CLOSES[bracket])
    return lines


def _width(node: Node, most: int) -> int:
    """Columns of a node on one line; more than `most` is not counted to its end."""
    if isinstance(node, str):
        return len(node)
    width = 2 + 2 * max(len(node) - 2, 0)
    for name, child in node[1:]:
        width += (len(name) + 2 if name else 0) + _width(child, most - width)
        if width > most:
            break
    return width


def _flat(node: Node, color: bool) -> str:
    if isinstance(node, str):
        return painted(node, TEXT if node[0] == '"' else WORD if node[0].isalpha() else NUMBER, color)
    bracket = str(node[0][1])
    parts = [(painted(name, NAME, color) + ": " if name else "") + _flat(child, color) for name, child in node[1:]]
    return bracket + ", ".join(parts) + CLOSES[bracket]
