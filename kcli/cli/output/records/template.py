"""`-f` templates, compiled once into a program that a batch runs over all its records.

The tokens are kcat's, unchanged: %s %S %R %k %K %T %h %t %p %o %%; added are %v = %s, %V = %S and modifiers in
braces: {hex} {base64} on keys and values, {iso} {strftime[…]} on %T, and %h{…} with a template per header.
"""

from __future__ import annotations

from kcli.cli.output.text import unescape
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Convert = Callable[[Any], bytes]
    Item = bytes | tuple[str, Convert | None]
    Program = tuple[Item, ...]

TOKENS = {"s": "s", "v": "s", "S": "S", "V": "S", "R": "R", "k": "k", "K": "K", "T": "T", "h": "h", "t": "t"}
TOKENS |= {"p": "p", "o": "o"}


def compile_template(text: str, *, null: bytes = b"", terminal: bool = False) -> Program:
    """The program of a template. `null` is what a null key or value prints as; `terminal` escapes what a terminal
    would obey. Raises UsageError for an unknown token or modifier, naming it."""
    items: list[Item] = []
    literal = ""
    place = 0
    while place < len(text):
        here = text[place]
        place += 1
        if here == "\\":
            literal += text[place - 1 : place + 1]
            place += 1
        elif here != "%":
            literal += here
        elif text[place : place + 1] == "%":
            literal += "%"
            place += 1
        else:
            name = text[place : place + 1]
            if name not in TOKENS or not name:
                raise UsageError(f"-f: %{name} is no token; there are %s %S %R %k %K %T %h %t %p %o %%")
            modifier, place = _modifier(text, place + 1)
            if literal:
                items.append(unescape(literal, "-f"))
                literal = ""
            items.append((TOKENS[name], _convert(name, modifier, null, terminal)))
    if literal:
        items.append(unescape(literal, "-f"))
    return tuple(items)


def keyed(key_delimiter: bytes, delimiter: bytes, *, null: bytes = b"", terminal: bool = False) -> Program:
    """key, -K, value, -D: what `consume -K` prints."""
    convert = _convert("s", None, null, terminal)
    return (("k", convert), key_delimiter, ("s", convert), delimiter)


def _modifier(text: str, place: int) -> tuple[str | None, int]:
    """What stands in the braces after a token, and where the template goes on."""
    if text[place : place + 1] != "{":
        return None, place
    depth = 0
    for end in range(place, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[place + 1 : end], end + 1
    raise UsageError(f"-f: {text[place:]} has no closing brace")


def _convert(name: str, modifier: str | None, null: bytes, terminal: bool) -> Convert | None:
    token = TOKENS[name]
    if modifier is None:
        if token in "sk":
            return _text(null, terminal) if null or terminal else None
        return _shown(token) if terminal and token in "htR" else None
    if token in "sk" and modifier in ("hex", "base64"):
        return _encoded(modifier, null)
    if token == "T" and modifier == "iso":
        return _iso
    if token == "T" and modifier.startswith("strftime[") and modifier.endswith("]"):
        return _strftime(modifier[len("strftime[") : -1])
    if token == "h":
        return _headers(modifier, null, terminal)
    raise UsageError(f"-f: %{name} has no modifier {{{modifier}}}")


def _text(null: bytes, terminal: bool) -> Convert:
    if not terminal:
        return lambda value: null if value is None else bytes(value)
    from kcli.text.escape import visible_bytes

    return lambda value: null if value is None else visible_bytes(value, keep="\n\t")


def _shown(token: str) -> Convert:
    """Names, headers and the binary length are hostile on a terminal too."""
    from kcli.text.escape import visible_bytes

    if token == "h":
        plain = _headers("%k=%v,", b"NULL", True)
        return lambda headers: plain(headers)[:-1]
    if token == "R":
        return lambda value: visible_bytes(value.to_bytes(4, "big", signed=True) if isinstance(value, int) else value)
    return lambda value: visible_bytes(value.encode() if isinstance(value, str) else value)


def convert_shown(empty: bytes) -> dict[str, Convert | None]:
    """The converters of a terminal for kcat's formats, where `empty` stands for empty keys and values too."""
    text = _text(empty, True)
    shown: dict[str, Convert | None] = dict.fromkeys("sk", lambda value: text(value or None))
    return shown | {token: _shown(token) for token in "htR"}


def _encoded(how: str, null: bytes) -> Convert:
    if how == "hex":
        return lambda value: null if value is None else bytes(value).hex().encode()
    from binascii import b2a_base64

    return lambda value: null if value is None else b2a_base64(value, newline=False)


def _iso(milliseconds: int) -> bytes:
    """UTC with milliseconds; nothing for a record that has no timestamp."""
    from time import gmtime, strftime

    if milliseconds < 0:
        return b""
    seconds, rest = divmod(milliseconds, 1000)
    try:
        return f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(seconds))}.{rest:03d}Z".encode()
    except (OverflowError, ValueError, OSError):
        return str(milliseconds).encode()  # a hostile timestamp is not a date, but must not stop us


def _strftime(pattern: str) -> Convert:
    from time import localtime, strftime

    def convert(milliseconds: int) -> bytes:
        if milliseconds < 0:
            return b""
        try:
            return strftime(pattern, localtime(milliseconds / 1000)).encode("utf-8", "surrogateescape")
        except (OverflowError, ValueError, OSError):
            return str(milliseconds).encode()

    return convert


def _headers(text: str, null: bytes, terminal: bool) -> Convert:
    """A template per header: %k its name, %v (or %s) its value, both with {hex} and {base64}."""
    parts: list[tuple[str, Any]] = []
    for item in compile_template(text, null=null or b"", terminal=terminal):
        if isinstance(item, bytes):
            parts.append(("", item))
        elif item[0] in "ks":
            parts.append((item[0], item[1] or _text(null, False)))
        else:
            raise UsageError(f"-f: %{item[0]} stands in %h{{{text}}}; a header has %k and %v")

    def convert(headers: Any) -> bytes:
        out = bytearray()
        for name, value in headers or ():
            key = name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name
            for kind, what in parts:
                out += what if not kind else what(key if kind == "k" else value)
        return bytes(out)

    return convert
