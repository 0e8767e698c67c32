"""The columns for values of an Avro schema, with the types of Spark and Arrow that Spark's `from_avro` uses.

A union of null and one type is that type, of int and long a long, of float and double a double; any other is a struct
of `member0`, `member1`, …, of which one is not null. Times of day, nanosecond timestamps and durations keep their
underlying type, because no Spark type has their precision.
"""

from __future__ import annotations

from array import array

from kcli.proto import avro_columns_code as op
from kcli.proto.core import AvroReader
from kcli.schemas import SchemaRefused
from kcli.serde.avro.defaults import bad_default, default_text
from kcli.serde.avro.exact import BadValue
from kcli.serde.avro.program import Program, other_scale, unread
from kcli.serde.avro.resolve import PROMOTED, chosen, matches, reader_fields
from kcli.serde.avro.types import Array, Enum, Field, Fixed, Map, Record, Type, Union
from kcli.serde.avro.write import AvroWriter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


# Compiles a writer's and a reader's schema to a program of the record core that fills the reader's columns
# (columns.py).


NUMBERS = {"long": op.WIDE, "float": op.SINGLE, "double": op.DOUBLED}
"""The instruction for an integer in a column of another type."""


def column_reader(writer: Type, reader: Type, column: Column) -> AvroReader:
    """Return the reader of payloads of the writer's schema into columns of the reader's schema, for
    `core.avro_columns`. Raises SchemaRefused if the reader's schema cannot read the writer's."""
    return AvroReader(*column_program(writer, reader, column))


def column_program(writer: Type, reader: Type, column: Column) -> tuple[array[int], list[bytes]]:
    """Return the instructions and texts of `column_reader`."""
    return ColumnProgram().columns(writer, reader, column)


class ColumnProgram(Program):
    """The program so far. A pair of types has one place for each column."""

    def __init__(self) -> None:
        super().__init__(logical=True, wrapped=False)
        self._at: dict[tuple[int, int, int], int] = {}
        self._rest = False

    def columns(self, writer: Type, reader: Type, column: Column) -> tuple[array[int], list[bytes]]:
        """Return the instructions and texts."""
        self._rest = writer.kind == "bytes" and reader.kind == "bytes"  # Java writes these without a length
        self.read(writer, reader, column)
        return self.finished()

    def always(self, place: int) -> list[int]:
        if self.code[place] == op.RECORD:
            return list(self.code[place + 3 : place + 3 + self.code[place + 2]])
        if self.code[place] == op.MEMBER:
            return [self.code[place + 2]]
        return [self.code[place + 3]] if self.code[place] == op.DEFAULT else []

    def refuse(self, reason: str) -> None:
        self._refused[self.put(op.REFUSE, -1)] = reason

    def read(self, writer: Type, reader: Type, column: Column | None) -> int:
        """Return the place of the instructions that read such a value into a column, or skip it without one."""
        key = id(writer), id(reader), -1 if column is None else column.number
        known = self._at.get(key)
        if known is None:
            self._held += writer, reader
            known = self._at[key] = len(self.code)
            self._value(writer, reader, column)
        return known

    def passed(self, writer: Type) -> int:
        return self.read(writer, writer, None)

    def _value(self, writer: Type, reader: Type, column: Column | None) -> None:
        if isinstance(writer, Union):
            self._branches(writer, reader, column)
        elif isinstance(reader, Union) and column is not None:
            to = chosen(writer, reader)
            if to is None:
                self.refuse(unread(writer, reader))
            else:
                self._taken(writer, to, column)
        else:
            self._plain(writer, reader, column)

    def _branches(self, writer: Union, reader: Type, column: Column | None) -> None:
        place = self.put(op.UNION, len(writer.branches), *[0] * len(writer.branches))

        def fill() -> None:
            for number, branch in enumerate(writer.branches):
                if column is None:
                    there = self.passed(branch)
                else:
                    to = branch if reader is writer else chosen(branch, reader)
                    there = self.put(op.REFUSE, -1) if to is None else self._branch_place(branch, to, reader, column)
                self.code[place + 2 + number] = there

        self._to_do.append(fill)

    def _branch_place(self, writer: Type, to: Type, reader: Type, column: Column) -> int:
        if isinstance(reader, Union) and not isinstance(to, Union):
            place = len(self.code)
            self._taken(writer, to, column)
            return place
        return self.read(writer, to, column)

    def _taken(self, writer: Type, reader: Type, column: Column) -> None:
        """Read a value that is one branch of the reader's union."""
        if reader.kind == "null":
            self.put(op.NULL, column.number)
        elif column.members:
            self._member(writer, reader, column)
        else:
            self._plain(writer, reader, column)

    def _member(self, writer: Type, reader: Type, column: Column) -> None:
        own = column.members[id(reader)]
        others = [part.number for part in column.parts if part is not own]
        place = self.put(op.MEMBER, column.number, 0, len(others), *others)

        def fill() -> None:
            self.code[place + 2] = self.read(writer, reader, own)

        self._to_do.append(fill)

    def _plain(self, writer: Type, reader: Type, column: Column | None) -> None:
        """Read a value if neither type is a union."""
        number = -1 if column is None else column.number
        if isinstance(writer, Record) and isinstance(reader, Record):
            self._fields(writer, reader, column)
        elif isinstance(writer, Array) and isinstance(reader, Array):
            part = None if column is None else column.parts[0]
            self._parts(op.ARRAY, number, writer.items, reader.items, part, self.fewest(writer.items))
        elif isinstance(writer, Map) and isinstance(reader, Map):
            part = None if column is None else column.parts[1]
            self._parts(op.MAP, number, writer.values, reader.values, part, 1 + self.fewest(writer.values))
        elif isinstance(writer, Enum) and isinstance(reader, Enum) and matches(writer, reader):
            shown = [symbol if symbol in reader.symbols else reader.default for symbol in writer.symbols]
            texts = [-1 if symbol is None else self.text(symbol) for symbol in shown]
            self.put(op.ENUM, number, len(texts), *texts)
        else:
            self._scalar(writer, reader, column)

    def _parts(self, kind: int, number: int, writer: Type, reader: Type, column: Column | None, fewest: int) -> None:
        place = self.put(kind, number, 0, fewest)

        def fill() -> None:
            self.code[place + 2] = self.passed(writer) if column is None else self.read(writer, reader, column)

        self._to_do.append(fill)

    def _fields(self, writer: Record, reader: Record, column: Column | None) -> None:
        """Read a record, with defaults for fields that the writer lacks."""
        columns = {} if column is None else {part.name: part for part in column.parts}
        found = reader_fields(reader)
        given = {to.name for field in writer.fields if (to := found.get(field.name)) is not None}
        added = [] if column is None else [to for to in reader.fields if to.name not in given]
        count = len(writer.fields) + len(added)
        place = self.put(op.RECORD, -1 if column is None else column.number, count, *[0] * count)

        def fill() -> None:
            read = set()
            for at, field in enumerate(writer.fields, place + 3):
                to = None if column is None else found.get(field.name)
                if to is None or to.name in read:
                    self.code[at] = self.passed(field.type)
                    continue
                read.add(to.name)
                self.code[at] = self.read(field.type, to.type, columns[to.name])
            for at, to in enumerate(added, place + 3 + len(writer.fields)):
                try:
                    self.code[at] = self._default(reader, to, columns[to.name])
                except SchemaRefused as problem:
                    self.code[place] = op.REFUSE
                    self._refused[place] = str(problem)
                    return

        self._to_do.append(fill)

    def _default(self, record: Record, field: Field, column: Column) -> int:
        """Add a default: a payload in the program's texts, read like any other."""
        default_text(record, field, logical=False, wrapped=False)  # limits its size
        alone = Record("default", ())  # a schema of only bytes is written without a length
        alone.fields.append(Field("value", field.type))
        try:
            payload = AvroWriter(alone, defaults=True).write({"value": field.default})
        except (BadValue, ValueError, OverflowError):
            raise bad_default(record, field) from None
        self.texts.append(payload)
        place = self.put(op.DEFAULT, -1, len(self.texts) - 1, 0)

        def fill() -> None:
            self.code[place + 3] = self.read(field.type, field.type, column)

        self._to_do.append(fill)
        return place

    # -- simple types -------------------------------------------------------------------------------------------------

    def _scalar(self, writer: Type, reader: Type, column: Column | None) -> None:
        fits = reader.kind in PROMOTED.get(writer.kind, ()) or (
            matches(writer, reader) and (isinstance(reader, Fixed) or writer.kind in self.plain)
        )
        problem = "" if column is None else other_scale(writer, reader)
        if not fits or problem:
            self.refuse(problem or unread(writer, reader))
            return
        number, kind = (-1, "") if column is None else (column.number, column.kind)
        if writer.kind in ("bytes", "fixed") or (writer.kind == "string" and kind in ("binary", "decimal")):
            self._bytes(writer, reader, number, column)
        elif writer.kind in ("int", "long"):
            self._integer(writer, reader, number, kind)
        elif writer.kind == "float":
            self.put(op.WIDEN if kind == "double" else op.FLOAT, number)
        else:
            self.put(
                {"null": op.NULL, "boolean": op.BOOLEAN, "double": op.DOUBLE, "string": op.TEXT}[writer.kind], number
            )

    def _bytes(self, writer: Type, reader: Type, number: int, column: Column | None) -> None:
        size = writer.size if isinstance(writer, Fixed) else op.REST if self._rest else op.LENGTH
        logical = reader.logical.name if reader.logical and column is not None else ""
        if column is not None and column.kind == "decimal":
            self.put(op.DECIMAL, number, size, column.precision)
        elif column is not None and logical == "decimal":
            self.put(op.DIGITS, number, size, column.scale)
        elif logical == "uuid" and isinstance(writer, Fixed):
            self.put(op.UUID, number)
        elif column is not None and column.kind == "string":
            self.put(op.TEXT, number)  # bytes that the reader declares as a string
        else:
            self.put(op.BYTES, number, size)

    def _integer(self, writer: Type, reader: Type, number: int, kind: str) -> None:
        bits = 32 if writer.kind == "int" else 64
        if kind in ("timestamp", "local"):
            unit = (writer.logical or reader.logical or writer).name
            to = op.MILLIS if unit.endswith("millis") else op.WIDE
        else:
            to = NUMBERS.get(kind, op.WIDE)
        if to != op.WIDE or (bits == 32 and kind in ("long", "timestamp", "local")):
            self.put(op.NUMBER, number, bits, to)
        else:
            self.put(op.INT if bits == 32 else op.LONG, number)


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
"""Unions that become a single number."""
MOST = 10_000  # columns
DEEPEST = 256


class Column:
    """A column. `kind` is a key of KINDS (`timestamp` is UTC, `local` has no zone), `name` the field's name in a
    struct; `precision` and `scale` are for decimals. The parts of a map are its keys and values; the parts of a union
    with several branches (`members`) are the columns of these, by the identity of their types."""

    def __init__(self, kind: str, name: str = "", *, nullable: bool = False) -> None:
        self.kind, self.name, self.nullable = kind, name, nullable
        self.number = -1
        self.precision = self.scale = 0
        self.parts: list[Column] = []
        self.members: dict[int, Column] = {}

    def walk(self) -> Iterator[tuple[int, bool, int]]:
        """Iterate over (kind in the layout, nullable, number of columns) of this column and its parts."""
        parts = [row for part in self.parts for row in part.walk()]
        if self.kind == "map":
            parts = [(op.STRUCT, False, len(parts) + 1), *parts]
        yield KINDS[self.kind], self.nullable, len(parts) + 1
        yield from parts


def columns_of(schema: Type) -> Column:
    """Return the column for a schema's values. Raises SchemaRefused for a recursive record, and for more columns than
    MOST."""
    return _Columns().column(schema, "", 0, nullable=True)


def layout_of(column: Column) -> array[int]:
    """Return the layout of a column for the record core."""
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
                f"the record {record.name} contains itself, which Spark columns do not support: read with a schema "
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
    """Set the column of a simple type."""
    logical = type.logical.name if type.logical else ""
    if type.logical is not None and logical == "decimal":
        column.precision, column.scale = type.logical.precision, type.logical.scale
        column.kind = "decimal" if column.precision <= op.MOST_DIGITS else "string"
    elif logical in TIMES:
        column.kind = TIMES[logical]
    elif isinstance(type, Fixed):
        column.kind = "string" if logical == "uuid" else "binary"
    elif type.kind == "null":
        column.kind, column.nullable = "null", False  # needs no validity bits
    else:
        column.kind = {"bytes": "binary", "enum": "string"}.get(type.kind, type.kind)
