"""Whether a schema is accepted by Avro for Java, and so by a registry. Reading is less strict, because records with
schemas that an older registry accepted must be readable."""

from __future__ import annotations

import json

from kcli.schemas import SchemaRefused
from kcli.serde.avro.exact import FLOATS
from kcli.serde.avro.parse import parse
from kcli.serde.avro.types import PRIMITIVES, Array, Enum, Map, Named, Record, Type, Union

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

BITS = {"int": 31, "long": 63}


def parse_strictly(text: str, references: Iterable[str] = ()) -> Type:
    """Like `parse`. Also raises SchemaRefused for defaults of the wrong type, invalid names and symbols, and duplicate
    symbols of an enum."""
    parsed = parse(text, references)
    if "N" in text or "I" in text:
        json.loads(text if text.strip() not in PRIMITIVES else "{}", parse_constant=_no_constant)
    seen, to_do = set[int](), [parsed]
    while to_do:
        type = to_do.pop()
        if id(type) in seen:
            continue
        seen.add(id(type))
        problem = _problem(type)
        if problem:
            raise SchemaRefused(f"the Avro schema is not valid: {problem}")
        if isinstance(type, Union):
            to_do += type.branches
        elif isinstance(type, Array):
            to_do.append(type.items)
        elif isinstance(type, Map):
            to_do.append(type.values)
        elif isinstance(type, Record):
            to_do += [field.type for field in type.fields]
    return parsed


def _no_constant(name: str) -> object:
    raise SchemaRefused(f'the Avro schema is not valid: {name} is not JSON; write "{name}"')


def _problem(type: Type) -> str:
    """Return what is wrong with a type itself; "" if nothing is."""
    if isinstance(type, Named):
        if type.name in PRIMITIVES:
            return f"a {type.kind} has the name of the primitive type {type.name}"
        for name in (type.name, *type.aliases):
            if not all(map(_is_name, name.split("."))):
                return f"{json.dumps(name, ensure_ascii=False)} is not a name"
    if isinstance(type, Enum):
        return _wrong_symbols(type)
    if isinstance(type, Record):
        for field in type.fields:
            if not _is_name(field.name):
                return f"{json.dumps(field.name, ensure_ascii=False)} in {type.name} is not the name of a field"
            if field.has_default and not is_default(field.type, field.default):
                default = json.dumps(field.default, ensure_ascii=False)[:60]
                return f"the default of the field {field.name} of {type.name}, {default}, is not {_words(field.type)}"
    return ""


def _wrong_symbols(enum: Enum) -> str:
    seen = set[str]()
    for symbol in enum.symbols:
        if not _is_name(symbol):
            return f"{json.dumps(symbol, ensure_ascii=False)} is not a symbol of an enum ({enum.name})"
        if symbol in seen:
            return f"the enum {enum.name} has the symbol {symbol} twice"
        seen.add(symbol)
    if enum.default is not None and enum.default not in seen:
        return f"the default of the enum {enum.name}, {enum.default}, is not one of its symbols"
    return ""


def _is_name(text: str) -> bool:
    return text != "" and (text[0].isalpha() or text[0] == "_") and all(one.isalnum() or one == "_" for one in text)


def _words(type: Type) -> str:
    if isinstance(type, Union):
        return f"of any of its branches ({', '.join(branch.name for branch in type.branches)})"
    return f"of the type {type.name}"


def is_default(type: Type, value: object) -> bool:
    """Whether a JSON value is a valid default for a field of this type. Any string is accepted for an enum or a fixed,
    because Java only finds a wrong one when it is used."""
    kind = type.kind
    if isinstance(type, Union):
        return any(is_default(branch, value) for branch in type.branches)
    if isinstance(type, Record):
        return isinstance(value, dict) and all(
            is_default(field.type, value[field.name]) if field.name in value else field.has_default
            for field in type.fields
        )
    if isinstance(type, Array):
        return isinstance(value, list) and all(is_default(type.items, item) for item in value)
    if isinstance(type, Map):
        return isinstance(value, dict) and all(is_default(type.values, item) for item in value.values())
    if isinstance(value, bool) or value is None:
        return kind == ("null" if value is None else "boolean")
    if kind in BITS:
        return isinstance(value, int) and -(1 << BITS[kind]) <= value < 1 << BITS[kind]
    if kind in ("float", "double"):
        return isinstance(value, int | float) or value in FLOATS
    return isinstance(value, str) and kind in ("string", "bytes", "enum", "fixed")
