"""JSON lines into records: those of `consume --envelope`, of `consume -J`, and of kcat's -J.

Anything else is refused with its line number, because a mistyped field name that is ignored would become a tombstone.
"""

from __future__ import annotations

import re
from binascii import Error as NotBase64
from binascii import a2b_base64
from json import JSONDecoder

from kcli.errors import KcliError
from kcli.serde.formats import no_constant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    Headers = list[tuple[str, bytes | None]]
    Row = tuple[int | None, int | None, bytes | None, bytes | None, Headers]
    """partition, timestamp in ms, key, value, headers: what `Producer.send_records` takes."""

    class Storing(Protocol):
        """Stores keys and values that were decoded by the schemas that their lines name."""

        def stored(self, kind: str, value: object, named: object, headers: Headers) -> bytes:
            """What is stored for the JSON of a key or value. Raises ValueError."""


_SCHEMAS = {"key_schema": "key", "value_schema": "value"}
"""What says by which schema the key or the value was decoded."""
_OURS = frozenset(("topic", "partition", "offset", "timestamp", "timestamp_type", "key", "value", "headers", *_SCHEMAS))
_KCATS = frozenset(("topic", "partition", "offset", "tstype", "ts", "broker", "headers", "key", "payload")) | frozenset(
    ("key_error", "payload_error", "key_schema_id", "value_schema_id")
)
_read = JSONDecoder().raw_decode
_scan = JSONDecoder(parse_constant=no_constant, parse_int=str, parse_float=str).raw_decode


class BadLine(KcliError):
    """A line that is no record. `line` counts from 1 in the whole input."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"input line {line}: {reason}")
        self.line = line


def read_line(
    line: bytes,
    number: int,
    kcat: bool | None = None,
    from_record: Storing | None = None,
    *,
    readable: bool = False,
) -> Row:
    """One line's record. `kcat` None accepts both kinds. `from_record` stores keys and values that were decoded.
    `readable`: a key or value may be JSON, which is stored as it is written. Raises BadLine."""
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip(" \t\r\n")
        found, end = _read(text)
        if end != len(text):
            raise BadLine(number, "unexpected data after the JSON object")
    except UnicodeDecodeError:
        raise BadLine(number, 'is not UTF-8 (write other bytes as {"base64": …})') from None
    except (ValueError, RecursionError):
        raise BadLine(number, "is not JSON") from None
    if not isinstance(found, dict):
        what = "its items" if isinstance(found, list) else "it"
        raise BadLine(number, f"is not a JSON object; --input json-values sends {what} as values")
    if len(found) == 1 and isinstance(error := found.get("error"), dict) and "message" in error:
        raise BadLine(number, f"the command that wrote it failed: {error['message']}")
    try:
        if kcat or (kcat is None and "payload" in found):
            return _row(found, _KCATS, "payload", "ts")
        return _row(found, _OURS, "value", "timestamp", from_record, text if readable else "")
    except ValueError as problem:
        raise BadLine(number, str(problem)) from None


def _row(
    found: dict[str, object],
    known: frozenset[str],
    value: str,
    timestamp: str,
    from_record: Storing | None = None,
    text: str = "",
) -> Row:
    """`text` is the line of a readable one, "" for others."""
    if not known.issuperset(found):
        stranger = next(name for name in found if name not in known)
        raise ValueError(f'"{stranger}" is not a field of a record; --input json-values sends the object as a value')
    if value not in found:
        raise ValueError(f'has no "{value}" (null is written as null)')
    headers = _headers(found["headers"]) if found.get("headers") else []
    written: dict[str, str] = {}
    for schema, name in _SCHEMAS.items():
        if schema in found and from_record is not None:
            found[name] = from_record.stored(name, found.get(name), found[schema], headers)
        elif schema in found and not text:
            raise ValueError(f'"{schema}": the {name} is decoded; --input json reads such lines')
        elif text and (schema in found or _is_json(found.get(name))):
            written = written or _as_written(text)
            if name in written and (schema in found or not _BASE64.match(written[name])):
                found[name] = written[name].encode()
    return (
        _number(found, "partition", 2**31 - 1),
        -1 if found.get(timestamp) == -1 else _number(found, timestamp, 2**63 - 1),  # -1 is a record without one
        bytes_of(found.get("key"), "key"),
        bytes_of(found[value], value),
        headers,
    )


_BASE64 = re.compile(r'\{[ \t]*"base64"[ \t]*:[ \t]*"[^"]*"[ \t]*\}')


def _is_json(thing: object) -> bool:
    return thing is not None and not isinstance(thing, str)


def _as_written(text: str) -> dict[str, str]:
    """The JSON of each field of an object, as it is written. Raises ValueError for what is no JSON."""
    written: dict[str, str] = {}
    at = _past_space(text, 1)
    while text[at] != "}":
        name, at = _scan(text, at)
        start = _past_space(text, _past_space(text, at) + 1)  # behind the colon
        _, at = _scan(text, start)
        written[name] = text[start:at]
        at = _past_space(text, at)
        if text[at] == ",":
            at = _past_space(text, at + 1)
    return written


def _past_space(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


def bytes_of(thing: Any, name: str) -> bytes | None:
    """Bytes as envelopes write them. Raises ValueError."""
    if thing is None or type(thing) is bytes:
        return thing
    if type(thing) is str:
        try:
            return thing.encode()
        except UnicodeEncodeError:
            raise ValueError(f'"{name}" contains an unpaired surrogate') from None
    if type(thing) is dict and len(thing) == 1 and type(thing.get("base64")) is str:
        try:
            return a2b_base64(thing["base64"].encode("ascii"), strict_mode=True)
        except (NotBase64, UnicodeEncodeError):
            raise ValueError(f'"{name}" is not base64') from None
    raise ValueError(f'"{name}" must be text, null or {{"base64": "…"}}; --input json accepts JSON, too')


def _number(found: dict[str, object], name: str, largest: int) -> int | None:
    number = found.get(name)
    if number is None or number == -1:
        return None
    if type(number) is not int or not 0 <= number <= largest:
        raise ValueError(f'"{name}" is not a number of at least 0')
    return number


def _headers(given: Any) -> Headers:
    """Pairs, kcat's flat list of names and values, or the object its help speaks of."""
    if type(given) is dict:
        pairs = list(given.items())
    elif type(given) is list and all(type(pair) is list and len(pair) == 2 for pair in given):
        pairs = given
    elif type(given) is list and len(given) % 2 == 0 and all(type(name) is str for name in given[::2]):
        pairs = list(zip(given[::2], given[1::2], strict=True))
    else:
        raise ValueError('"headers" must be a list of [name, value] pairs')
    made: Headers = []
    for name, value in pairs:
        if type(name) is not str:
            raise ValueError("a header's name must be text")
        bytes_of(name, "headers")
        made.append((name, bytes_of(value, "headers")))
    return made
