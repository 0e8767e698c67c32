"""JSON read without loss of digits, and the union branch that a value fits exactly."""

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
"""Numbers without a JSON form, as kcli writes them."""


class BadValue(ValueError):
    """A value does not match its type; `path` is where it is: `.items[2].price`."""

    def __init__(self, problem: str, path: str = "") -> None:
        super().__init__(f"{path.removeprefix('.')}: {problem}" if path else problem)
        self.problem, self.path = problem, path

    def within(self, step: str) -> BadValue:
        return BadValue(self.problem, step + self.path)


class Written(float):
    """A number with a decimal point or exponent, with its digits as written, which decimals need."""

    text: str

    def __new__(cls, text: str) -> Self:
        number = super().__new__(cls, text)
        number.text = text
        return number


class Branch:
    """A union value whose branch is known, by number."""

    __slots__ = ("number", "value")

    def __init__(self, number: int, value: object) -> None:
        self.number = number
        self.value = value

    def __str__(self) -> str:
        return str(self.value)


def read_json(text: str) -> object:
    """Parse a value and keep its digits. Raises ValueError."""
    try:
        return json.loads(text, parse_float=Written, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def shown(value: object) -> str:
    """Return a value for a message, shortened."""
    text = value.text if isinstance(value, Written) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:59] + "…"


def fitting(union: Union, value: object) -> list[Type]:
    """Return the branch that a value fits: the first, or all records if it fits several. Whole numbers prefer int and
    long to float and double; a number fits float only if exactly representable or if there is no double; a string that
    is a symbol prefers its enum to string."""
    records = [branch for branch in union.branches if isinstance(branch, Record) and fits(branch, value)]
    if len(records) > 1:
        return list(records)
    branches = [branch for branch in union.branches if fits(branch, value)]
    return sorted(branches, key=lambda branch: _order(branch, value))[:1]


def _order(branch: Type, value: object) -> int:
    """Sort key of the branches that a value fits: the more specific one first."""
    if isinstance(branch, Record | Enum) or branch.logical is not None:
        return 0
    if branch.kind == "float" and isinstance(value, float) and _packed("float", value) != value:
        return 3
    return 2 if branch.kind in ("float", "double", "map") else 1


def _packed(kind: str, value: object) -> float:
    """Return a number rounded to a float or double. Raises OverflowError."""
    number: float = PACKED[kind].unpack(PACKED[kind].pack(value))[0]
    return number


def fits_floating(kind: str, value: object) -> bool:
    """Whether a number fits a float or double: whole numbers exactly, others without becoming infinite, or zero when
    they are not."""
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
    """Whether a value is of a type, judging by its kind and its names."""
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
    """Whether a string fits a type that is not a string: a date, a decimal, a UUID, a number without a JSON form."""
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
