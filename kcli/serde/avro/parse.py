"""Parses a schema's JSON to types (Avro 1.12 specification). Raises SchemaRefused for anything that exceeds a limit or
violates the specification.

Unknown properties are ignored, such as `avro.java.string`, and so are logical types that do not fit their type: the
specification says to use the underlying type. Names only have to be strings: registries have names that Java's strict
mode rejects, and their records must be readable.
"""

from __future__ import annotations

import json

from kcli.schemas import SchemaRefused
from kcli.serde.avro.types import PRIMITIVES, Array, Enum, Field, Fixed, Logical, Map, Named, Record, Type, Union

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST = 4 << 20  # bytes of a schema's text
DEEPEST = 256  # nesting depth of types
MOST_NAMES = 10_000
LARGEST_SCALE = 1024  # digits after the decimal point
LARGEST_FIXED = 2**31 - 1

LOGICAL = {
    "date": "int",
    "time-millis": "int",
    "time-micros": "long",
    "timestamp-millis": "long",
    "timestamp-micros": "long",
    "timestamp-nanos": "long",
    "local-timestamp-millis": "long",
    "local-timestamp-micros": "long",
    "local-timestamp-nanos": "long",
    "uuid": "string",
    "big-decimal": "bytes",
}
"""Logical types for one primitive type."""


def parse(text: str, references: Iterable[str] = ()) -> Type:
    """Return the type of a schema. `references` are the texts of schemas whose names it uses, each after what it needs
    itself. Raises SchemaRefused."""
    parser = _Parser()
    for referred in references:
        parser.read(referred)
    return parser.read(text)


def _refuse(problem: str) -> SchemaRefused:
    return SchemaRefused(f"the Avro schema is not used: {problem}")


class _Parser:
    """The named types so far; a schema is parsed after those that it references."""

    def __init__(self) -> None:
        self.names: dict[str, Type] = {}
        self.whole: object = None
        self.later: dict[str, tuple[dict[str, object], str]] | None = None
        """Definitions in the text being parsed, with the namespaces around them; None until one is looked for."""
        self.early: dict[int, Type] = {}
        """Types used before their definition, by its place."""

    def read(self, text: str) -> Type:
        if len(text) > LONGEST:
            raise _refuse(f"its text is longer than {LONGEST >> 20} MiB")
        try:
            schema = json.loads(text)
        except ValueError as problem:
            if text.strip() in PRIMITIVES:  # older registries store "string" without quotes
                return Type(text.strip())
            raise _refuse(f"its text is not JSON: {problem}") from None
        except RecursionError:
            raise _refuse(f"types are nested more than {DEEPEST} deep") from None
        self.whole, self.later = schema, None
        return self.type(schema, "", 0)

    def type(self, schema: object, space: str, depth: int) -> Type:
        """Parse a type; `space` is the enclosing namespace."""
        if depth > DEEPEST:
            raise _refuse(f"types are nested more than {DEEPEST} deep")
        if isinstance(schema, str):
            return self.named(schema, space, depth)
        if isinstance(schema, list):
            return self.union(schema, space, depth)
        if not isinstance(schema, dict):
            raise _refuse(f"a type is a name, a list or an object, not {json.dumps(schema)[:80]}")
        if id(schema) in self.early:
            return self.early[id(schema)]
        kind = schema.get("type")
        if isinstance(kind, dict | list):  # {"type": {…}}: a type nested in another object
            return self.type(kind, space, depth + 1)
        if kind == "array":
            return Array(self.type(self.given(schema, "items", "an array"), space, depth + 1))
        if kind == "map":
            return Map(self.type(self.given(schema, "values", "a map"), space, depth + 1))
        if kind in ("record", "error"):
            return self.record(schema, space, depth)
        if kind == "enum":
            return self.enum(schema, space)
        if kind == "fixed":
            return self.fixed(schema, space)
        if not isinstance(kind, str):
            raise _refuse("a type has no name")
        if kind in PRIMITIVES:
            return Type(kind, logical=_logical(schema, kind, None))
        return self.named(kind, space, depth)

    def given(self, schema: dict[str, object], name: str, of: str) -> object:
        if name not in schema:
            raise _refuse(f"{of} has no {name}")
        return schema[name]

    def named(self, name: str, space: str, depth: int) -> Type:
        if name in PRIMITIVES:
            return Type(name)
        full = f"{space}.{name}" if space and "." not in name else name
        for known in (full, name):
            if known in self.names:
                return self.names[known]
        if self.later is None:
            self.later = dict(_definitions(self.whole))
        if full not in self.later:
            raise _refuse(f"unknown type {name}")
        definition, around = self.later[full]
        self.early[id(definition)] = type = self.type(definition, around, depth + 1)
        return type

    def union(self, schema: list[object], space: str, depth: int) -> Union:
        branches = [self.type(branch, space, depth + 1) for branch in schema]
        names = [branch.name for branch in branches]
        twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
        if twice is not None:
            raise _refuse(f"a union has two branches {twice}")
        if "union" in names:
            raise _refuse("a union is a branch of a union")
        return Union(branches)

    def name_of(self, schema: dict[str, object], space: str, kind: str) -> tuple[str, list[str]]:
        """Return the full name and aliases of a named type."""
        name, given = schema.get("name"), schema.get("namespace")
        if not isinstance(name, str) or not name:
            raise _refuse(f"a type {kind} has no name")
        if "." not in name:
            around = given if isinstance(given, str) else space
            name = f"{around}.{name}" if around else name
        if len(self.names) >= MOST_NAMES:
            raise _refuse(f"it has more than {MOST_NAMES} named types")
        own = _space(name)
        return name, [alias if "." in alias or not own else f"{own}.{alias}" for alias in _texts(schema.get("aliases"))]

    def record(self, schema: dict[str, object], space: str, depth: int) -> Record:
        name, aliases = self.name_of(schema, space, "record")
        record = Record(name, aliases)
        self.define(record)
        fields = schema.get("fields")
        if not isinstance(fields, list):
            raise _refuse(f"the record {name} has no list of fields")
        for field in fields:
            if not isinstance(field, dict) or not isinstance(own := field.get("name"), str):
                raise _refuse(f"a field of {name} has no name")
            if "type" not in field:
                raise _refuse(f"the field {own} of {name} has no type")
            type = field["type"]
            if isinstance(type, str) and "logicalType" in field and type in PRIMITIVES:
                type = {**field}  # written by some generators: {"name": …, "type": "int", "logicalType": "date"}
            record.fields.append(
                Field(
                    own,
                    self.type(type, _space(name), depth + 1),
                    _texts(field.get("aliases")),
                    has_default="default" in field,
                    default=field.get("default"),
                    tags=_texts(field.get("confluent:tags")),
                )
            )
        if len({field.name for field in record.fields}) < len(record.fields):
            raise _refuse(f"the record {name} has two fields of one name")
        return record

    def define(self, type: Named) -> Type:
        """Register the type under its name. As in Java, an enum or a fixed may be defined twice identically."""
        known = self.names.setdefault(type.name, type)
        alike = isinstance(known, Enum) and isinstance(type, Enum) and known.symbols == type.symbols
        alike |= isinstance(known, Fixed) and isinstance(type, Fixed) and known.size == type.size
        if known is not type and not alike:
            raise _refuse(f"there are two types {type.name}")
        return known

    def enum(self, schema: dict[str, object], space: str) -> Type:
        name, aliases = self.name_of(schema, space, "enum")
        symbols = schema.get("symbols")
        if not isinstance(symbols, list) or not all(isinstance(symbol, str) for symbol in symbols):
            raise _refuse(f"the enum {name} has no list of symbols")
        default = schema.get("default")
        return self.define(Enum(name, aliases, _texts(symbols), default if isinstance(default, str) else None))

    def fixed(self, schema: dict[str, object], space: str) -> Type:
        name, aliases = self.name_of(schema, space, "fixed")
        size = schema.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= LARGEST_FIXED:
            raise _refuse(f"the fixed {name} has no size")
        fixed = Fixed(name, aliases, size)
        fixed.logical = _logical(schema, "fixed", size)
        return self.define(fixed)


def _definitions(whole: object) -> Iterator[tuple[str, tuple[dict[str, object], str]]]:
    """Iterate over the named types that a schema's text defines: full name, and definition with its enclosing
    namespace."""
    to_do: list[tuple[object, str]] = [(whole, "")]
    while to_do:
        schema, space = to_do.pop()
        if isinstance(schema, list):
            to_do += [(branch, space) for branch in schema]
        if not isinstance(schema, dict):
            continue
        name, given = schema.get("name"), schema.get("namespace")
        if isinstance(name, str) and schema.get("type") in ("record", "error", "enum", "fixed"):
            around = given if isinstance(given, str) else space
            full = f"{around}.{name}" if around and "." not in name else name
            yield full, (schema, space)
            space = _space(full)
            fields = schema.get("fields")
            to_do += [(field, space) for field in fields if isinstance(field, dict)] if isinstance(fields, list) else []
        to_do += [(schema[part], space) for part in ("type", "items", "values") if part in schema]


def _space(name: str) -> str:
    return name.rpartition(".")[0]


def _texts(schema: object) -> list[str]:
    return [text for text in schema if isinstance(text, str)] if isinstance(schema, list) else []


def _logical(schema: dict[str, object], kind: str, size: int | None) -> Logical | None:
    name = schema.get("logicalType")
    if name == "decimal" and kind in ("bytes", "fixed"):
        precision, scale = schema.get("precision"), schema.get("scale", 0)
        if not isinstance(precision, int) or not isinstance(scale, int) or not 0 <= scale <= LARGEST_SCALE:
            return None
        return Logical("decimal", precision, scale) if precision > 0 and scale <= precision else None
    if (name, kind, size) in (("uuid", "fixed", 16), ("duration", "fixed", 12)):
        return Logical(str(name))
    return Logical(name) if isinstance(name, str) and LOGICAL.get(name) == kind else None
