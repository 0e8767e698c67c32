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
    """The reader's type for a writer's one that is no union; of a union the first branch that is the same, else the
    first that it is promoted to. None without a match."""
    if not isinstance(reader, Union):
        return reader if matches(writer, reader) or reader.kind in PROMOTED.get(writer.kind, ()) else None
    for branch in reader.branches:
        if matches(writer, branch):
            return branch
    return next((branch for branch in reader.branches if branch.kind in PROMOTED.get(writer.kind, ())), None)


def matches(writer: Type, reader: Type) -> bool:
    """Whether a value is read as what it was written as. Named types by their name, an alias, or the name without its
    namespace, which is all that the specification asks."""
    if writer.kind != reader.kind:
        return False
    if isinstance(writer, Fixed) and isinstance(reader, Fixed) and writer.size != reader.size:
        return False
    if not isinstance(reader, Named):
        return True
    if writer.name == reader.name or writer.name in reader.aliases:
        return True
    return writer.name.rpartition(".")[2] == reader.name.rpartition(".")[2]


def reader_fields(reader: Record) -> dict[str, Field]:
    """The reader's fields by the names of a writer's ones: a field of that name, else the first with it as an alias."""
    found: dict[str, Field] = {}
    for field in reader.fields:
        for alias in field.aliases:
            found.setdefault(alias, field)
    found.update({field.name: field for field in reader.fields})
    return found
