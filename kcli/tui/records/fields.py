"""Values in the list of records: as JSON, a field of them as a column, and the condition that filters them. Pure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from kcli.errors import UsageError
from kcli.proto.columns import Record
from kcli.serde.decoded import value_of
from kcli.serde.filters.filter import Filter
from kcli.serde.filters.operators import FUNCTIONS
from kcli.serde.filters.where import NAMES, WORDS, Where
from kcli.serde.shape import fields
from kcli.tui.text.printable import printable, quoted
from kcli.tui.widgets.columns import Cell, Column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kcli.tui.tail import Seen

EXAMPLES = 20
"""Records whose fields are offered."""
MOST = 64 * 1024
"""Bytes of a value that is parsed for its fields: 2 ms."""
MISSING = object()
DEEPEST = 60
"""Maps and lists within one another that are shown; of those below it `…`."""
_QUOTED = r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\''
_PIECES = re.compile(rf"({_QUOTED})|(?<![\w.])([^\W\d]\w*)(?!\w|\s*\()")
"""Texts in quotes, and names that are no functions."""
_BEGINS = re.compile(rf"\s*(?:not\s+|\()*(?:{'|'.join(NAMES)})\b\s*(?:[.\[]|in\b|not\b|is\b)")
_OPERATOR = re.compile(
    r"[<>=]|\b(?:not\s+)?in\s*[\[(]|\bis\s+(?:not\s+)?(?:null|None)\b"
    rf"|\b(?:{'|'.join((*FUNCTIONS, 'matches'))})\("
)
"""What makes words a condition; other words are a text to look for."""
_KEPT = frozenset(NAMES) | set(WORDS) | {"and", "or", "not", "in", "is"}
_WORD = re.compile(r"(?<![\w.])[^\W\d][\w.]*$")
"""A field that is being typed at the end of a condition."""


def as_where(words: str) -> str:
    """A condition in which other names than those of a record's parts are fields of its value."""
    return _PIECES.sub(lambda found: f"value.{found[2]}" if found[2] and found[2] not in _KEPT else found[0], words)


class Condition:
    """`~` begins a regular expression; words with an operator are a condition, whose bare names are fields of the
    value; all else, or what is in quotes, is a text that must be in the value. `decoded`: it is about keys and values
    by their schemas. `problem` says why the words are no condition yet; then every record fits. `option` is the same
    for a command."""

    def __init__(self, words: str, *, decoded: bool = False) -> None:
        self.words = words
        self.problem = ""
        self.option = ""
        self.filter: Filter | None = None
        if not words.strip():
            return
        try:
            plain = re.sub(_QUOTED, "", words)
            if words.startswith("~") or not (_BEGINS.match(words) or _OPERATOR.search(plain)):
                quote = re.fullmatch(_QUOTED, words.strip())
                pattern = words[1:] if words.startswith("~") else re.escape(words.strip()[1:-1] if quote else words)
                self.filter, self.option = Filter(grep=[pattern]), f" --grep {quoted(pattern)}"
            else:
                where = as_where(words)
                self.filter, self.option = Filter(where=[Where(where)], decoded=decoded), f" --where {quoted(where)}"
        except UsageError as problem:
            self.problem = str(problem)

    def fits(self, record: Seen) -> bool:
        """Whether the record is wanted."""
        if self.filter is None:
            return True
        read = Record(record.offset, record.timestamp, record.key, record.value, record.headers)
        return self.filter.record(read, record.topic, record.partition)


def completed(words: str, records: Iterable[Seen]) -> str | None:
    """The words with the field at their end completed by a field that the values of the last records have."""
    typed = _WORD.search(words)
    if typed is None:
        return None
    known: dict[str, None] = {}
    for record in list(records)[-EXAMPLES:]:
        value = value_of(record.value)
        if isinstance(value, dict):
            prefix = "value." if typed[0].startswith("value.") else ""
            known |= dict.fromkeys(prefix + path for path, _ in fields(value) if "[]" not in path)
    longer = [path for path in known if path.startswith(typed[0]) and path != typed[0] and printable(path) == path]
    return words[: typed.start()] + min(longer, key=len) if longer else None


class FieldColumns:
    """Which fields are columns, the last one first; each value is parsed once while it is shown."""

    def __init__(self, shown: Callable[[Seen], Seen]) -> None:
        self.paths: list[str] = []
        self._shown = shown
        self._parsed: dict[bytes, Any] = {}

    def turn(self, path: str) -> None:
        """Make a column of a field, or no longer; `value.` before it goes without saying."""
        path = path.strip().removeprefix("value.")
        if path in self.paths:
            self.paths.remove(path)
        elif path:
            self.paths.append(path)

    def columns(self) -> list[Column]:
        """Beside those that the list has always."""
        return [
            Column(
                f"field {path}",
                printable(path).upper(),
                lambda record, path=path: _sortable(self._of(record, path)),  # type: ignore[misc]
                draw=lambda record, path=path: _cell(self._of(record, path)),  # type: ignore[misc]
                wide=True,
                most=60,
            )
            for path in self.paths
        ]

    def _of(self, record: Seen, path: str) -> Any:
        data = self._shown(record).value
        if data is None or len(data) > MOST:
            return MISSING
        if data not in self._parsed:
            if len(self._parsed) > 4096:
                self._parsed.clear()
            self._parsed[data] = value_of(data)
        return at(self._parsed[data], path)


def at(value: Any, path: str) -> Any:
    """The field of a value: `customer.country`, `tags.0`. MISSING where it has none."""
    for name in path.split("."):
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return MISSING
    return value


def offered(records: Iterable[Seen]) -> list[str]:
    """The fields that the last records have."""
    known: dict[str, None] = {}
    for record in list(records)[-EXAMPLES:]:
        value = value_of(record.value) if record.value is not None and len(record.value) <= MOST else None
        if isinstance(value, dict):
            known |= dict.fromkeys(path for path, _ in fields(value) if "[]" not in path)
    return list(known)


def _sortable(value: Any) -> tuple[int, float, str] | None:
    """Numbers before all others; None for no field."""
    if value is MISSING:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return 0, float(value) if abs(value) < 2**1000 else 0.0, ""
    return 1, 0.0, value if isinstance(value, str) else as_json(value)


def _cell(value: Any) -> Cell:
    if value is MISSING:
        return Cell("", "dim")
    if isinstance(value, str):
        return Cell(printable(value))
    return Cell(printable(as_json(value)), "dim" if value is None else "accent")


def as_json(value: Any, *, indent: int | None = None) -> str:
    """JSON of a decoded value. What JSON has no word for is its text: dates, bytes, keys of a map that are no text."""
    try:
        return json.dumps(value, indent=indent, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(_plain(value, DEEPEST), indent=indent, ensure_ascii=False, default=str)


def _plain(value: Any, left: int) -> Any:
    if isinstance(value, dict):
        return {_key(key): _plain(one, left - 1) for key, one in value.items()} if left else "…"
    if isinstance(value, (list, tuple)):
        return [_plain(one, left - 1) for one in value] if left else "…"
    return value


def _key(key: object) -> Any:
    if isinstance(key, bytes):
        return key.decode("utf-8", "backslashreplace")
    return key if key is None or isinstance(key, (str, int, float)) else str(key)
