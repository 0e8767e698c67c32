"""SQL text taken apart as far as pipelines need it: statements, and which names they can mean. Spark does the rest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

_TOKEN = re.compile(
    r"""(?P<skip>--[^\n]*|/\*.*?\*/|\s+)
    |(?P<text>[rR]?'(?:\\.|[^'\\])*'|[rR]?"(?:\\.|[^"\\])*")
    |(?P<quoted>`(?:``|[^`])*`)
    |(?P<name>[^\W\d]\w*|\d\w*)
    |(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_COUNT = re.compile(r"\bcount\s*\(\s*\*\s*\)", re.IGNORECASE)
_WHOLE = {"describe", "desc", "show", "table", "natural", "create", "cache", "summarize"}


def tokens(sql: str) -> list[tuple[str, str, int]]:
    """(kind, text, where it ends) of everything that is neither space nor remark. Kinds: name, quoted (without its
    marks), text, other."""
    rows = []
    for match in _TOKEN.finditer(sql):
        kind = match.lastgroup or "other"
        if kind != "skip":
            text = match.group()
            rows.append((kind, text[1:-1].replace("``", "`") if kind == "quoted" else text, match.end()))
    return rows


def split(sql: str) -> list[str]:
    """The statements of a text, without the semicolons between them."""
    statements, start = [], 0
    for kind, text, end in tokens(sql):
        if kind == "other" and text == ";":
            statements.append(sql[start : end - 1])
            start = end
    statements.append(sql[start:])
    return [statement.strip() for statement in statements if any(kind != "skip" for kind, _, _ in tokens(statement))]


def mentioned(sql: str, names: Iterable[str]) -> Counter[str]:
    """How often each of the names occurs as a name: by itself where it is a word of SQL, else in back-quotes.
    Case counts for topics, so it counts here."""
    known = set(names)
    return Counter(text for kind, text, _ in tokens(sql) if kind in ("name", "quoted") and text in known)


def bare(sql: str, names: Iterable[str]) -> str | None:
    """A name without the back-quotes that it needs: `orders.eu`, `my-topic`."""
    odd = [name for name in names if not re.fullmatch(r"[^\W\d]\w*", name)]
    for kind, text, end in tokens(sql):
        if text.lower() in ("from", "join", ",") and kind in ("name", "other"):
            rest = sql[end:].lstrip()
            for name in odd:
                if rest.startswith(name) and not re.match(r"[\w.-]", rest[len(name) :]):
                    return name
    return None


def words(statements: Sequence[str]) -> list[str]:
    """The texts, in which `*` stands for every column and for nothing else: for columns_for of frames.py."""
    shapes = []
    for sql in statements:
        lower = {text.lower() for kind, text, _ in tokens(sql) if kind == "name"}
        shapes.append("*" if lower & _WHOLE else _COUNT.sub("count()", sql))
    return shapes


def once_each(statements: Sequence[str], names: Iterable[str]) -> bool:
    """Whether every one of the names is read at most once by all the statements together: only then may Spark push the
    conditions of one reading down into the source, which keeps them for all the others."""
    counted: Counter[str] = Counter()
    known = list(names)
    for sql in statements:
        if any(kind == "name" and text.lower() in ("with", "view", "cache") for kind, text, _ in tokens(sql)):
            return False
        counted += mentioned(sql, known)
    return all(number <= 1 for number in counted.values())
