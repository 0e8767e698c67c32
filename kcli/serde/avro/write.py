"""Encodes plain JSON values as Avro payloads: what `program` shows is encoded again, byte for byte.

Missing fields get their defaults. A union uses the first branch that fits exactly; `{"ns.Name": …}`, the
specification's form, selects one. Whole numbers are never converted to floats. Values that do not fit raise BadValue
with their path.
"""

from __future__ import annotations

from struct import Struct

from kcli.proto.varint import encode_varint
from kcli.schemas import SchemaRefused
from kcli.serde.avro.exact import BadValue, Branch, fitting, shown
from kcli.serde.avro.scalars import ROUNDED, SCALARS, fixed_bytes, long_bytes
from kcli.serde.avro.types import Array, Enum, Fixed, Map, Record, Type, Union

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.serde.avro.types import Field

    Write = Callable[[object, bytearray], None]
    """Appends a value. Raises BadValue."""

DEEPEST = 256  # nesting depth
COUNT = Struct("<i")


class AvroWriter:
    """Encodes values of a schema. `specified` accepts the specification's JSON: unions name their branch, bytes are
    Latin-1 strings, logical types are numbers. `defaults` accepts values in the form of a schema's defaults, in which
    unions use the first branch that fits."""

    def __init__(self, schema: Type, *, specified: bool = False, defaults: bool = False) -> None:
        self._specified, self._defaults = specified or defaults, defaults
        self._made: dict[int, Write] = {}
        self._held: list[Type] = []
        self._raw = schema.kind == "bytes"
        self._write = self._writer(schema)

    def write(self, value: object) -> bytes:
        """Return the payload of a value from `exact.read_json`. Raises BadValue."""
        out = bytearray()
        try:
            self._write(value, out)
        except RecursionError:
            raise BadValue("it is nested too deeply") from None
        if self._raw:  # Java writes a schema of only "bytes" without a length
            return bytes(out[len(varint_of(out)) :])
        return bytes(out)

    def _writer(self, type: Type) -> Write:
        """Return the writer of a type; a recursive type requests its own before it exists."""
        known = self._made.get(id(type))
        if known is not None:
            return known
        self._held.append(type)
        self._made[id(type)] = lambda value, out: self._made[id(type)](value, out)
        writer = self._made[id(type)] = self._make(type)
        return writer

    def _make(self, type: Type) -> Write:
        if isinstance(type, Record):
            return self._record(type)
        if isinstance(type, Union):
            return self._union(type)
        if isinstance(type, Array):
            return self._array(type)
        if isinstance(type, Map):
            return self._map(type)
        if isinstance(type, Enum):
            return _enum(type)
        logical = None if self._specified else type.logical
        if type.kind in ("bytes", "fixed"):
            return fixed_bytes(type.size if isinstance(type, Fixed) else -1, logical, latin=self._specified)
        if logical is not None and type.kind in ("int", "long"):
            return long_bytes(type.kind, logical)
        return (ROUNDED if self._defaults else SCALARS)[type.kind]

    def _record(self, record: Record) -> Write:
        name = record.name
        fields: list[tuple[str, Write, bytes | None]] = []
        known: dict[str, None] = {}

        def fill() -> None:
            fields[:] = [
                (field.name, self._writer(field.type), self._default(record, field)) for field in record.fields
            ]
            known.update(dict.fromkeys(field.name for field in record.fields))

        def write(value: object, out: bytearray) -> None:
            if not known and record.fields:
                fill()
            if type(value) is not dict:
                raise BadValue(f"{shown(value)} is not a {name}")
            count = 0
            for own, write_field, default in fields:
                if own in value:
                    count += 1
                    try:
                        write_field(value[own], out)
                    except BadValue as bad:
                        raise bad.within(f".{own}") from None
                elif default is None:
                    raise BadValue(f"{name} has the field {own}, which is missing and has no default")
                else:
                    out += default
            if count < len(value):
                from kcli.text.suggest import did_you_mean

                unknown = next(key for key in value if key not in known)
                raise BadValue(f"{name} has no field {unknown}{did_you_mean(unknown, list(known))}")

        return write

    def _default(self, record: Record, field: Field) -> bytes | None:
        """Return the payload of a field's default, None without one. Raises SchemaRefused."""
        if not field.has_default:
            return None
        try:
            return AvroWriter(field.type, defaults=True)._bytes(field.default)
        except BadValue:
            raise SchemaRefused(f"the default of the field {field.name} of {record.name} is not of its type") from None

    def _bytes(self, value: object) -> bytes:
        """Like `write`, including the length of bytes."""
        self._raw = False
        return self.write(value)

    def _union(self, union: Union) -> Write:
        branches = [
            (encode_varint(number), branch, self._writer(branch)) for number, branch in enumerate(union.branches)
        ]
        wrapped = _wrapped(
            {branch.name: (number, self._inside(branch)) for number, branch, _ in branches if branch.kind != "null"}
        )

        def write(value: object, out: bytearray) -> None:
            if type(value) is Branch:
                number, _, write_branch = branches[value.number]
                out += number
                write_branch(value.value, out)
                return
            fits = fitting(union, value)
            if len(fits) != 1 and wrapped(value, out):
                return
            if len(fits) > 1:
                names = " and ".join(branch.name for branch in fits)
                raise BadValue(f'it fits {names}: write {{"{fits[0].name}": …}}')
            if not fits:
                names = ", ".join(branch.name for branch in union.branches)
                raise BadValue(f"{shown(value)} is none of {names}")
            for number, branch, write_branch in branches:
                if branch is fits[0]:
                    out += number
                    write_branch(value, out)

        if self._defaults:
            return _first(branches, wrapped)
        return _named(branches, wrapped) if self._specified else write

    def _inside(self, branch: Type) -> Write:
        """Return the writer for a value that names its branch, in which bytes are Latin-1 strings, as in the
        specification."""
        logical = None if self._specified else branch.logical
        if branch.kind in ("bytes", "fixed") and logical is None:
            return fixed_bytes(branch.size if isinstance(branch, Fixed) else -1, None, latin=True)
        return self._writer(branch)

    def _array(self, array: Array) -> Write:
        write_item = self._writer(array.items)

        def write(value: object, out: bytearray) -> None:
            if type(value) is not list:
                raise BadValue(f"{shown(value)} is not an array")
            if value:
                out += encode_varint(len(value))
                for number, item in enumerate(value):
                    try:
                        write_item(item, out)
                    except BadValue as bad:
                        raise bad.within(f"[{number}]") from None
            out.append(0)

        return write

    def _map(self, type_: Map) -> Write:
        write_item, write_name = self._writer(type_.values), SCALARS["string"]

        def write(value: object, out: bytearray) -> None:
            if type(value) is not dict:
                raise BadValue(f"{shown(value)} is not a map")
            if value:
                out += encode_varint(len(value))
                for name, item in value.items():
                    try:
                        write_name(name, out)
                        write_item(item, out)
                    except BadValue as bad:
                        raise bad.within(f".{name}") from None
            out.append(0)

        return write


def varint_of(data: bytearray) -> bytes:
    """Return the varint at the start of a payload."""
    end = next(at for at, byte in enumerate(data) if byte < 128) + 1
    return bytes(data[:end])


def _enum(enum: Enum) -> Write:
    numbers = {symbol: encode_varint(number) for number, symbol in enumerate(enum.symbols)}

    def write(value: object, out: bytearray) -> None:
        number = numbers.get(value) if type(value) is str else None
        if number is None:
            raise BadValue(f"{shown(value)} is not a symbol of {enum.name}: {', '.join(enum.symbols[:20])}")
        out += number

    return write


def _first(branches: list[tuple[bytes, Type, Write]], wrapped: Callable[[object, bytearray], bool]) -> Write:
    """Write a default with the first branch, or with the first that accepts it, as 1.12 allows."""

    def write(value: object, out: bytearray) -> None:
        before = len(out)
        for number, _, write_branch in branches:
            try:
                out += number
                write_branch(value, out)
            except BadValue:
                del out[before:]
            else:
                return
        if not wrapped(value, out):
            raise BadValue(f"{shown(value)} is of no branch")

    return write


def _named(branches: list[tuple[bytes, Type, Write]], wrapped: Callable[[object, bytearray], bool]) -> Write:
    """Write null, or a value that names its branch."""
    null = next((number for number, branch, _ in branches if branch.kind == "null"), None)

    def write(value: object, out: bytearray) -> None:
        if value is None and null is not None:
            out += null
        elif not wrapped(value, out):
            names = ", ".join(branch.name for _, branch, _ in branches)
            raise BadValue(f'{shown(value)} does not name its branch: write {{"BRANCH": …}} with one of {names}')

    return write


def _wrapped(branches: dict[str, tuple[bytes, Write]]) -> Callable[[object, bytearray], bool]:
    """Write `{"branch": value}`, the specification's form of a union. Returns False without writing for other
    values."""

    def write(value: object, out: bytearray) -> bool:
        if type(value) is not dict or len(value) != 1:
            return False
        ((name, inner),) = value.items()
        if name not in branches:
            return False
        number, write_branch = branches[name]
        out += number
        write_branch(inner, out)
        return True

    return write
