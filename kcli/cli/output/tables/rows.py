"""Rows that a command prints: a class a kind of row, whose fields are its columns. Tables, JSON and its schema, CSV and
the docs come from them.

    class UserRow(Row, section="users"):
        user: str = column("Name of the user.")
        old: int | None = column("Iterations before; null without a credential.")

    USERS = shape("users.list", "SCRAM credentials, one a row.", UserRow)

What a column is comes from its annotation; times are `moment` and `duration`. A column that is there stays; a new one
goes to the end; anything else raises the version of the shape.
"""

from __future__ import annotations

from kcli.cli.output.tables.shape import DECLARED, Column, Section, Shape
from kcli.values import Field, Value, ValueType, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self, TypeVar, dataclass_transform

    from kcli.cli.output.tables.shape import Unit

    Wider = TypeVar("Wider", bound="Row")
else:

    def dataclass_transform(**_):
        return lambda cls: cls


KINDS = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list[str]": "strings",
    "list[int]": "integers",
    "dict[str, str]": "object",
    "dict[str, str | None]": "object",
}
"""What an annotation is in JSON's schema, without its `| None`."""


def column(
    about: str,
    *,
    table: bool = True,
    sparse: bool = False,
    name: str = "",
    before: str = "",
    unit: Unit = "",
    rank: int = 2,
    width: int = 0,
) -> Any:
    """Declare a column. Without `table` it is not in the table, which people read; a `sparse` one is not in a
    table in which no row has a value. `name` is for a word that Python keeps for itself, such as `from`. One that
    comes `before` another in tables and CSV keeps its own place in JSON. `unit`, `rank` and `width` are for
    terminals: see Column."""
    declared = Column(name=name, kind="", about=about, table=table, sparse=sparse, before=before)
    return field(extra=declared.replace(unit=unit, rank=rank, width=width))


def headed(heading: str, declared: Any) -> Any:
    """The column, whose title in tables is not its name."""
    declared.extra = declared.extra.replace(heading=heading)
    return declared


def moment(about: str, *, table: bool = True, sparse: bool = False, rank: int = 2) -> Any:
    """Declare a column of milliseconds since the epoch."""
    return field(extra=Column(kind="moment", about=about, table=table, sparse=sparse, rank=rank))


def duration(about: str, *, table: bool = True, sparse: bool = False, before: str = "", rank: int = 2) -> Any:
    """Declare a column of seconds."""
    return field(extra=Column(kind="duration", about=about, table=table, sparse=sparse, before=before, rank=rank))


@dataclass_transform(kw_only_default=True, field_specifiers=(column, headed, moment, duration))
class RowType(ValueType):
    """Classes whose annotated attributes are columns. `section` is the name of the rows in the JSON document; without
    `table` they are drawn in no table. A `mixin` has columns for classes with several bases, and no rows."""

    section: str
    drawn: bool

    def __init__(
        cls,
        name: str,
        bases: tuple[type, ...],
        body: dict[str, object],
        *,
        section: str = "",
        table: bool = True,
        mixin: bool = False,
    ) -> None:
        super().__init__(name, bases, body)
        cls.section = section or getattr(cls, "section", "")
        cls.drawn = table
        cls._fields: tuple[tuple[str, Column], ...] | None = None

    @property
    def fields(cls) -> tuple[tuple[str, Column], ...]:
        """Each field and its column; those of a base come first."""
        if cls._fields is None:
            declared: tuple[Field, ...] = cls.__fields__  # type: ignore[attr-defined]
            cls._fields = tuple((one.name, _column(one)) for one in declared)
        return cls._fields

    @property
    def columns(cls) -> tuple[Column, ...]:
        """The columns in the order of tables and CSV."""
        columns = [column for _, column in cls.fields]
        for moved in [column for column in columns if column.before]:
            columns.remove(moved)
            columns.insert([column.name for column in columns].index(moved.before), moved)
        return tuple(columns)


class Row(Value, metaclass=RowType):
    """One row."""

    @classmethod
    def of(cls, value: object, /, **more: Any) -> Self:
        """The row of a value that has attributes of the columns' names; `more` has the other columns."""
        return cls(**{name: getattr(value, name) for name, _ in cls.fields if name not in more}, **more)

    def as_json(self) -> dict[str, object]:
        """The values by the names of their columns."""
        return {column.name: getattr(self, name) for name, column in type(self).fields}

    def widened(self, kind: type[Wider], **more: Any) -> Wider:
        """The same row with the columns that `kind` has besides, from `more`."""
        return kind(**{name: getattr(self, name) for name, _ in type(self).fields}, **more)


def _column(declared: Field) -> Column:
    """A column with what its annotation says. Raises KeyError for an annotation that no column has."""
    annotation, given = declared.annotation, declared.extra
    kind = annotation.removesuffix(" | None")
    made: Column = given.replace(
        name=given.name or declared.name, kind=given.kind or KINDS[kind], null=kind != annotation
    )
    return made


def shape(name: str, about: str, *rows: type[Row], version: int = 1, empty: str = "", total: str = "") -> Shape:
    """Declare what the command `name` (topics.list) prints: rows of these kinds, in the order of its tables. `empty` is
    the sentence for a terminal where there are none; `total` is what the document's total counts."""
    sections = tuple(
        Section(
            name=kind.section,
            columns=kind.columns,
            table=kind.drawn,
            keys=tuple(column.name for _, column in kind.fields),
        )
        for kind in rows
    )
    DECLARED[name] = Shape(name=name, about=about, sections=sections, version=version, empty=empty, total=total)
    return DECLARED[name]
