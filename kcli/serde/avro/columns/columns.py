"""The columns that values of an Avro schema fill: kinds that Spark and Arrow have, as Spark's `from_avro` chooses them.

A union of null and one type is that type, of int and long a long, of float and double a double; any other is a struct
of `member0`, `member1`, …, of which one is not null. Times of a day, timestamps of nanoseconds and durations stay what
they are below, as no type of Spark has all their digits.
"""

from __future__ import annotations

from array import array

from kcli.proto import avro_columns_code as op
from kcli.schemas import SchemaRefused
from kcli.serde.avro.types import Array, Fixed, Map, Record, Type, Union

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = {
    "null": op.VOID,
    "boolean": op.BITS,
    "int": op.FOUR,
    "date": op.FOUR,
    "float": op.FOUR,
    "long": op.EIGHT,
    "double": op.EIGHT,
    "timestamp": op.EIGHT,
    "local": op.EIGHT,
    "decimal": op.SIXTEEN,
    "string": op.VARIABLE,
    "binary": op.VARIABLE,
    "array": op.LIST,
    "map": op.LIST,
    "struct": op.STRUCT,
}
TIMES = {
    "date": "date",
    "timestamp-millis": "timestamp",
    "timestamp-micros": "timestamp",
    "local-timestamp-millis": "local",
    "local-timestamp-micros": "local",
}
WIDER = ({"int": "long", "long": "long"}, {"float": "double", "double": "double"})
"""Unions that are a number."""
MOST = 10_000  # columns
DEEPEST = 256


class Column:
    """One column. `kind` is a key of KINDS (`timestamp` is UTC, `local` has no zone), `name` that of a struct's field;
    `precision` and `scale` are a decimal's. The parts of a map are its keys and its values, those of a union with
    several branches (`members`) the columns of these, by the identity of their types."""

    def __init__(self, kind: str, name: str = "", *, nullable: bool = False) -> None:
        self.kind, self.name, self.nullable = kind, name, nullable
        self.number = -1
        self.precision = self.scale = 0
        self.parts: list[Column] = []
        self.members: dict[int, Column] = {}

    def walk(self) -> Iterator[tuple[int, bool, int]]:
        """The kind in a layout, whether it may be null, and the number of columns, of this column and its parts."""
        parts = [row for part in self.parts for row in part.walk()]
        if self.kind == "map":
            parts = [(op.STRUCT, False, len(parts) + 1), *parts]
        yield KINDS[self.kind], self.nullable, len(parts) + 1
        yield from parts


def columns_of(schema: Type) -> Column:
    """The column of a schema's values. Raises SchemaRefused for a record that contains itself, and for more columns
    than MOST."""
    return _Columns().column(schema, "", 0, nullable=True)


def layout_of(column: Column) -> array[int]:
    """The layout of a column, for the record core."""
    return array("i", [int(number) for row in column.walk() for number in row])


class _Columns:
    def __init__(self) -> None:
        self.count = 0
        self.open: list[int] = []

    def column(self, type: Type, name: str, depth: int, *, nullable: bool = False) -> Column:
        column = Column("struct", name, nullable=nullable)
        column.number = self.count
        self.count += 1
        if self.count > MOST:
            raise SchemaRefused(f"the Avro schema has more than {MOST:,} columns")
        if depth > DEEPEST:
            raise SchemaRefused(f"the Avro schema has columns nested more than {DEEPEST} deep")
        if isinstance(type, Union):
            self._union(column, type, depth)
        elif isinstance(type, Record):
            self._record(column, type, depth)
        elif isinstance(type, Array):
            column.kind = "array"
            column.parts = [self.column(type.items, "element", depth + 1)]
        elif isinstance(type, Map):
            self._map(column, type, depth)
        else:
            _simple(column, type)
        return column

    def _record(self, column: Column, record: Record, depth: int) -> None:
        if id(record) in self.open:
            raise SchemaRefused(
                f"the record {record.name} contains itself, which no column of Spark can: read with a schema "
                "without that field (readerSchema), or as binary"
            )
        self.open.append(id(record))
        column.parts = [self.column(field.type, field.name, depth + 1) for field in record.fields]
        self.open.pop()

    def _map(self, column: Column, type: Map, depth: int) -> None:
        column.kind = "map"
        self.count += 1  # the structs of key and value
        key = Column("string", "key")
        key.number = self.count
        self.count += 1
        column.parts = [key, self.column(type.values, "value", depth + 1)]

    def _union(self, column: Column, union: Union, depth: int) -> None:
        branches = [branch for branch in union.branches if branch.kind != "null"]
        column.nullable = column.nullable or len(branches) < len(union.branches)
        kinds = [branch.kind for branch in branches]
        wider = next((kind for kind in WIDER if set(kind) == set(kinds)), None)
        if wider is not None:
            column.kind = wider[kinds[0]]
        elif len(branches) == 1:
            self.count -= 1  # the same column
            alone = self.column(branches[0], column.name, depth, nullable=column.nullable)
            column.kind, column.precision, column.scale = alone.kind, alone.precision, alone.scale
            column.parts = alone.parts
        elif not branches:
            column.kind, column.nullable = "null", False
        else:
            for number, branch in enumerate(branches):
                part = self.column(branch, f"member{number}", depth + 1, nullable=True)
                column.members[id(branch)] = part
                column.parts.append(part)


def _simple(column: Column, type: Type) -> None:
    """A type without parts."""
    logical = type.logical.name if type.logical else ""
    if type.logical is not None and logical == "decimal":
        column.precision, column.scale = type.logical.precision, type.logical.scale
        column.kind = "decimal" if column.precision <= op.MOST_DIGITS else "string"
    elif logical in TIMES:
        column.kind = TIMES[logical]
    elif isinstance(type, Fixed):
        column.kind = "string" if logical == "uuid" else "binary"
    elif type.kind == "null":
        column.kind, column.nullable = "null", False  # it needs no bits to say so
    else:
        column.kind = {"bytes": "binary", "enum": "string"}.get(type.kind, type.kind)
