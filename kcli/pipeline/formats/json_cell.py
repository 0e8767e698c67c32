"""Converts a JSON value to a cell of a Spark type by the rules of `from_json`: a number with a fraction is not a
BIGINT, a string is not a number, an overflow is not a value.

`cell_of` raises Misfit if the value does not fit at all. If part of it does not fit (one field of a struct), the rest
is kept and the misfit is noted.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa

from kcli.errors import UsageError
from kcli.pipeline.formats.json_document import JsonDecimal, JsonInteger
from kcli.pipeline.formats.json_time import day_of, instant_of, local_of

Cell = Callable[[Any, "Notes"], Any]
JSON_TEXT = {b"kcli": b"json"}
"""Metadata of a string field whose cells are JSON texts of values of any type: "a" keeps its quotes."""


class Notes(list[str]):
    """The problems of a record. `unknown` are the paths of its non-null fields that the type lacks."""

    def __init__(self) -> None:
        super().__init__()
        self.unknown: list[str] = []


class Misfit(ValueError):
    """A value that is not of the type."""


_WHOLE = {
    "int8": (-128, 255),  # like Jackson's getByteValue
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
_NAMES = {
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "bool": "BOOLEAN",
    "date32[day]": "DATE",
    "string": "STRING",
    "binary": "BINARY",
}
_NUMBERS = {
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "+Infinity": float("inf"),
    "+INF": float("inf"),
    "-Infinity": float("-inf"),
    "-INF": float("-inf"),
}
_PLACES = Context(prec=60, Emin=-999_999, Emax=999_999)
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,9})?", re.ASCII)
_QUARTETS = r"(?:[\x00-\x20]*[A-Za-z0-9+/]{%d}%s)"
_BASE64 = re.compile(rf"(?:{_QUARTETS % (4, '')}|{_QUARTETS % (3, '=')}|{_QUARTETS % (2, '==')})*[\x00-\x20]*")
_HALVES = re.compile("[\ud800-\udfff]")
_ESCAPED = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ESCAPE = re.compile('["\\\\\x00-\x1f\ud800-\udfff]')


def named(kind: pa.DataType) -> str:
    """Return Spark's name of the type."""
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP" if kind.tz else "TIMESTAMP_NTZ"
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pa.types.is_nested(kind):
        return "ARRAY" if pa.types.is_list(kind) else "MAP" if pa.types.is_map(kind) else "STRUCT"
    return _NAMES.get(str(kind), str(kind).upper())


def cell_of(kind: pa.DataType, path: str = "", *, json: bool = False) -> Cell:
    """Return the conversion of values to cells; misfits of parts are added to the list passed to it. `path` is where
    the value is; `json`: the cell is its JSON text. Raises UsageError for a type into which JSON cannot be decoded."""
    read = _reader(kind, path) if not json else lambda value, notes: _written(value)

    def cell(value: Any, notes: Notes) -> Any:
        return None if value is None else read(value, notes)

    return cell


def is_json(field: pa.Field) -> bool:
    """Whether the cells of a field are JSON texts."""
    return bool(field.metadata) and JSON_TEXT.items() <= field.metadata.items()


def _reader(kind: pa.DataType, path: str) -> Cell:
    if pa.types.is_struct(kind):
        return _struct(kind, path)
    if pa.types.is_list(kind):
        return _array(kind, path)
    if pa.types.is_map(kind) and pa.types.is_string(kind.key_type):
        return _map(kind, path)
    if str(kind) in _WHOLE:
        return _whole(kind)
    if pa.types.is_decimal(kind):
        return _decimal(kind)
    if pa.types.is_timestamp(kind):
        return _time(kind)
    plain = {
        "float": _single,
        "double": _double,
        "string": _text,
        "bool": _flag,
        "binary": _binary,
        "date32[day]": _day,
    }.get(str(kind))
    if plain is None:
        raise UsageError(
            f"JSON values are not decoded as {named(kind)}: read them as string, and use Spark's from_json"
        )
    read: Callable[[Any], Any] = plain
    return lambda value, notes: read(value)


def _misfit(value: Any, what: str) -> Misfit:
    shown = _written(value)
    return Misfit(f"{shown if len(shown) <= 40 else shown[:39] + '…'} is not {what}")


# -- numbers ----------------------------------------------------------------------------------------------------------


def _whole(kind: pa.DataType) -> Cell:
    least, most = _WHOLE[str(kind)]
    what = named(kind)

    def read(value: Any, notes: Notes) -> int:
        if type(value) is not JsonInteger or not least <= (number := int(value)) <= most:
            raise _misfit(value, what)
        return number - 256 if most == 255 and number > 127 else number  # a Java byte wraps

    return read


def _double(value: Any) -> float:
    if type(value) in (JsonInteger, JsonDecimal) or (type(value) is str and value in _NUMBERS):
        if type(value) is JsonInteger:
            return float(int(value)) if len(value) < 300 else float(value)  # -0 becomes 0
        return _NUMBERS[value] if value in _NUMBERS else float(value)
    raise _misfit(value, "DOUBLE")


def _single(value: Any) -> float:
    try:
        with np.errstate(over="ignore"):
            return float(np.float32(_double(value)))
    except Misfit:
        raise _misfit(value, "FLOAT") from None


def _decimal(kind: pa.DataType) -> Cell:
    unit, most, what = Decimal(1).scaleb(-kind.scale), Decimal(10) ** (kind.precision - kind.scale), named(kind)

    def read(value: Any, notes: Notes) -> Decimal:
        text = value.replace(",", "") if type(value) is str else value
        if not isinstance(text, str) or _DECIMAL.fullmatch(text) is None:
            raise _misfit(value, what)
        try:
            decimal = Decimal(text).quantize(unit, ROUND_HALF_UP, _PLACES)
        except InvalidOperation:
            raise _misfit(value, what) from None
        if abs(decimal) >= most:
            raise _misfit(value, what)
        return decimal

    return read


# -- texts ------------------------------------------------------------------------------------------------------------


def _text(value: Any) -> str:
    if type(value) is str:
        return _HALVES.sub("?", value)
    return _written(value)


class _Mark(str):
    """A bracket, a comma or a name to write."""

    __slots__ = ()


def _written(value: Any) -> str:
    """Return a value as Jackson writes it, however deeply it is nested."""
    parts: list[str] = []
    left: list[Any] = [value]  # still to be written, the next one last
    while left:
        node = left.pop()
        if not isinstance(node, (tuple, list)):
            parts.append(node if type(node) is _Mark else _literal(node))
            continue
        named = isinstance(node, tuple)
        parts.append("{" if named else "[")
        left.append(_Mark("}" if named else "]"))
        for number in range(len(node) - 1, -1, -1):
            before = "," if number else ""
            if named:
                name, item = node[number]
                left += [item, _Mark(f"{before}{_quoted(name)}:")]
            else:
                left += [node[number], _Mark(before)]
    return "".join(parts)


def _literal(value: Any) -> str:
    if type(value) is JsonInteger:
        return str(int(value))
    if type(value) is JsonDecimal:
        return _real(_double(value))
    if type(value) is str:
        return _quoted(value)
    return "null" if value is None else str(value).lower()


def _quoted(text: str) -> str:
    return f'"{_ESCAPE.sub(_escaped, text)}"'


def _escaped(match: re.Match[str]) -> str:
    return _ESCAPED.get(match[0]) or f"\\u{ord(match[0]):04X}"


def _real(number: float) -> str:
    """Format a double like Java 19 and later: the shortest text that parses as this number."""
    if number != number:
        return '"NaN"'
    if number in (float("inf"), float("-inf")):
        return '"Infinity"' if number > 0 else '"-Infinity"'
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        shown = np.format_float_positional(number, trim="0")
        return shown if "." in shown else f"{shown}.0"
    two = f"{number:.1e}"  # Java writes at least two digits, those nearest to the number
    shown = two if float(two) == number else np.format_float_scientific(number, trim="0")
    digits, _, exponent = shown.partition("e")
    return f"{digits}E{int(exponent)}"


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _misfit(value, "BOOLEAN")
    return value


def _binary(value: Any) -> bytes:
    if type(value) is not str or _BASE64.fullmatch(value) is None:
        raise _misfit(value, "BINARY (base64)")
    plain = re.sub(r"[\x00-\x20]+", "", value)
    return b"".join(base64.b64decode(plain[at : at + 4]) for at in range(0, len(plain), 4))


# -- times ------------------------------------------------------------------------------------------------------------


def _day(value: Any) -> int:
    days = day_of(value) if type(value) is str else None
    if days is None:
        raise _misfit(value, "DATE")
    return days


def _time(kind: pa.DataType) -> Cell:
    what = named(kind)

    def read(value: Any, notes: Notes) -> int:
        instant = None
        if type(value) is str:
            instant = instant_of(value) if kind.tz else local_of(value)
        elif type(value) is JsonInteger and kind.tz and -(2**63) <= int(value) < 2**63:
            instant = (int(value) * 1_000_000 + 2**63) % 2**64 - 2**63  # Java's multiplication wraps
        if instant is None:
            raise _misfit(value, what)
        return instant

    return read


# -- nested -----------------------------------------------------------------------------------------------------------


def _struct(kind: pa.DataType, path: str) -> Cell:
    before = f"{path}." if path else ""
    cells = {field.name: cell_of(field.type, f"{before}{field.name}", json=is_json(field)) for field in kind}
    empty = dict.fromkeys(cells)

    def read(value: Any, notes: Notes) -> dict[str, Any]:
        if not isinstance(value, tuple):
            raise _misfit(value, "STRUCT")
        fields: dict[str, Any] = dict(empty)
        for name, item in value:
            if name in cells:
                try:
                    fields[name] = cells[name](item, notes)
                except Misfit as problem:
                    notes.append(f"field {name}: {problem}")
            elif item is not None:
                notes.unknown.append(f"{before}{name}")
        return fields

    return read


def _array(kind: pa.DataType, path: str) -> Cell:
    cell = cell_of(kind.value_type, f"{path}[]", json=is_json(kind.value_field))

    def read(value: Any, notes: Notes) -> list[Any]:
        if not isinstance(value, list):
            raise _misfit(value, "ARRAY")
        return [cell(item, notes) for item in value]

    return read


def _map(kind: pa.DataType, path: str) -> Cell:
    cell = cell_of(kind.item_type, f"{path}.*", json=is_json(kind.item_field))

    def read(value: Any, notes: Notes) -> list[tuple[str, Any]]:
        if not isinstance(value, tuple):
            raise _misfit(value, "MAP")
        return [(_HALVES.sub("?", name), cell(item, notes)) for name, item in value]

    return read
