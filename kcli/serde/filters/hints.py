"""Derives from a `--where` condition what the bytes of a matching record must contain, so that only such records are
decoded and tested.

`value.user == "ann"` requires ann in the value, `value.id == 7` requires "id": 7, or another spelling of the number.
JSON may escape either with a backslash, and msgpack has no digits, so values with a backslash, and for numbers those
that may be msgpack, are always tested. Only conditions joined by `and` give hints.
"""

from __future__ import annotations

import ast
import re

from kcli.serde.filters.row_search import rows_beginning, rows_headed_with, rows_matching, rows_with
from kcli.serde.formats import MAPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kcli.proto.columns import Columns

    Named = Callable[[ast.Attribute], str]

_SHOWN = re.compile(r"[ !#-\[\]-~]+")
"""Characters that JSON writes unescaped, if it writes no escapes."""
_SPACE = rb"[ \t\r\n]*"
_TESTS = {"startswith": 2, "endswith": 2, "contains": 2}


class Hint:
    """`text`, or a match of `pattern`, is in that part of the record: key, value or headers."""

    def __init__(self, part: str, text: bytes, pattern: re.Pattern[bytes] | None = None) -> None:
        self.part = part
        self.text = text
        self.pattern = pattern

    def rows(self, columns: Columns) -> set[int]:
        """Return the rows that may match; all that do are included."""
        if self.part == "headers":
            return set(rows_headed_with(columns, self.text))
        if self.pattern is not None:
            rows = rows_matching(columns, self.part, self.pattern) + rows_beginning(columns, self.part, bytes(MAPS))
        else:
            rows = rows_with(columns, self.part, self.text)
        return {*rows, *rows_with(columns, self.part, b"\\")}


def hints_of(condition: ast.expr, named: Named) -> list[Hint]:
    """Return the hints of a condition as typed; `named` are the original names of attributes."""
    return list(_hints(condition, named))


def _hints(node: ast.expr, named: Named) -> Iterator[Hint]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for value in node.values:
            yield from _hints(value, named)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = node.left, node.comparators[0]
        if isinstance(node.ops[0], ast.Eq):
            yield from _equal(left, right, named)
            yield from _equal(right, left, named)
        elif isinstance(node.ops[0], ast.In):
            yield from _holding(right, left)
    elif isinstance(node, ast.Call) and not node.keywords:
        yield from _called(node)


def _called(node: ast.Call) -> Iterator[Hint]:
    """Handle `contains(value.name, "a")` and `value.name.contains("a")`."""
    if isinstance(node.func, ast.Attribute):
        name, arguments = node.func.attr, [node.func.value, *node.args]
    elif isinstance(node.func, ast.Name):
        name, arguments = node.func.id, list(node.args)
    else:
        return
    if _TESTS.get(name) == len(arguments):
        yield from _holding(*arguments)


def _holding(whole: ast.expr, part: ast.expr) -> Iterator[Hint]:
    """Return the hint that a text is in a part of the record."""
    text = _text(part)
    place = _place(whole)
    if text and place in ("key", "value"):
        yield Hint(place, text)


def _equal(thing: ast.expr, constant: ast.expr, named: Named) -> Iterator[Hint]:
    place, text = _place(thing), _text(constant)
    if text and place is not None:
        yield Hint(place, text)
    elif place in ("key", "value") and isinstance(thing, ast.Attribute) and _SHOWN.fullmatch(name := named(thing)):
        number = constant.value if isinstance(constant, ast.Constant) else None
        if type(number) is int and number:
            yield Hint(place, b"", _numbered(name, number))


def _numbered(name: str, number: int) -> re.Pattern[bytes]:
    """Return a pattern for a field with that number, or with one with a decimal point or exponent that may be equal; in
    quotes if the JSON of a schema has them, and with leading zeros."""
    begin = re.escape(f'"{name}"'.encode()) + _SPACE + b":" + _SPACE
    same, odd = b"%d(?![0-9])" % number, b"-?[0-9]+[.eE]"
    # most values end the search at their first byte, because each branch begins with one
    return re.compile(begin + b'(?:%b|["0]0*(?:%b|%b)|%b)' % (same, same, odd, odd))


def _place(node: ast.expr) -> str | None:
    """Return the part of the record that a path leads into: key, value.a.b, headers.x, value["a"][0]."""
    inside = False
    while isinstance(node, ast.Attribute | ast.Subscript):
        node, inside = node.value, True
    name = node.id if isinstance(node, ast.Name) else None
    return name if name in ("key", "value") or (name == "headers" and inside) else None


def _text(node: ast.expr) -> bytes:
    """Return a constant text that JSON writes unescaped; b"" otherwise."""
    text = node.value if isinstance(node, ast.Constant) else None
    return text.encode() if isinstance(text, str) and _SHOWN.fullmatch(text) else b""
