"""Converts between Avro values in JSON and Python objects: bytes, dates, decimals and UUIDs.

The core converts a payload to JSON, in which logical types are numbers. A function per type converts what JSON cannot
express; a schema without such types needs none.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal
from uuid import UUID

from kcli.serde.avro.exact import Branch
from kcli.serde.avro.types import Array, Fixed, Map, Record, Type, Union

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Convert = Callable[[Any], Any]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LOCAL = datetime(1970, 1, 1)  # for local timestamps, which have no zone
DAY = date(1970, 1, 1)
MICROSECOND = timedelta(microseconds=1)
FLOATS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
EXACT = Context(prec=5000)


def ambiguous(schema: Type) -> bool:
    """Whether plain JSON may not show which branch of a union a value belongs to. The specification's JSON names the
    branch."""
    return any(len([one for one in union.branches if one.kind != "null"]) > 1 for union in _unions(schema))


def _unions(schema: Type) -> list[Union]:
    seen: dict[int, Type] = {}
    ahead, found = [schema], list[Union]()
    while ahead:
        type = ahead.pop()
        if id(type) in seen:
            continue
        seen[id(type)] = type
        if isinstance(type, Union):
            found.append(type)
            ahead += type.branches
        elif isinstance(type, Record):
            ahead += [field.type for field in type.fields]
        elif isinstance(type, Array):
            ahead.append(type.items)
        elif isinstance(type, Map):
            ahead.append(type.values)
    return found


class Values:
    """`of(json)` converts the result of `json.loads` to Python objects. `named`: unions name their branch and bytes are
    Latin-1 strings, as in the specification; otherwise bytes are strings, or {"base64": …}."""

    def __init__(self, schema: Type, *, named: bool) -> None:
        self._named = named
        self._made: dict[int, Convert | None] = {}
        self.of: Convert | None = self._converter(schema)
        """None if JSON values need no conversion."""

    def _converter(self, type: Type) -> Convert | None:
        if id(type) in self._made:
            made = self._made[id(type)]
            return made if made is not _later else (lambda value: self._again(type, value))
        self._made[id(type)] = _later
        converter = self._made[id(type)] = self._make(type)
        return converter

    def _again(self, type: Type, value: Any) -> Any:
        """Handle a recursive type, whose function is known by now."""
        convert = self._made[id(type)]
        return value if convert is None else convert(value)

    def _make(self, type: Type) -> Convert | None:
        if isinstance(type, Record):
            return self._record(type)
        if isinstance(type, Union):
            return self._union(type)
        if isinstance(type, Array):
            item = self._converter(type.items)
            return None if item is None else (lambda values: [item(value) for value in values])
        if isinstance(type, Map):
            entry = self._converter(type.values)
            return None if entry is None else (lambda values: {name: entry(value) for name, value in values.items()})
        if type.kind in ("bytes", "fixed"):
            data = _latin if self._named else _data
            logical = _of_bytes(type)
            return data if logical is None else (lambda value: logical(data(value)))
        if type.kind in ("float", "double"):
            return lambda value: FLOATS[value] if value.__class__ is str else value
        return None if type.logical is None else OF_NUMBERS.get(type.logical.name)

    def _record(self, record: Record) -> Convert | None:
        fields = [(one.name, convert) for one in record.fields if (convert := self._converter(one.type)) is not None]
        if not fields:
            return None

        def of(value: dict[str, Any]) -> dict[str, Any]:
            for name, convert in fields:
                value[name] = convert(value[name])
            return value

        return of

    def _union(self, union: Union) -> Convert | None:
        if self._named:
            branches = {branch.name: self._converter(branch) for branch in union.branches}

            def named(value: Any) -> Any:
                if value is None:
                    return None
                ((name, inside),) = value.items()
                convert = branches[name]
                return inside if convert is None else convert(inside)

            return named
        branch = next((one for one in union.branches if one.kind != "null"), None)
        convert = None if branch is None else self._converter(branch)
        return None if convert is None else (lambda value: None if value is None else convert(value))


def _later(value: Any) -> Any:
    """A placeholder, for recursive schemas."""
    raise AssertionError


def _data(value: Any) -> bytes:
    return value.encode() if value.__class__ is str else b64decode(value["base64"])


def _latin(value: str) -> bytes:
    return value.encode("latin-1")


def _of_bytes(type: Type) -> Convert | None:
    logical = type.logical
    if logical is None:
        return None
    if logical.name == "decimal":
        scale = -logical.scale
        return lambda data: Decimal(int.from_bytes(data, "big", signed=True)).scaleb(scale, EXACT)
    if logical.name == "uuid" and isinstance(type, Fixed):
        return lambda data: UUID(bytes=data)
    return None


def _time(value: int, per_second: int) -> time | int:
    seconds, part = divmod(value, per_second)
    if not 0 <= seconds < 86_400:
        return value
    minutes, second = divmod(seconds, 60)
    return time(minutes // 60, minutes % 60, second, part * 1_000_000 // per_second)


def _moment(value: int, micros: int, since: datetime) -> datetime | int:
    """Return a timestamp, or the number if Python does not support the year."""
    try:
        return since + MICROSECOND * (value * micros)
    except OverflowError:
        return value


def _date(value: int) -> date | int:
    try:
        return date.fromordinal(value + DAY.toordinal())
    except (ValueError, OverflowError):
        return value


OF_NUMBERS: dict[str, Convert] = {
    "date": _date,
    "time-millis": lambda value: _time(value, 1000),
    "time-micros": lambda value: _time(value, 1_000_000),
    "timestamp-millis": lambda value: _moment(value, 1000, EPOCH),
    "timestamp-micros": lambda value: _moment(value, 1, EPOCH),
    "local-timestamp-millis": lambda value: _moment(value, 1000, LOCAL),
    "local-timestamp-micros": lambda value: _moment(value, 1, LOCAL),
    "uuid": UUID,
}
"""For ints, longs and strings. Nanoseconds remain numbers, because Python's datetime does not have them."""


def written(value: Any) -> Any:
    """Convert a program's value to the input of `AvroWriter`: bytes, dates, decimals and UUIDs in their JSON form."""
    if isinstance(value, bytes | bytearray | memoryview):
        return {"base64": b64encode(value).decode()}
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    return str(value) if isinstance(value, UUID) else value


class Writing:
    """`of(value)` converts a program's value to the input of `AvroWriter`. A union uses the branch of the value's
    class: a `date` is a date even if a string would be possible, too."""

    def __init__(self, schema: Type) -> None:
        self._made: dict[int, Convert] = {}
        self.of: Convert = self._converter(schema)

    def _converter(self, type: Type) -> Convert:
        known = self._made.get(id(type))
        if known is None:
            self._made[id(type)] = lambda value: self._made[id(type)](value)
            known = self._made[id(type)] = self._make(type)
        return known

    def _make(self, type: Type) -> Convert:
        if isinstance(type, Record):
            fields = {one.name: self._converter(one.type) for one in type.fields}

            def record(value: Any) -> Any:
                if not isinstance(value, Mapping):
                    return value
                return {name: fields[name](one) if name in fields else one for name, one in value.items()}

            return record
        if isinstance(type, Array):
            item = self._converter(type.items)
            return lambda value: [item(one) for one in value] if isinstance(value, list | tuple) else value
        if isinstance(type, Map):
            entry = self._converter(type.values)
            return lambda value: (
                {name: entry(one) for name, one in value.items()} if isinstance(value, Mapping) else value
            )
        return self._union(type) if isinstance(type, Union) else written

    def _union(self, union: Union) -> Convert:
        branches = [(branch, self._converter(branch)) for branch in union.branches]

        def of(value: Any) -> Any:
            fits = [number for number, (branch, _) in enumerate(branches) if _is_of(branch, value)]
            if len(fits) != 1:
                return written(value)  # the writer determines the branches, or finds none
            return Branch(fits[0], branches[fits[0]][1](value))

        return of


def _is_of(branch: Type, value: Any) -> bool:
    """Whether the class of a value matches a branch."""
    logical = "" if branch.logical is None else branch.logical.name
    for kind, names in CLASSES:
        if isinstance(value, kind):
            return logical.startswith(names) if names else not logical and branch.kind in KINDS[kind]
    return value is None and branch.kind == "null"


CLASSES: tuple[tuple[type, tuple[str, ...]], ...] = (
    (datetime, ("timestamp-", "local-timestamp-")), (date, ("date",)), (time, ("time-",)), (UUID, ("uuid",)),
    (Decimal, ("decimal", "big-decimal")), (bool, ()), (int, ()), (float, ()), (str, ()), (bytes, ()), (list, ()),
    (tuple, ()), (dict, ()),
)  # fmt: skip
"""Classes of values, subclasses first, with the logical types that they match."""
KINDS: dict[type, tuple[str, ...]] = {
    bool: ("boolean",), int: ("int", "long"), float: ("float", "double"), str: ("string", "enum"),
    bytes: ("bytes", "fixed"), list: ("array",), tuple: ("array",), dict: ("record", "map"),
}  # fmt: skip
