"""Records as lines of JSON: byte-exact (--envelope), and for reading (-J)."""

from __future__ import annotations

from kcli.proto.plain.builder import Usual
from kcli.proto.plain.walk import body, read_headers
from kcli.proto.plain.writing import write, write_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kcli.proto.plain.walk import Header, Walked

    Schemas = Mapping[int, bytes]
    """A line's text about the schema of a key or value, by offset."""
    Shown = tuple[str, Iterable[str]]
    Column = Callable[[list[bytes]], Shown]
    Field = tuple[Callable[[bytes], str], Column]
    """Converts one key or value, and a column of them."""


CONTROLS = bytes((*range(32), 127))
THREE = [f"{number:03}" for number in range(1000)]


def texts() -> Callable[[bytes], str]:
    """Return the function that shows bytes as JSON: a string, or {"base64": ...} if they are not UTF-8."""
    from _json import encode_basestring

    def text(data: bytes) -> str:
        try:
            return encode_basestring(data.decode())
        except UnicodeDecodeError:
            from binascii import b2a_base64

            return '{"base64":"' + b2a_base64(data, newline=False).decode() + '"}'

    return text


def write_json(h: Header, out: bytearray, topic: str, partition: int, limit: int) -> tuple[int, int]:
    """Append each record as a byte-exact line: keys and values are strings, or base64. Returns like `write_values`."""
    text = texts()
    return _write(h, out, (topic, partition, limit), (text, _texts_of), (text, _texts_of), {}, {})


def write_readable(
    h: Header, out: bytearray, topic: str, partition: int, limit: int, keys: Schemas | None, values: Schemas | None
) -> tuple[int, int]:
    """Append each record as a line for reading.

    A key or value is JSON if its offset is in `keys` or `values`, whose bytes follow the headers; and if it is an
    object, an array, or as a value a number or a boolean. Everything else is as in `write_json`. Returns like
    `write_values`.
    """

    from kcli.proto.plain.readable import BEGINS, OPENING, as_json, is_json

    text = texts()

    def key(data: bytes) -> str:
        return as_json(data) if is_json(data, scalars=False) else text(data)

    def value(data: bytes) -> str:
        return as_json(data) if is_json(data, scalars=True) else text(data)

    return _write(
        h,
        out,
        (topic, partition, limit),
        (key, lambda column: _readable(column, OPENING, key)),
        (value, lambda column: _readable(column, BEGINS, value)),
        keys or {},
        values or {},
    )


def _readable(column: list[bytes], begins: frozenset[bytes], one: Callable[[bytes], str]) -> Shown:
    if begins.isdisjoint(data[:1] for data in column):
        return _texts_of(column)
    return "", map(one, column)


def _write(
    h: Header,
    out: bytearray,
    where: tuple[str, int, int],
    of_key: Field,
    of_value: Field,
    keys: Schemas,
    values: Schemas,
) -> tuple[int, int]:
    topic, partition, limit = where
    data = body(h)
    text = texts()
    head = f'{{"topic":{text(topic.encode())},"partition":{partition},"offset":'
    kind = ',"timestamp_type":"append","key":' if h.attributes & 8 else ',"timestamp_type":"create","key":'
    show_key, show_value = of_key[0], of_value[0]
    if keys or values:
        from kcli.proto.plain.readable import as_json

    def show(row: Walked) -> bytes:
        offset, timestamp, key, key_length, value, value_length, at, count = row
        keyed = content = "null"
        if key_length >= 0:
            keyed = (as_json if offset in keys else show_key)(data[key : key + key_length])
        if value_length >= 0:
            content = (as_json if offset in values else show_value)(data[value : value + value_length])
        pairs = ""
        if count:
            pairs = ",".join(
                f"[{text(name.encode('utf-8', 'surrogateescape'))},{'null' if held is None else text(held)}]"
                for name, held in read_headers(data, at, count)
            )
        line = f'{head}{offset},"timestamp":{timestamp}{kind}{keyed},"value":{content},"headers":[{pairs}]'
        return line.encode() + keys.get(offset, b"") + values.get(offset, b"") + b"}\n"

    if limit >= 0 or keys or values:
        return write(h, data, out, limit, show)
    rows = Usual(h, data)
    shown = "".join(_lines(h, rows, head, kind, of_key[1], of_value[1])).encode()
    return write_after(h, data, out, shown, (rows.at, len(rows.values)), limit, show)


def _lines(h: Header, rows: Usual, head: str, kind: str, of_keys: Column, of_values: Column) -> list[str]:
    """Return the parts of the lines of records of the usual shape, a column each."""
    count = len(rows.values)
    if not count:
        return []
    quote, shown = of_values(rows.values)
    value = f',"value":{quote}'
    columns: list[Iterable[str]] = [_numbered(head, h.base_offset, count)]
    if rows.keys is None:
        kind += f"null{value}"
        columns += [(), shown]
    else:
        key_quote, keys = of_keys(rows.keys)
        kind += key_quote
        columns += [(), keys, [f"{key_quote}{value}"] * count, shown]
    stamped = {first: f',"timestamp":{stamp}{kind}' for first, stamp in rows.stamps(h).items()}
    columns[1] = map(stamped.__getitem__, rows.heads)
    columns.append([f'{quote},"headers":[]}}\n'] * count)
    pieces = [""] * (count * len(columns))
    for number, column in enumerate(columns):
        pieces[number :: len(columns)] = column
    return pieces


def _numbered(head: str, first: int, count: int) -> list[str]:
    """Return `head` followed by each offset from `first` on. The last three digits are created once."""
    numbered: list[str] = []
    for thousand in range(first // 1000, (first + count - 1) // 1000 + 1):
        before = f"{head}{thousand}"
        some = range(max(first - 1000 * thousand, 0), min(first + count - 1000 * thousand, 1000))
        if thousand:
            numbered += [before + digits for digits in THREE[some.start : some.stop]]
        else:
            numbered += [f"{head}{offset}" for offset in some]
    return numbered


def _texts_of(column: list[bytes]) -> tuple[str, Iterable[str]]:
    """Return each as `texts` shows it, and the quote around each. They are converted in one step if all are UTF-8
    without control characters, the usual case, separated by DEL."""
    joined = b"\x7f".join(column)
    if len(joined.translate(None, CONTROLS)) == len(joined) - len(column) + 1:
        try:
            escaped = joined.decode().replace("\\", "\\\\").replace('"', '\\"')
        except UnicodeDecodeError:
            return "", map(texts(), column)  # one is not, so each is checked
        return '"', escaped.split("\x7f")
    return "", map(texts(), column)
