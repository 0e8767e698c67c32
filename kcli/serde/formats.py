"""Detects and reads JSON, msgpack and URL queries.

Readers return plain Python values and raise ValueError for other bytes; the packages are imported with the first such
value.
"""

from __future__ import annotations

from json import JSONDecoder

from kcli.value_formats import NUMBERS, PLAIN, SINGLE, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from kcli.serde.schemas.payloads import PayloadReader

    Read = Callable[[bytes], Any]

MAPS = frozenset((*range(0x80, 0x90), 0xDE, 0xDF))
"""First bytes of a msgpack map. Only two of them can begin a UTF-8 text."""
_NO_QUERY = frozenset((*range(33), *b'"<>{}|\\^'))
"""Bytes that a query always escapes."""
LONGEST_QUERY = 1 << 20
_SPACE = " \t\r\n"


def no_constant(name: str) -> None:
    """For JSONDecoder, which would accept NaN and Infinity. Raises ValueError."""
    raise ValueError(f"{name} is not JSON")


_decode = JSONDecoder(parse_constant=no_constant).raw_decode


def read_json(data: bytes) -> Any:
    """Parse JSON bytes. Raises ValueError."""
    return json_of(str(data, "utf-8", "surrogateescape"))


def json_of(text: str) -> Any:
    """Parse JSON text. Raises ValueError."""
    try:
        value, end = _decode(text)  # most JSON has no surrounding space
        if end == len(text):
            return value
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        if text[:1] not in _SPACE:
            raise
    trimmed = text.strip(_SPACE)
    try:
        value, end = _decode(trimmed)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if end != len(trimmed):
        raise ValueError("more than one value")
    return value


def read_msgpack(data: bytes) -> Any:
    """Parse msgpack: texts as str, timestamps as seconds. Raises ValueError."""
    from msgpack import unpackb

    try:
        return unpackb(data, raw=False, strict_map_key=False, timestamp=1, unicode_errors="surrogateescape")
    except (TypeError, OverflowError, RecursionError) as problem:  # a list as a key; a time beyond the range of a float
        raise ValueError(str(problem)) from None


def read_url(data: bytes) -> dict[str, str]:
    """Return the fields of a query such as `ts=1700000000&user=a%20b`; the last of a name counts. Raises ValueError."""
    from urllib.parse import parse_qsl

    text = str(data, "utf-8", "surrogateescape").strip(_SPACE)
    if "=" not in text or len(text) > LONGEST_QUERY:
        raise ValueError("no query of a URL")
    return dict(parse_qsl(text, keep_blank_values=True, errors="surrogateescape"))


def detect(data: bytes) -> str | None:
    """Return the format of a value: only objects, lists, maps and fields count, so that plain texts and numbers are not
    misdetected. None if it is none of them."""
    detected = _found(data)
    return None if detected is None else detected[0]


def read_any(data: bytes) -> Any:
    """Parse a value in the format that its bytes show. Raises ValueError."""
    detected = _found(data)
    if detected is None:
        raise ValueError("neither JSON, msgpack nor the query of a URL")
    return detected[1]


def _found(data: bytes) -> tuple[str, Any] | None:
    """Return the name of the format, and the value."""
    for name in _possible(data):
        try:
            return name, reader(name)(data)
        except ValueError:
            continue
    return None


def _possible(data: bytes) -> Iterator[str]:
    if data[:1] and data[0] in MAPS:
        yield "msgpack"
    plain = data.strip(b" \t\r\n")
    if plain[:1] in (b"{", b"["):
        yield "json"
    elif plain[:1] not in (b"", b"=") and plain.isascii() and not _NO_QUERY.intersection(plain):
        yield "url"


def reader(name: str) -> Read:
    """Return the reader of a format. Raises ValueError for an unknown name."""
    known = _readers.get(name)
    if known is None:
        known = _readers[name] = load(PLAIN[name]) if name in PLAIN else _by_json(reader_of_format(name))
    return known


_readers: dict[str, Read] = {}


def _by_json(binary: PayloadReader) -> Read:
    return lambda data: read_json(binary.json(data))


def reader_of_format(name: str) -> PayloadReader:
    """Return the reader of a format that is converted to JSON. Raises ValueError for an unknown name, UsageError if a
    package is missing."""
    if name not in SINGLE:
        raise ValueError(f"unknown format {name}; known: {', '.join((*PLAIN, *SINGLE))}")
    made: PayloadReader = load(SINGLE[name])(*([name] if name in NUMBERS else []))
    return made
