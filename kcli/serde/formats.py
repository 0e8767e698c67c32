"""What a value is: JSON, msgpack or the query of a URL; read as one of them, or found out from its bytes.

A reader gives plain Python values and raises ValueError for bytes that are something else; the packages are imported
when the first such value is read.
"""

from __future__ import annotations

from json import JSONDecoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Read = Callable[[bytes], Any]

FORMATS = ("json", "msgpack", "url")
MAPS = frozenset((*range(0x80, 0x90), 0xDE, 0xDF))
"""First bytes of a msgpack map. None of them but two begins a text in UTF-8."""
LONGEST_QUERY = 1 << 20
_SPACE = " \t\r\n"


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_decode = JSONDecoder(parse_constant=_no_constant).raw_decode


def read_json(data: bytes) -> Any:
    """What JSON says. Raises ValueError."""
    return json_of(str(data, "utf-8", "surrogateescape"))


def json_of(text: str) -> Any:
    """What JSON says. Raises ValueError."""
    try:
        found, end = _decode(text)  # most JSON has no space around it
        if end == len(text):
            return found
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        if text[:1] not in _SPACE:
            raise
    trimmed = text.strip(_SPACE)
    try:
        found, end = _decode(trimmed)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if end != len(trimmed):
        raise ValueError("more than one value")
    return found


def read_msgpack(data: bytes) -> Any:
    """What msgpack says: texts as str, timestamps as seconds. Raises ValueError."""
    from msgpack import unpackb

    try:
        return unpackb(data, raw=False, strict_map_key=False, timestamp=1, unicode_errors="surrogateescape")
    except (TypeError, OverflowError, RecursionError) as problem:  # a list as a key; a time that no float holds
        raise ValueError(str(problem)) from None


def read_url(data: bytes) -> dict[str, str]:
    """The fields of a query such as `ts=1700000000&user=a%20b`; the last of a name counts. Raises ValueError."""
    from urllib.parse import parse_qsl

    text = str(data, "utf-8", "surrogateescape").strip(_SPACE)
    if "=" not in text or len(text) > LONGEST_QUERY:
        raise ValueError("no query of a URL")
    return dict(parse_qsl(text, keep_blank_values=True, errors="surrogateescape"))


_READERS: dict[str, Read] = {"json": read_json, "msgpack": read_msgpack, "url": read_url}


def detect(data: bytes) -> str | None:
    """Which format a value has: only objects, maps and fields count, so that no plain text or number is taken for
    one. None where it is none of them."""
    if data[:1] and data[0] in MAPS and _reads(read_msgpack, data):
        return "msgpack"
    if data.lstrip(b" \t\r\n")[:1] in (b"{", b"["):
        return "json" if _reads(read_json, data) else None
    query = data.strip(b" \t\r\n")
    plain = bool(query) and query.isascii() and not any(byte <= 32 or byte in b'"<>{}|\\^' for byte in query[:4096])
    if plain and not query.startswith(b"=") and _reads(read_url, query):
        return "url"
    return None


def _reads(read: Read, data: bytes) -> bool:
    try:
        read(data)
    except ValueError:
        return False
    return True


def reader(name: str) -> Read:
    """The reader of a format. Raises ValueError for a name that is none."""
    if name not in _READERS:
        raise ValueError(f"{name} is no format; there are {', '.join(FORMATS)}")
    return _READERS[name]


def read_any(data: bytes) -> Any:
    """What a value says in the format that its own bytes show. Raises ValueError."""
    found = detect(data)
    if found is None:
        raise ValueError("neither JSON, msgpack nor the query of a URL")
    return _READERS[found](data)
