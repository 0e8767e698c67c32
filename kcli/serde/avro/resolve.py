"""Which of a reader's types a writer's value is read as (Avro 1.12, "Schema Resolution")."""

from __future__ import annotations

from kcli.proto import avro_code as op
from kcli.serde.avro.types import Fixed, Named, Record, Type, Union

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.serde.avro.types import Field

PROMOTED = {
    "int": {"long": op.INT, "float": op.INT_AS_FLOAT, "double": op.INT_AS_DOUBLE},
    "long": {"float": op.LONG_AS_FLOAT, "double": op.LONG_AS_DOUBLE},
    "float": {"double": op.FLOAT_AS_DOUBLE},
    "string": {"bytes": op.BYTES},
    "bytes": {"string": op.BYTES_AS_STRING},
}
"""The writer's type, the reader's, and the instruction that reads the one as the other."""


def chosen(writer: Type, reader: Type) -> Type | None:
    """The reader's type for a writer's type that is not a union, None where no type of the reader reads it.

    Of a union, Avro for Java takes the type of the same kind and, among named types, that of the full name, then that
    with the name as an alias, then that of the name without its namespace. Records of other names count where all
    fields can be read. Without any, the first type that the writer's is promoted to.
    """
    if not isinstance(reader, Union):
        return reader if matches(writer, reader) or reader.kind in PROMOTED.get(writer.kind, ()) else None
    alike = [branch for branch in reader.branches if branch.kind == writer.kind]
    if alike and not isinstance(writer, Named):
        return alike[0]
    if alike:
        return _by_name(writer, alike)
    return next((branch for branch in reader.branches if branch.kind in PROMOTED.get(writer.kind, ())), None)


def _by_name(writer: Type, alike: list[Type]) -> Type | None:
    for branch in alike:
        if branch.name == writer.name:
            return branch
    for branch in alike:
        if isinstance(branch, Named) and writer.name in branch.aliases:
            return branch
    if isinstance(writer, Record):
        fitting = [branch for branch in alike if isinstance(branch, Record) and _can_read_record(writer, branch, set())]
        short = [branch for branch in fitting if _last(branch) == _last(writer)]
        return short[-1] if short else next(iter(fitting), None)  # of several, Java takes the last of that name
    return next((branch for branch in alike if matches(writer, branch)), None)


def _can_read_record(writer: Record, reader: Record, open: set[tuple[int, int]]) -> bool:
    """Whether a record has all fields of a reader's record, each of a type that its own can be read as. Java looks no
    deeper: into no other record's fields, array, map, or union of the writer."""
    if (id(writer), id(reader)) in open:
        return True
    open.add((id(writer), id(reader)))
    given = {field.name: field.type for field in writer.fields}
    for field in reader.fields:
        name = next((name for name in (field.name, *field.aliases) if name in given), None)
        if name is None:
            if not field.has_default:
                return False
        elif not isinstance(given[name], Union) and not _can_read_field(given[name], field.type, open):
            return False
    return True


def _can_read_field(writer: Type, reader: Type, open: set[tuple[int, int]]) -> bool:
    to = chosen(writer, reader) if isinstance(reader, Union) else reader
    if to is None or (to.kind != writer.kind and to.kind not in PROMOTED.get(writer.kind, ())):
        return False
    if isinstance(writer, Record) and isinstance(to, Record):
        given = {field.name for field in writer.fields}
        return all(field.has_default or given & {field.name, *field.aliases} for field in to.fields)
    return to.kind != writer.kind or matches(writer, to)


def matches(writer: Type, reader: Type) -> bool:
    """Whether a value is read as what it was written as. Enums and fixed by their name, an alias, or the name without
    its namespace, which is all that the specification asks; records whatever their name, as in Java."""
    if writer.kind != reader.kind:
        return False
    if isinstance(writer, Fixed) and isinstance(reader, Fixed) and writer.size != reader.size:
        return False
    if not isinstance(reader, Named) or isinstance(reader, Record):
        return True
    return writer.name == reader.name or writer.name in reader.aliases or _last(writer) == _last(reader)


def _last(type: Type) -> str:
    return type.name.rpartition(".")[2]


def reader_fields(reader: Record) -> dict[str, Field]:
    """The reader's fields by the names of a writer's ones: a field of that name, else the first with it as an alias."""
    found: dict[str, Field] = {}
    for field in reader.fields:
        for alias in field.aliases:
            found.setdefault(alias, field)
    found.update({field.name: field for field in reader.fields})
    return found
