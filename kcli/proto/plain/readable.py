"""Which keys and values `consume -J` shows as JSON, and how. Apart, since only `-J` needs `json` and `re`."""

from __future__ import annotations

import re
from json import JSONDecoder

OPENING = frozenset((b"{", b"[", b" ", b"\t", b"\r", b"\n"))
SCALARS, SPACE = "tf-0123456789", " \t\r\n"
BEGINS = OPENING | {one.encode() for one in SCALARS}
"""First characters of JSON that is shown as such."""
BASE64 = re.compile(rb'[ \t\r\n]*\{[ \t\r\n]*"base64"')
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
DEEPEST = 256
JOINED = {",": ", ", ":": ": "}


def _no_constant(name: str) -> object:
    raise ValueError(name)


_scan = JSONDecoder(parse_constant=_no_constant, parse_int=str, parse_float=str).decode


def is_json(data: bytes, *, scalars: bool) -> bool:
    """Whether a key or value is shown as JSON: an object or an array; with `scalars` also a number or a boolean.
    Objects that could be mistaken for base64 bytes are not."""
    if data[:1] not in (BEGINS if scalars else OPENING) or BASE64.match(data):
        return False
    try:
        text = data.decode()
        found = _scan(text)
    except (ValueError, RecursionError):
        return False
    if isinstance(found, dict | list):
        return text.count("{") + text.count("[") <= DEEPEST or _depth(text) <= DEEPEST
    return scalars and found is not None and text[0] in SCALARS and text[-1] not in SPACE


def _depth(text: str) -> int:
    deepest = depth = 0
    for token in TOKEN.findall(text):
        depth += (token in "{[") - (token in "}]")
        deepest = max(depth, deepest)
    return deepest


def as_json(data: bytes) -> str:
    """Return JSON on one line; if it already is, with its own spaces."""
    text = data.decode().strip(SPACE)
    if "\n" in text or "\r" in text:
        return "".join(JOINED.get(token, token) for token in TOKEN.findall(text))
    return text
