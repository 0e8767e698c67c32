"""YAML between brackets: `{a: 1, b: [x, y]}`, over as many lines as it takes, and so JSON too.

A value ends where its bracket does, and nothing stands behind that on its line but a comment.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kcli.errors import UsageError

ENDS = {"{": "}", "[": "]"}
DEEPEST = 40


class Flow:
    """Reads from `lines[at][column]`, where a bracket opens. `scalar` makes a value of a text; `wrong` makes the error
    of a line; `new` makes an empty map, which knows the `lines` of its keys."""

    def __init__(
        self, lines: list[str], at: int, column: int, *, scalar: Callable[[str], Any],
        wrong: Callable[[int, str], UsageError], new: Callable[[], Any],
    ) -> None:  # fmt: skip
        self._lines = lines
        self.at = at
        self._column = column
        self._scalar = scalar
        self._wrong = wrong
        self._new = new
        self._opened = at

    def whole(self) -> Any:
        """The value; `at` is then the line of its last bracket. Raises UsageError."""
        value = self._value(0)
        rest = self._lines[self.at][self._column :].strip()
        if rest and not rest.startswith("#"):
            raise self._wrong(self.at, f"{rest[:20]!r} stands behind the bracket that ends the value")
        return value

    def _peek(self) -> str:
        """The next character that says something."""
        while self.at < len(self._lines):
            line = self._lines[self.at]
            while self._column < len(line) and line[self._column] in " \t":
                self._column += 1
            if self._column < len(line) and not (
                line[self._column] == "#" and (not self._column or line[self._column - 1] in " \t")
            ):
                return line[self._column]
            self.at, self._column = self.at + 1, 0
        self.at = self._opened
        raise self._wrong(self._opened, "a bracket that opens here is never closed")

    def _value(self, depth: int) -> Any:
        char = self._peek()
        if char not in ENDS:
            return self._scalar(self._text(",]}"))
        if depth > DEEPEST:
            raise self._wrong(self.at, "this is nested too deeply")
        self._column += 1
        found = self._new() if char == "{" else []
        while self._peek() != ENDS[char]:
            if char == "[":
                found.append(self._value(depth + 1))
            else:
                self._pair(found, depth)
            if self._peek() == ",":
                self._column += 1
            elif self._peek() != ENDS[char]:
                raise self._wrong(self.at, f"expected , or {ENDS[char]} before {self._peek()!r}")
        self._column += 1
        return found

    def _pair(self, found: Any, depth: int) -> None:
        self._peek()
        line, text = self.at, self._text(":,]}")
        key = self._scalar(text) if text[:1] in ("'", '"') else text
        if not isinstance(key, str) or not key or self._peek() != ":":
            raise self._wrong(line, "expected KEY: VALUE between the braces")
        if key in found:
            raise self._wrong(line, f"{key} stands here twice")
        self._column += 1
        found.lines[key] = line + 1
        found[key] = self._scalar("") if self._peek() in ",}" else self._value(depth + 1)

    def _text(self, ends: str) -> str:
        """A scalar as it is written, with its quotation marks."""
        line, start = self._lines[self.at], self._column
        quote = line[start]
        if quote not in "\"'":
            while self._column < len(line) and not self._stops(line, ends):
                self._column += 1
            return line[start : self._column].rstrip()
        self._column += 1
        while self._column < len(line):
            if line[self._column] == "\\" and quote == '"':
                self._column += 1
            elif line[self._column] == quote:
                if quote == '"' or line[self._column + 1 : self._column + 2] != "'":
                    self._column += 1
                    return line[start : self._column]
                self._column += 1
            self._column += 1
        raise self._wrong(self.at, "a quotation mark that opens here is not closed on its line")

    def _stops(self, line: str, ends: str) -> bool:
        """Whether a plain text ends here: a colon does only before a space, a # only behind one."""
        char, after = line[self._column], line[self._column + 1 : self._column + 2]
        if char == "#":
            return line[self._column - 1] in " \t"
        return char in ends and (char != ":" or after in ("", " ", "\t", ",", "]", "}"))
