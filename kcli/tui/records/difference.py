"""What differs between two records, as lines that begin with a sign. Pure."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from kcli.tui.text.formatting import dated, moment
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kcli.tui.tail import Seen

MOST = 2000
"""Lines of a value that are compared: 0.2 s where all of them are the same line."""


def difference(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """All lines: `- ` only in the first text, `+ ` only in the second, two blanks in both."""
    lines: list[str] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [f"  {line}" for line in old[a:b]]
        else:
            lines += [f"- {line}" for line in old[a:b]] + [f"+ {line}" for line in new[c:d]]
    return lines


def of_records(old: Seen, new: Seen, written: Callable[[bytes | None], str]) -> list[str]:
    """Of two records: where they are, time, key, headers, value; `written` makes text of a value."""
    first, second = _facts(old), _facts(new)
    values = [written(one.value).split("\n") for one in (old, new)]
    lines = [*difference(first, second), "", *difference(*(value[:MOST] for value in values))]
    if max(map(len, values)) > MOST:
        lines.append(f"  … only the first {MOST:,} lines of each value are compared")
    return lines


def count(lines: Sequence[str]) -> int:
    """How many lines of the longer side differ."""
    return max(sum(line.startswith(sign) for line in lines) for sign in ("- ", "+ "))


def _facts(record: Seen) -> list[str]:
    then = moment(record.timestamp)
    when = str(record.timestamp) if then is None else dated(then, "milliseconds")
    key = "null" if record.key is None else printable(record.key.decode("utf-8", "backslashreplace"))
    rows = [("at", f"{record.topic}[{record.partition}] {record.offset}"), ("time", when), ("key", key)]
    for name, value in record.headers:
        rows.append((f"header {name}", "null" if value is None else value.decode("utf-8", "backslashreplace")))
    return [printable(f"{name:<6} {text}") for name, text in rows]
