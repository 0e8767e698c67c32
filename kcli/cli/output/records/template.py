"""`-f` templates, compiled once into a program that a batch runs over all its records.

The tokens are kcat's, unchanged: %s %S %R %k %K %T %h %t %p %o %%; added are %v = %s, %V = %S and modifiers in
braces: {hex} {base64} {json} {msgpack} {int32} (and the other numbers) {schema} {schema-id} on keys and values, {iso}
{local} {strftime[…]} on %T, and %h{…} with a template per header.
"""

from __future__ import annotations

from kcli.cli.output.text import unescape
from kcli.errors import UsageError
from kcli.grammar.zone import zone
from kcli.serde.schemas.decoded_batch import DecodedBatch, stored
from kcli.value_formats import NUMBERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kcli.proto.batch import Batch
    from kcli.proto.columns import Columns

    Convert = Callable[[Any], bytes]
    Item = bytes | tuple[str, Convert | None]
    Program = tuple[Item, ...]

TOKENS = {"s": "s", "v": "s", "S": "S", "V": "S", "R": "R", "k": "k", "K": "K", "T": "T", "h": "h", "t": "t"}
TOKENS |= {"p": "p", "o": "o"}
SCHEMA_TOKENS = ("schema", "schema-id")
KINDS = {"s": "value", "k": "key"}
OF_BYTES = ("hex", "base64", *NUMBERS)
"""Modifiers of keys and values as they are stored, whatever was decoded."""


def compile_template(
    text: str,
    *,
    null: bytes = b"",
    terminal: bool = False,
    schemas: SchemaTokens | None = None,
    bytes_of: StoredTokens | None = None,
) -> Program:
    """The program of a template. `null` is what a null key or value prints as; `terminal` escapes what a terminal
    would obey; `schemas` prints the schema of a key or value, `bytes_of` the bytes of one that was decoded. Raises
    UsageError for an unknown token or modifier, naming it."""
    items: list[Item] = []
    for item in split_template(text):
        if isinstance(item, bytes):
            items.append(item)
        else:
            name, modifier = item
            if modifier in SCHEMA_TOKENS and TOKENS[name] in KINDS:
                if schemas is None:
                    raise UsageError(f"-f %{name}{{{modifier}}} needs a decoded record; add --schema-registry URL")
                items.append(("o", schemas.token(KINDS[TOKENS[name]], modifier)))
                continue
            convert = _convert(name, modifier, null, terminal)
            if bytes_of is not None and convert is not None and modifier in OF_BYTES and TOKENS[name] in KINDS:
                items.append(("o", bytes_of.token(KINDS[TOKENS[name]], convert)))
            else:
                items.append((TOKENS[name], convert))
    return tuple(items)


def split_template(text: str) -> list[bytes | tuple[str, str | None]]:
    """The parts of a template: text, and tokens with the text in their braces. Raises UsageError."""
    items: list[bytes | tuple[str, str | None]] = []
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
                raise UsageError(f"-f: unknown token %{name}; known: %s %S %R %k %K %T %h %t %p %o %%")
            modifier, place = _modifier(text, place + 1)
            if literal:
                items.append(unescape(literal, "-f"))
                literal = ""
            items.append((name, modifier))
    if literal:
        items.append(unescape(literal, "-f"))
    return items


def columns(
    key_delimiter: bytes | None,
    delimiter: bytes,
    *,
    meta: bool = False,
    value_format: str | None = None,
    null: bytes = b"",
    terminal: bool = False,
) -> Program:
    """What `consume` prints without -f: with `meta` time, topic, partition and offset; the key and its delimiter, the
    value, -D. Values of a format are printed as JSON."""
    time = "local" if zone.printed_local else "iso"
    items = list(compile_template(rf"%T{{{time}}}\t%t\t%p\t%o\t", terminal=terminal)) if meta else []
    if meta and key_delimiter is None:
        key_delimiter = b"\t"
    if key_delimiter is not None:
        items += [("k", _convert("k", None, null, terminal)), key_delimiter]
    return (*items, ("s", _convert("s", value_format, null, terminal)), delimiter)


def _modifier(text: str, place: int) -> tuple[str | None, int]:
    """The text in the braces after a token, and where the template continues."""
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
    if token in "sk" and modifier in ("json", "msgpack", "auto", *NUMBERS):
        return _translated(modifier, null, terminal)
    if token == "T" and modifier == "iso":
        return _iso
    if token == "T" and modifier == "local":
        return _local
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


def _translated(how: str, null: bytes, terminal: bool) -> Convert:
    """As JSON: any value ({json}), msgpack ({msgpack}), or JSON and msgpack maps ({auto}: --value-format); a number or
    UUID ({int32}). What is not of the format stays as it is; for these two a note says so once."""
    from kcli.serde.json_text import any_json, json_or_map, msgpack_json

    plain = _text(null, terminal)
    if how == "json":
        return lambda value: _shown_json(any_json(_whole(value)), terminal)
    told = how == "auto"
    read: Callable[[bytes], str | None] = json_or_map if told else _number(how) if how in NUMBERS else msgpack_json

    def convert(value: Any) -> bytes:
        nonlocal told
        found = None if value is None else read(bytes(value))
        if found is not None:
            return _shown_json(found, terminal)
        if value is not None and not told:
            from kcli.cli.output.messages import complain

            told = True
            complain(f"a value is not {how}, so it is printed unchanged (others may be, too)")
        return plain(value)

    return convert


def _number(how: str) -> Callable[[bytes], str | None]:
    from kcli.serde.formats import reader_of_format
    from kcli.serde.schemas.payloads import Unreadable

    reader = reader_of_format(how)

    def read(data: bytes) -> str | None:
        try:
            return reader.json(data).decode().strip('"')
        except Unreadable:
            return None

    return read


def _whole(value: Any) -> bytes | None:
    return None if value is None else bytes(value)


def _shown_json(text: str, terminal: bool) -> bytes:
    data = text.encode()
    if not terminal:
        return data
    from kcli.text.escape import visible_json

    return visible_json(data)


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


def _local(milliseconds: int) -> bytes:
    """The time of this machine's zone, with its distance from UTC; nothing for a record that has no timestamp."""
    from time import localtime, strftime

    if milliseconds < 0:
        return b""
    seconds, rest = divmod(milliseconds, 1000)
    try:
        here = localtime(seconds)
        zone = strftime("%z", here)
        return f"{strftime('%Y-%m-%dT%H:%M:%S', here)}.{rest:03d}{zone[:3]}:{zone[3:]}".encode()
    except (OverflowError, ValueError, OSError):
        return str(milliseconds).encode()


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
    """A template per header: %k its name, %v (or %s) its value, both with {hex} and {base64}. A text without these is
    the name of a header, whose value is printed."""
    parts: list[tuple[str, Any]] = []
    items = compile_template(text, null=null or b"", terminal=terminal)
    if all(isinstance(item, bytes) for item in items):
        return _one_header(b"".join(item for item in items if isinstance(item, bytes)), _text(null, terminal))
    for item in items:
        if isinstance(item, bytes):
            parts.append(("", item))
        elif item[0] in "ks":
            parts.append((item[0], item[1] or _text(null, False)))
        else:
            raise UsageError(f"-f: %{item[0]} is not allowed in %h{{{text}}}; a header has %k and %v")

    def convert(headers: Any) -> bytes:
        out = bytearray()
        for name, value in headers or ():
            key = name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name
            for kind, what in parts:
                out += what if not kind else what(key if kind == "k" else value)
        return bytes(out)

    return convert


def _one_header(name: bytes, shown: Convert) -> Convert:
    """The value of the last header of a name; nothing where a record has none."""

    def convert(headers: Any) -> bytes:
        for given, value in reversed(list(headers or ())):
            if (given.encode("utf-8", "surrogateescape") if isinstance(given, str) else given) == name:
                return shown(value)
        return b""

    return convert


class StoredTokens:
    """The tokens of -f that print the stored bytes of a key or a value, by its offset in `batch`, the batch that is
    printed now."""

    def __init__(self) -> None:
        self.batch: Batch | None = None
        self._read: Batch | None = None
        self._columns: Columns | None = None
        self._rows: dict[int, int] = {}

    def token(self, kind: str, convert: Convert) -> Callable[[int], bytes]:
        def shown(offset: int) -> bytes:
            assert self.batch is not None
            if self._read is not self.batch or self._columns is None:
                self._read, self._columns = self.batch, stored(self.batch).columns()
                self._rows = {at: row for row, at in enumerate(self._columns.offsets)}
            row, columns = self._rows[offset], self._columns
            start = columns.key_starts[row] if kind == "key" else columns.value_starts[row]
            length = columns.key_lengths[row] if kind == "key" else columns.value_lengths[row]
            return convert(None if length < 0 else bytes(columns.data[start : start + length]))

        return shown


class SchemaTokens:
    """The tokens of -f that name the schema of a key or a value, by its offset in `batch`, the batch that is printed
    now."""

    def __init__(self, *, terminal: bool) -> None:
        self.batch: Batch | None = None
        self._terminal = terminal

    def token(self, kind: str, modifier: str) -> Callable[[int], bytes]:
        """What prints the schema's name, or its id, of the record at an offset; nothing for what was not decoded."""

        def shown(offset: int) -> bytes:
            labels = self.batch.labels.get(kind, {}) if isinstance(self.batch, DecodedBatch) else {}
            label = labels.get(offset)
            if label is None:
                return b""
            data = (label.id if modifier == "schema-id" else label.name).encode("utf-8", "surrogateescape")
            if not self._terminal:
                return data
            from kcli.text.escape import visible_bytes

            return visible_bytes(data)

        return shown
