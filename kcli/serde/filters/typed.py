"""Decoded values as `--where` compares them: by the types of their schema, not by their JSON.

In JSON, a Protobuf int64 and an Avro decimal are strings, and proto3 omits a 0 and an empty string. Only fields that a
condition names are converted.
"""

from __future__ import annotations

from kcli.proto import protobuf_code as code
from kcli.schemas import AVRO, PROTOBUF, SchemaRefused
from kcli.serde.avro.types import DECIMALS, Array, Enum, Map, Record, Union
from kcli.serde.filters.operators import Numeral
from kcli.serde.protobuf.program import known
from kcli.serde.protobuf.schema.types import Enum as ProtobufEnum
from kcli.serde.protobuf.schema.types import Message
from kcli.serde.schemas.payloads import AS_IT_IS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from kcli.serde.avro.types import Type
    from kcli.serde.filters.where import Compared
    from kcli.serde.protobuf.schema.types import Field
    from kcli.serde.schemas.readers import Source
    from kcli.serde.schemas.typed_rows import TypedRows

    Path = tuple[str | None, ...]

MISSING = object()
LONG = frozenset({code.INT64, code.UINT64, code.SINT64, code.FIXED64, code.SFIXED64})
TEXTS = frozenset({code.STRING, code.BYTES})
ANY, NUMBER, TEXT, BOOLEAN, OTHER = "", "a number", "a text", "true or false", "no single value"
_KINDS = {str: TEXT, bool: BOOLEAN, int: NUMBER, float: NUMBER}


class Plan:
    """How the fields of a type are converted: the plans of those named in conditions, with `default` for a missing one;
    `items` is the plan of elements.

    `numeral`: a string that is a number. `shown` are the kinds of values that it is compared as; empty for any.
    `symbols` are the texts of an enum.
    """

    def __init__(self) -> None:
        self.fields: dict[str, Plan] = {}
        self.items: Plan | None = None
        self.numeral = False
        self.default: object = MISSING
        self.shown: set[str] = set()
        self.symbols: tuple[str, ...] = ()
        self.any_text = False  # whether a branch is any string

    @property
    def needed(self) -> bool:
        """Whether any value has to be converted."""
        parts = [*self.fields.values(), *([self.items] if self.items else [])]
        return self.numeral or self.default is not MISSING or any(part.needed for part in parts)

    def convert(self, value: Any) -> Any:
        """Convert a decoded value for comparison; objects are changed in place."""
        if self.numeral and type(value) is str:
            return Numeral(value)
        if type(value) is list and self.items is not None:
            return [self.items.convert(item) for item in value]
        if type(value) is dict:
            for name, plan in self.fields.items():
                if name in value:
                    value[name] = plan.convert(value[name])
                elif plan.default is not MISSING:
                    value[name] = plan.default
        return value

    def at(self, path: Path) -> Plan | None:
        """Return the plan at the end of a path."""
        plan: Plan | None = self
        for name in path:
            plan = None if plan is None else plan.items if name is None else plan.fields.get(name)
        return plan


class Plans:
    """The plans of a filter's conditions, one per schema. `impossible` has sentences about comparisons that are false
    for all values of a schema."""

    def __init__(self, paths: Iterable[Path], compared: Iterable[Compared]) -> None:
        self._paths, self._compared = list(paths), list(compared)
        self._made: dict[tuple[Source, str], Plan | None] = {}
        self.impossible: dict[str, None] = {}

    def of(self, rows: TypedRows, offsets: Sequence[int]) -> list[Plan | None] | None:
        """Return the plan of each record; None for a record that needs no conversion, and None instead of the list if
        no record does."""
        plans = {n: self._plan(source, "") for n, source in rows.used.items() if source.schema.kind != PROTOBUF}
        if len(plans) == len(rows.used) and not any(plans.values()):
            return None
        plans[AS_IT_IS] = None
        used, message = rows.used, rows.message
        return [
            plans[number] if number in plans else self._plan(used[number], message(row))
            for row, number in rows.rows(offsets)
        ]

    def _plan(self, source: Source, message: str) -> Plan | None:
        key = source, message
        if key not in self._made:
            plan = planned(source, message, self._paths)
            if plan is not None:
                self._note_impossible(plan)
            self._made[key] = plan if plan is not None and plan.needed else None
        return self._made[key]

    def _note_impossible(self, plan: Plan) -> None:
        """Add a sentence for each comparison that is false for all values of this type."""
        for one in self._compared:
            at = plan.at(one.path)
            kind = _KINDS.get(type(one.constant))
            if at is None or kind is None or not at.shown:
                continue
            shown = one.part + "".join(f".{name}" if name is not None else "[…]" for name in one.path)
            if kind not in at.shown:
                kinds = " or ".join(sorted(at.shown))
                self.impossible[f"{shown} is {kinds} by its schema, but {one.constant!r} is {kind}"] = None
            elif at.symbols and not at.any_text and one.equal and kind == TEXT and one.constant not in at.symbols:
                symbols = ", ".join(at.symbols[:20])
                self.impossible[f"{shown} is never {one.constant!r} by its schema; it is one of {symbols}"] = None


def planned(source: Source, message: str, paths: Iterable[Path]) -> Plan | None:
    """Return the plan of a schema for the values at these paths; None if its types are those of its JSON."""
    schema, plan, texts = source.schema, Plan(), [text for _, text in source.referred]
    try:
        if schema.kind == PROTOBUF:
            from kcli.serde.protobuf.reader import parsed_schema

            types = parsed_schema(schema.text, tuple(texts))
            for path in paths:
                _of_message(plan, types.message(message), path, camel=source.names.camel)
        elif schema.kind == AVRO and source.names.plain:
            from kcli.serde.avro.parse import parse

            parsed = parse(schema.text, texts)
            for path in paths:
                _of_avro(plan, parsed, path)
        else:
            return None
    except SchemaRefused:
        return None
    return plan


def _of_avro(plan: Plan, type: Type, path: Path) -> None:
    """Add to the plan the type at the end of a path; of a union, all its branches."""
    if isinstance(type, Union):
        for branch in type.branches:
            if branch.kind != "null":
                _of_avro(plan, branch, path)
    elif isinstance(type, Array) and (not path or path[0] is None):
        plan.items = plan.items or Plan()
        _of_avro(plan.items, type.items, path[1:])
        plan.shown.add(OTHER)
    elif not path:
        _end(plan, type)
    elif isinstance(type, Map) and path[0] is not None:
        _of_avro(plan.fields.setdefault(path[0], Plan()), type.values, path[1:])
    elif isinstance(type, Record):
        field = next((field for field in type.fields if field.name == path[0]), None)
        if field is not None and path[0] is not None:
            _of_avro(plan.fields.setdefault(path[0], Plan()), field.type, path[1:])


def _end(plan: Plan, type: Type) -> None:
    if type.logical is not None and type.logical.name in DECIMALS:
        plan.numeral = True
        plan.shown |= {NUMBER, TEXT}
    elif isinstance(type, Enum):
        plan.shown.add(TEXT)
        plan.symbols += type.symbols
    elif type.kind in ("int", "long", "float", "double"):
        plan.shown.add(TEXT if type.logical is not None else NUMBER)
        plan.shown |= {TEXT} if type.kind in ("float", "double") else set()  # "NaN"
    elif type.kind == "string":
        plan.shown.add(TEXT)
        plan.any_text = True
    else:
        plan.shown.add(BOOLEAN if type.kind == "boolean" else OTHER)


def _of_message(plan: Plan, message: Message, path: Path, *, camel: bool) -> None:
    if known(message) or not path:
        plan.numeral = plan.numeral or message.name in _WRAPPED
        return
    name = path[0]
    field = next((one for one in message.fields.values() if name == (one.json_name if camel else one.name)), None)
    if field is None or name is None:
        return
    inner = plan.fields.setdefault(name, Plan())
    if field.entry is not None:
        inner.default = {}
        if len(path) > 1 and path[1] is not None:
            _of_field(inner.fields.setdefault(path[1], Plan()), field.entry.fields[2], path[2:], camel=camel)
    elif field.repeated:
        inner.default = []
        inner.items = inner.items or Plan()
        _of_field(inner.items, field, path[2:] if path[1:2] == (None,) else (), camel=camel)
    else:
        _of_field(inner, field, path[1:], camel=camel)
        if not field.presence and not isinstance(field.type, Message):
            inner.default = _zero(field)


_WRAPPED = frozenset({"google.protobuf.Int64Value", "google.protobuf.UInt64Value"})


def _of_field(plan: Plan, field: Field, path: Path, *, camel: bool) -> None:
    if isinstance(field.type, Message):
        _of_message(plan, field.type, path, camel=camel)
    elif isinstance(field.type, ProtobufEnum):
        plan.shown |= {TEXT} if field.type.closed else {TEXT, NUMBER}  # an unknown number is shown as a number
        plan.symbols = tuple(field.type.numbers)
    elif field.kind in LONG:
        plan.numeral = True
        plan.shown |= {NUMBER, TEXT}
    elif field.kind in TEXTS:
        plan.shown.add(TEXT)
    elif field.kind == code.BOOL:
        plan.shown.add(BOOLEAN)
    else:
        plan.shown |= {NUMBER, TEXT} if field.kind in (code.DOUBLE, code.FLOAT) else {NUMBER}


def _zero(field: Field) -> object:
    """Return the value that proto3 omits."""
    if isinstance(field.type, ProtobufEnum):
        return field.type.names.get(0, 0)
    if field.kind in TEXTS:
        return ""
    return False if field.kind == code.BOOL else Numeral("0") if field.kind in LONG else 0
