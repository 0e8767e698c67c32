"""Compiles a schema to a program of the record core that converts payloads to JSON.

With a reader's schema, payloads of the writer's are converted to the reader's types (Avro 1.12, "Schema Resolution").
As in Java, a type that cannot be resolved is an error of the values that contain it; of all values only if every value
does. Types are compiled from a work list instead of recursively, because a schema may chain ten thousand names.
"""

from __future__ import annotations

import json
from array import array
from collections import deque

from kcli.proto import avro_code as op
from kcli.proto.core import AvroReader
from kcli.schemas import SchemaRefused
from kcli.serde.avro.defaults import default_text
from kcli.serde.avro.resolve import PROMOTED, chosen, matches, reader_fields
from kcli.serde.avro.types import Array, Enum, Fixed, Map, Record, Type, Union

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PLAIN = {
    "null": op.NULL,
    "boolean": op.BOOLEAN,
    "int": op.INT,
    "long": op.LONG,
    "float": op.FLOAT,
    "double": op.DOUBLE,
    "bytes": op.BYTES,
    "string": op.STRING,
}
TIMES = {
    "date": (op.DATE,),
    "time-millis": (op.TIME, 3),
    "time-micros": (op.TIME, 6),
    "timestamp-millis": (op.TIMESTAMP, 3, 1),
    "timestamp-micros": (op.TIMESTAMP, 6, 1),
    "timestamp-nanos": (op.TIMESTAMP, 9, 1),
    "local-timestamp-millis": (op.TIMESTAMP, 3, 0),
    "local-timestamp-micros": (op.TIMESTAMP, 6, 0),
    "local-timestamp-nanos": (op.TIMESTAMP, 9, 0),
}
FEWEST = {"boolean": 1, "int": 1, "long": 1, "float": 4, "double": 8, "bytes": 1, "string": 1, "array": 1, "map": 1}
"""The smallest size of a value in bytes, by type."""
MOST_FEWEST = 1 << 20
NEAR = 32  # nesting depth of records considered for the smallest size


def avro_reader(writer: Type, reader: Type | None = None, *, logical: bool = True, wrapped: bool = False) -> AvroReader:
    """Return the reader of payloads of the writer's schema as JSON.

    `logical` False shows the numbers of logical types; `wrapped` writes the specification's JSON: unions name their
    branch, bytes are Latin-1 strings. Raises SchemaRefused if the reader's schema cannot read the writer's.
    """
    return AvroReader(*avro_program(writer, reader, logical=logical, wrapped=wrapped))


def avro_program(
    writer: Type, reader: Type | None = None, *, logical: bool = True, wrapped: bool = False
) -> tuple[array[int], list[bytes]]:
    """Return the instructions and texts of `avro_reader`."""
    return Program(logical=logical and not wrapped, wrapped=wrapped).made(writer, reader)


class Program:
    """The program so far. A pair of writer's and reader's types has one place."""

    plain: Mapping[str, int] = PLAIN

    def __init__(self, *, logical: bool, wrapped: bool) -> None:
        self.logical, self.wrapped = logical, wrapped
        self.code = array("i")
        self.texts: list[bytes] = []
        self._numbers: dict[str, int] = {}
        self._places: dict[tuple[int, int], int] = {}
        self._held: list[Type] = []  # keeps the ids valid
        self._to_do: deque[Callable[[], None]] = deque()
        self._fewest: dict[int, int] = {}
        self._refused: dict[int, str] = {}  # by place, why its values cannot be read

    def made(self, writer: Type, reader: Type | None) -> tuple[array[int], list[bytes]]:
        """Return the instructions and texts."""
        if writer.kind == "bytes" and (reader is None or reader.kind == "bytes"):
            self.code.append(op.REST)  # Java writes a schema of only "bytes" without a length
        else:
            self.place(writer, reader or writer)
        return self.finished()

    def finished(self) -> tuple[array[int], list[bytes]]:
        """Return the instructions and texts. Raises SchemaRefused if no value can be read."""
        while self._to_do:
            self._to_do.popleft()()
        seen, places = set[int](), [0]
        while places and self._refused:
            place = places.pop()
            if place in self._refused:
                raise SchemaRefused(self._refused[place])
            if place not in seen:
                seen.add(place)
                places += self.always(place)
        return self.code, self.texts

    def always(self, place: int) -> list[int]:
        """Return the places of the parts that every value has."""
        if self.code[place] == op.RECORD:
            return list(self.code[place + 4 : place + 3 + 2 * self.code[place + 1] : 2])
        return [self.code[place + 2]] if self.code[place] == op.WRAP else []

    def refuse(self, reason: str) -> None:
        """Mark values at the next place as unreadable."""
        self._refused[self.put(op.REFUSE, -1)] = reason

    def text(self, text: str) -> int:
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.texts)
            self.texts.append(text.encode("utf-8", "backslashreplace"))
        return number

    def fewest(self, type: Type, near: int = 0) -> int:
        """Return a lower bound of a value's size in bytes: a recursive type, and one nested too deeply, count
        as none."""
        if isinstance(type, Fixed):
            return type.size
        if isinstance(type, Union | Enum):
            return 1
        if not isinstance(type, Record):
            return FEWEST.get(type.kind, 0)
        if id(type) not in self._fewest and near < NEAR:
            self._held.append(type)
            self._fewest[id(type)] = 0
            total = sum(self.fewest(field.type, near + 1) for field in type.fields)
            self._fewest[id(type)] = min(total, MOST_FEWEST)
        return self._fewest.get(id(type), 0)

    def put(self, *code: int) -> int:
        place = len(self.code)
        self.code.extend(code)
        return place

    def place(self, writer: Type, reader: Type) -> int:
        """Return the place of this pair's instructions."""
        known = self._places.get((id(writer), id(reader)))
        if known is not None:
            return known
        self._held += writer, reader
        place = self._places[id(writer), id(reader)] = len(self.code)
        self._lay(writer, reader)
        return place

    def _lay(self, writer: Type, reader: Type) -> None:
        if isinstance(writer, Union):
            self._union(writer, reader)
        elif isinstance(reader, Union):
            branch = chosen(writer, reader)
            if branch is None:
                self.refuse(unread(writer, reader))
            elif self.wrapped and branch.kind != "null":
                self._wrap(writer, branch)
            else:
                self._lay(writer, branch)
        elif isinstance(writer, Record) and isinstance(reader, Record):
            self._record(writer, reader)
        elif isinstance(writer, Array) and isinstance(reader, Array):
            self._items(op.ARRAY, writer.items, reader.items, self.fewest(writer.items))
        elif isinstance(writer, Map) and isinstance(reader, Map):
            self._items(op.MAP, writer.values, reader.values, 1 + self.fewest(writer.values))
        elif isinstance(writer, Enum) and isinstance(reader, Enum):
            self._enum(writer, reader)
        else:
            self._simple(writer, reader)

    def _union(self, writer: Union, reader: Type) -> None:
        place = self.put(op.UNION, len(writer.branches), *writer.branches and [0] * len(writer.branches))

        def fill() -> None:
            for number, branch in enumerate(writer.branches):
                if reader is writer:
                    there = self._branch(branch)
                else:
                    there = self.place(branch, reader) if chosen(branch, reader) else self.put(op.REFUSE, -1)
                self.code[place + 2 + number] = there

        self._to_do.append(fill)

    def _branch(self, branch: Type) -> int:
        if not self.wrapped or branch.kind == "null":
            return self.place(branch, branch)
        place = len(self.code)
        self._wrap(branch, branch)
        return place

    def _wrap(self, writer: Type, branch: Type) -> None:
        place = self.put(op.WRAP, self.text(f"{{{_json(self.label(branch))}:"), 0)

        def fill() -> None:
            self.code[place + 2] = self.place(writer, branch)

        self._to_do.append(fill)

    def _items(self, kind: int, writer: Type, reader: Type, fewest: int) -> None:
        place = self.put(kind, 0, fewest)

        def fill() -> None:
            self.code[place + 1] = self.place(writer, reader)

        self._to_do.append(fill)

    def _record(self, writer: Record, reader: Record) -> None:
        place = self.put(op.RECORD, len(writer.fields), 0, *[0] * (2 * len(writer.fields)))

        def fill() -> None:
            shown, before = set(), "{"
            found = {} if reader is writer else reader_fields(reader)
            for number, field in enumerate(writer.fields):
                to = field if reader is writer else found.get(field.name)
                at = place + 3 + 2 * number
                if to is None or to.name in shown:
                    self.code[at], self.code[at + 1] = -1, self.place(field.type, field.type)
                    continue
                self.code[at] = self.text(f"{before}{_json(to.name)}:")
                self.code[at + 1] = self.place(field.type, to.type)
                shown.add(to.name)
                before = ","
            end = ""
            for to in reader.fields:
                if to.name not in shown:
                    try:
                        default = default_text(reader, to, logical=self.logical, wrapped=self.wrapped)
                    except SchemaRefused as problem:
                        self.refuse_record(place, problem)
                        return
                    end += f"{before}{_json(to.name)}:{default}"
                    before = ","
            self.code[place + 2] = self.text(end + ("{}" if before == "{" else "}"))

        self._to_do.append(fill)

    def refuse_record(self, place: int, problem: SchemaRefused) -> None:
        """Mark a record as unreadable because a field has no value; instructions of earlier fields remain unused."""
        self.code[place] = op.REFUSE
        self._refused[place] = str(problem)

    def _enum(self, writer: Enum, reader: Enum) -> None:
        if not matches(writer, reader):
            self.refuse(unread(writer, reader))
            return
        shown = [symbol if symbol in reader.symbols else reader.default for symbol in writer.symbols]
        texts = [-1 if symbol is None else self.text(_json(symbol)) for symbol in shown]
        self.put(op.ENUM, len(texts), *texts)

    def _simple(self, writer: Type, reader: Type) -> None:
        """Compile simple types, and pairs that no rule resolves."""
        logical = reader.logical if self.logical and reader.kind == writer.kind else None
        if logical is not None and logical.name in TIMES and writer.logical is not None:
            logical = writer.logical  # its unit is that of the number
        problem = other_scale(writer, reader) if self.logical else ""
        if problem:
            self.refuse(problem)
        elif isinstance(writer, Fixed) and isinstance(reader, Fixed) and matches(writer, reader):
            self._fixed(writer.size, logical.name if logical else "", logical.scale if logical else 0)
        elif (writer.kind, reader.kind) == ("string", "bytes") and self.wrapped:
            self.put(op.LATIN, -1)
        elif reader.kind in PROMOTED.get(writer.kind, ()):
            self.put(PROMOTED[writer.kind][reader.kind])
        elif writer.kind != reader.kind or writer.kind not in PLAIN:
            self.refuse(unread(writer, reader))
        elif logical is not None and logical.name in TIMES:
            self.put(*TIMES[logical.name])
        elif logical is not None and logical.name == "decimal":
            self.put(op.DECIMAL, -1, logical.scale)
        elif logical is not None and logical.name == "big-decimal":
            self.put(op.DECIMAL, -1, op.OWN_SCALE)
        elif writer.kind == "bytes" and self.wrapped:
            self.put(op.LATIN, -1)
        else:
            self.put(self.plain[writer.kind])

    def label(self, branch: Type) -> str:
        """How the specification's JSON names a branch of a union."""
        return branch.name

    def _fixed(self, size: int, logical: str, scale: int) -> None:
        if logical == "decimal":
            self.put(op.DECIMAL, size, scale)
        elif logical == "uuid":
            self.put(op.UUID)
        elif logical == "duration":
            self.put(op.DURATION)
        else:
            self.put(op.LATIN if self.wrapped else op.FIXED, size)


def unread(writer: Type, reader: Type) -> str:
    return f"the reader's schema has {reader.name} where the writer's has {writer.name}"


def other_scale(writer: Type, reader: Type) -> str:
    """Why a decimal cannot be read as one of another scale, whose digits are at another place; "" where it can."""
    ours, theirs = reader.logical, writer.logical
    if ours is None or theirs is None or not ours.name == theirs.name == "decimal" or ours.scale == theirs.scale:
        return ""
    return (
        f"the reader's schema has a decimal of {ours.scale} digits after the decimal point where the writer's has "
        f"{theirs.scale}"
    )


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
