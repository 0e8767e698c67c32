"""Splits the text of a Protobuf schema into words, numbers, strings and symbols. Raises SchemaRefused for anything
else."""

from __future__ import annotations

import re

from kcli.schemas import SchemaRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 4 << 20  # characters of a schema's text
_TOKEN = re.compile(
    r"""(?:\s|//[^\n]*|/\*.*?\*/)*"""
    r"""([^\W\d]\w*|\.?\d(?:[eE][+-]|[\w.])*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[][{}()<>;:,.=+\-/])?""",
    re.DOTALL | re.ASCII,
)
_OPENS = {"{": "}", "[": "]", "(": ")"}
_ESCAPE = re.compile(r"\\([abfnrtv\\?'\"]|[0-7]{1,3}|[xX][0-9a-fA-F]{1,2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})")
_ESCAPED = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))


def refuse(problem: str) -> SchemaRefused:
    return SchemaRefused(f"the Protobuf schema is not used: {problem}")


class Tokens:
    """The tokens of a text. Each method raises SchemaRefused, with the line."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            raise refuse(f"its text is longer than {LONGEST >> 20} MiB")
        self._text = text
        self._places: list[int] = []
        self._tokens: list[str] = []
        at = 0
        while True:
            match = _TOKEN.match(text, at)
            if match is None or match[1] is None:
                break
            self._places.append(match.start(1))
            self._tokens.append(match[1])
            at = match.end()
        rest = at if match is None else match.end()
        self._places.append(rest)
        self.at = 0
        if rest < len(text):
            self.at = len(self._tokens)
            raise self.wrong(f"unexpected {text[rest]!r}")

    def wrong(self, problem: str) -> SchemaRefused:
        """Return an error at the next token."""
        line = self._text.count("\n", 0, self._places[min(self.at, len(self._tokens))]) + 1
        return refuse(f"line {line}: {problem}")

    @property
    def next(self) -> str:
        """Take the next token, "" at the end."""
        return self._tokens[self.at] if self.at < len(self._tokens) else ""

    @property
    def before(self) -> str:
        """The last token taken."""
        return self._tokens[self.at - 1]

    def take(self) -> str:
        token = self.next
        if not token:
            raise self.wrong("it ends too early")
        self.at += 1
        return token

    def skip(self, *tokens: str) -> bool:
        """Take the next token if it is one of these."""
        if self.next not in tokens:
            return False
        self.at += 1
        return True

    def expect(self, token: str) -> None:
        if not self.skip(token):
            raise self.wrong(f"{token} is missing before {self.next or 'the end'}")

    def word(self) -> str:
        if not self.next[:1].isalpha() and self.next[:1] != "_":
            raise self.wrong(f"a name is missing before {self.next or 'the end'}")
        return self.take()

    def name(self) -> str:
        """Take a name with dots: `.shop.Order` or `shop.Order`."""
        parts = [self.take()] if self.next == "." else []
        parts.append(self.word())
        while self.skip("."):
            parts += (".", self.word())
        return "".join(parts)

    def integer(self) -> int:
        sign = -1 if self.skip("-") else 1
        token = self.next
        try:
            octal = token[:1] == "0" and token[1:].isdecimal()
            number = int(token, 8 if octal else 0)
        except ValueError:
            raise self.wrong(f"a number is missing before {token or 'the end'}") from None
        self.at += 1
        return sign * number

    def string(self) -> str:
        """Take a string; adjacent strings are joined."""
        if self.next[:1] not in ('"', "'"):
            raise self.wrong(f"a string is missing before {self.next or 'the end'}")
        parts = []
        while self.next[:1] in ('"', "'") and self.next:
            parts.append(_ESCAPE.sub(_unescaped, self.take()[1:-1]))
        return "".join(parts)

    def until(self, *ends: str) -> list[str]:
        """Take the tokens up to and including one of these, skipping nested brackets."""
        tokens: list[str] = []
        closing: list[str] = []
        while True:
            token = self.take()
            if not closing and token in ends:
                return tokens
            if token in _OPENS:
                closing.append(_OPENS[token])
            elif closing and token == closing[-1]:
                closing.pop()
            tokens.append(token)

    def block(self, statement: Callable[[], None]) -> None:
        """Parse statements between braces."""
        self.expect("{")
        while not self.skip("}"):
            if not self.skip(";"):
                statement()


def _unescaped(match: re.Match[str]) -> str:
    inner = match[1]
    if inner[0] in "xXuU":
        number = int(inner[1:], 16)
        return chr(number) if number < 0x110000 else "�"
    return chr(int(inner, 8)) if inner[0].isdecimal() else _ESCAPED.get(inner, inner)
