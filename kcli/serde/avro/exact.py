"""JSON read without loss, and which branch of a union a value of it fits exactly."""

from __future__ import annotations

import json
import re
from math import isfinite
from struct import Struct

from kcli.serde.avro.types import DECIMALS, Array, Enum, Map, Record, Type, Union

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

PACKED = {"float": Struct("<f"), "double": Struct("<d")}
FLOATS = ("NaN", "Infinity", "-Infinity")
"""Numbers that JSON has no word for, as kcli writes them."""


class BadValue(ValueError):
    """A value that is not of its type; `path` is where it is: `.items[2].price`."""

    def __init__(self, problem: str, path: str = "") -> None:
        super().__init__(f"{path.removeprefix('.')}: {problem}" if path else problem)
        self.problem, self.path = problem, path

    def within(self, step: str) -> BadValue:
        return BadValue(self.problem, step + self.path)


class Written(float):
    """A number with a point or an exponent, and its digits as they were written: a decimal needs them."""

    text: str

    def __new__(cls, text: str) -> Self:
        number = super().__new__(cls, text)
        number.text = text
        return number


class Branch:
    """A value of a union whose branch is known, by its number."""

    __slots__ = ("number", "value")

    def __init__(self, number: int, value: object) -> None:
        self.number = number
        self.value = value

    def __str__(self) -> str:
        return str(self.value)


def read_json(text: str) -> object:
    """A value with its digits. Raises ValueError."""
    try:
        return json.loads(text, parse_float=Written, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def shown(value: object) -> str:
    """A value for a message, cut where it is long."""
    text = value.text if isinstance(value, Written) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:59] + "…"


def fitting(union: Union, value: object) -> list[Type]:
    """The branch that a value fits: the first, or all records that it fits when they are more than one. Whole numbers
    fit int and long before float and double, a number fits float only if it is one exactly or there is no double, and a
    text that is a symbol fits its enum before string."""
    records = [branch for branch in union.branches if isinstance(branch, Record) and fits(branch, value)]
    if len(records) > 1:
        return list(records)
    branches = [branch for branch in union.branches if fits(branch, value)]
    return sorted(branches, key=lambda branch: _order(branch, value))[:1]


def _order(branch: Type, value: object) -> int:
    """Of two branches that a value fits, the one that says more about it first."""
    if isinstance(branch, Record | Enum) or branch.logical is not None:
        return 0
    if branch.kind == "float" and isinstance(value, float) and _packed("float", value) != value:
        return 3
    return 2 if branch.kind in ("float", "double", "map") else 1


def _packed(kind: str, value: object) -> float:
    """A number as a float or a double has it. Raises OverflowError."""
    number: float = PACKED[kind].unpack(PACKED[kind].pack(value))[0]
    return number


def fits_floating(kind: str, value: object) -> bool:
    """Whether a number is one of a float or double: a whole one exactly, another one without becoming infinite, or 0
    where it is not."""
    try:
        packed = _packed(kind, value)
    except OverflowError:
        return False
    if isinstance(value, int):
        return int(packed) == value
    if packed == 0 and isinstance(value, Written):
        return not re.match(r"-?0*\.?0*[1-9]", value.text)
    return isfinite(packed)


def fits(type: Type, value: object) -> bool:
    """Whether a value is of a type, as far as its kind and its names say."""
    if isinstance(type, Union):
        return bool(fitting(type, value))
    if isinstance(type, Record):
        return isinstance(value, dict) and _has_names(type, value)
    if isinstance(type, Array):
        return isinstance(value, list) and all(fits(type.items, item) for item in value)
    if isinstance(type, Map):
        return isinstance(value, dict) and all(fits(type.values, item) for item in value.values())
    if isinstance(type, Enum):
        return value in type.symbols
    return _fits_scalar(type, value)


def _has_names(record: Record, value: dict[str, object]) -> bool:
    names = {field.name for field in record.fields}
    return names.issuperset(value) and all(field.has_default or field.name in value for field in record.fields)


def _fits_scalar(type: Type, value: object) -> bool:
    kind = type.kind
    if kind == "null":
        return value is None
    if kind == "boolean":
        return isinstance(value, bool)
    if isinstance(value, str):
        return kind == "string" or _fits_text(type, value)
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int):
        bits = {"int": 31, "long": 63}.get(kind)
        if bits is not None:
            return -(1 << bits) <= value < 1 << bits
    if isinstance(value, int | float):
        if kind in ("float", "double"):
            return fits_floating(kind, value)
        return type.logical is not None and type.logical.name in DECIMALS
    return isinstance(value, dict) and kind in ("bytes", "fixed") and _fits_bytes(type, value)


def _fits_text(type: Type, value: str) -> bool:
    """A text for a type that is none: a date, a decimal, a UUID, a number that JSON has no word for."""
    if type.kind in ("float", "double"):
        return value in FLOATS
    if type.logical is None:
        return False
    from kcli.serde.avro.logical import reads

    return reads(type.logical, value)


def _fits_bytes(type: Type, value: dict[str, object]) -> bool:
    if type.logical is not None and type.logical.name == "duration":
        return set(value) == {"months", "days", "millis"}
    return set(value) == {"base64"}
