"""The filter of records: a regular expression over values, or a condition as `--where` has it. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kcli.errors import UsageError
from kcli.proto.columns import Record
from kcli.serde.decoded import value_of
from kcli.serde.filters.filter import Filter
from kcli.serde.filters.where import NAMES, Where
from kcli.serde.shape import fields
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.tui.tail import Seen

_WHERE = re.compile(rf"\s*(?:not\s+|\()*(?:{'|'.join(NAMES)})\b\s*(?:[.\[=!<>]|in\b|not\b|is\b)")
"""How a condition begins; other words are a regular expression."""
_WORD = re.compile(r"value\.[\w.]*$")
"""A field that is being typed at the end of a condition."""
EXAMPLES = 20
"""Records whose fields are offered."""


class Condition:
    """`decoded`: it is about keys and values by their schemas. `problem` says why the words are no condition yet; then
    every record fits. `option` is the same for a command."""

    def __init__(self, words: str, *, decoded: bool = False) -> None:
        self.words = words
        self.problem = ""
        self.option = ""
        self.filter: Filter | None = None
        if not words.strip():
            return
        try:
            if _WHERE.match(words):
                self.filter, self.option = Filter(where=[Where(words)], decoded=decoded), f" --where {quoted(words)}"
            else:
                self.filter, self.option = Filter(grep=[words]), f" --grep {quoted(words)}"
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
            known |= dict.fromkeys(f"value.{path}" for path, _ in fields(value) if "[]" not in path)
    longer = [path for path in known if path.startswith(typed[0]) and path != typed[0] and printable(path) == path]
    return words[: typed.start()] + min(longer, key=len) if longer else None
