"""Parses a JSON document like Jackson for Spark's `from_json`: it accepts single quotes, NaN and infinities, and
ignores what follows the first object.

Objects are tuples of (name, value), so that duplicate names are kept; arrays are lists; numbers keep their text.
"""

from __future__ import annotations

import json
import re
from typing import Any

SPACE = " \t\r\n"
MOST_DIGITS, DEEPEST = 1000, 1000
"""Jackson's limits, as set by Spark."""


class Malformed(ValueError):
    """The text is not a JSON object."""


class JsonInteger(str):
    """A number without fraction or exponent, as text."""

    __slots__ = ()


class JsonDecimal(str):
    """Any other number, as text."""

    __slots__ = ()


def _whole(text: str) -> JsonInteger:
    if len(text) > MOST_DIGITS:
        raise Malformed("a number of more than 1000 digits")
    return JsonInteger(text)


def _real(text: str) -> JsonDecimal:
    if len(text) > MOST_DIGITS:
        raise Malformed("a number of more than 1000 digits")
    return JsonDecimal(text)


_QUICK = json.JSONDecoder(object_pairs_hook=tuple, parse_int=_whole, parse_float=_real, parse_constant=JsonDecimal)


def document(text: str) -> tuple[tuple[str, Any], ...] | None:
    """The object that `text` begins with; None for one that is blank. Raises Malformed."""
    start = len(text) - len(text.lstrip(SPACE))
    if start == len(text):
        return None
    if text[start] != "{":
        raise Malformed("not a JSON object")
    try:
        try:
            found, _ = _QUICK.raw_decode(text, start)
        except Malformed:
            raise
        except ValueError:
            found = _Careful(text, start).value(0)
    except RecursionError:
        raise Malformed("a JSON object that is nested too deep") from None
    made: tuple[tuple[str, Any], ...] = found
    return made


_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:(?P<mark>[{}\[\],:])
    |(?P<string>"(?:[^"\\\x00-\x1f]|\\.)*"|'(?:[^'\\\x00-\x1f]|\\.)*')
    |(?P<odd>NaN|[-+]Infinity|Infinity|[-+]INF)(?![\w.+-])
    |(?P<real>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+))(?![\w.+-])
    |(?P<whole>-?(?:0|[1-9][0-9]*))(?![\w.+-])
    |(?P<word>true|false|null)(?![\w.+-]))""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_WORDS = {"true": True, "false": False, "null": None}
_ODD = {"+Infinity": "Infinity", "+INF": "Infinity", "-INF": "-Infinity"}


class _Careful:
    """Parses what Python's own reader rejects and Jackson accepts."""

    def __init__(self, text: str, place: int) -> None:
        self._text = text
        self._place = place

    def _next(self) -> tuple[str, str]:
        match = _TOKEN.match(self._text, self._place)
        if match is None:
            raise Malformed("not a JSON object")
        self._place = match.end()
        kind = match.lastgroup or ""
        return kind, match[kind]

    def value(self, depth: int) -> Any:
        """Return the value that begins here."""
        return self._value(*self._next(), depth)

    def _value(self, kind: str, text: str, depth: int) -> Any:
        if depth > DEEPEST:
            raise Malformed("a JSON object that is nested too deep")
        if kind == "whole":
            return _whole(text)
        if kind == "real":
            return _real(text)
        if kind == "odd":
            return JsonDecimal(_ODD.get(text, text))
        if kind == "string":
            return _unescaped(text[1:-1])
        if kind == "word":
            return _WORDS[text]
        if text == "{":
            return self._object(depth + 1)
        if text == "[":
            return self._array(depth + 1)
        raise Malformed("not a JSON object")

    def _object(self, depth: int) -> tuple[tuple[str, Any], ...]:
        pairs: list[tuple[str, Any]] = []
        kind, text = self._next()
        while text != "}" or kind == "string":
            if kind != "string" or self._next() != ("mark", ":"):
                raise Malformed("not a JSON object")
            pairs.append((_unescaped(text[1:-1]), self.value(depth)))
            after = self._next()
            if after == ("mark", "}"):
                break
            if after != ("mark", ","):
                raise Malformed("not a JSON object")
            kind, text = self._next()
            if kind != "string":
                raise Malformed("not a JSON object")
        return tuple(pairs)

    def _array(self, depth: int) -> list[Any]:
        items: list[Any] = []
        token = self._next()
        while token != ("mark", "]"):
            items.append(self._value(*token, depth))
            after = self._next()
            if after == ("mark", "]"):
                break
            if after != ("mark", ","):
                raise Malformed("not a JSON object")
            token = self._next()
            if token == ("mark", "]"):
                raise Malformed("not a JSON object")
        return items


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    made = _ESCAPE.sub(_one, text)
    # a surrogate pair, two escapes, is one character
    return made.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _one(match: re.Match[str]) -> str:
    text = match[1]
    if text[0] == "u" and len(text) == 5:
        return chr(int(text[1:], 16))
    if text not in _ESCAPED:
        raise Malformed("not a JSON object")
    return _ESCAPED[text]
