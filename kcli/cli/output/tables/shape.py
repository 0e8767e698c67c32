"""What each command prints, column by column: the contract of `--format`, from which `kcli schema` is made.

A column that is there stays; a new one may be added at the end; anything else raises the version of the shape.
"""

from __future__ import annotations

from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Row = dict[str, object]
    Unit = Literal["", "count", "bytes", "rate", "bytes/s", "time", "word", "sentence"]


class Column(Frozen):
    """One column. `kind` is string, integer, number, duration (seconds), moment (ms since the epoch), boolean, strings,
    integers or object (string to string). `unit` says how a terminal shows it: a number of `count`, `bytes`, `rate` (a
    second) or `bytes/s` is rounded, any other is exact: offsets, ids, epochs and partitions have no unit. A text is a
    name, a `time` or a `word`, such as a status, which are never cut; or a `sentence`, which is broken at spaces.
    `heading` is its title in tables where that is not its name.
    """

    name: str = ""
    kind: str = "string"
    about: str = ""
    null: bool = False
    table: bool = True  # False: not in the table, which people read; every other format has it
    sparse: bool = False  # hidden in a table in which no row has a value, or a true one
    before: str = ""  # the column it comes before in tables and CSV; "" for its place in the class of rows
    unit: Unit = ""
    rank: int = 2  # a narrow terminal hides the highest first; 1 is what a row is about, and its status; 0 always stays
    width: int = 0  # cells that its texts need at the least; 0 is what texts of its form need
    heading: str = ""

    @property
    def title(self) -> str:
        return (self.heading or self.name.replace("_", " ")).upper()

    @property
    def right(self) -> bool:
        """Whether its cells end at the same place, as numbers do."""
        return self.kind in ("integer", "number", "duration")

    @property
    def largest_first(self) -> bool:
        """Whether sorted rows begin with the largest or newest: amounts, durations and times, but no names and ids."""
        return self.kind in ("duration", "moment") or self.unit in ("count", "bytes", "rate", "bytes/s", "time")

    @property
    def form(self) -> str:
        """How a narrow terminal shortens its cells: as a name, list or sentence; "" for those that it does not."""
        if self.kind in ("strings", "integers"):
            return "list"
        if self.kind == "object":
            return "sentence"
        return "" if self.kind != "string" or self.unit in ("word", "time") else self.unit or "name"


def _says(value: object) -> bool:
    return value is not None and value is not False


class Section(Frozen):
    """A list of rows of one kind, and its name in the JSON document."""

    name: str = ""
    columns: tuple[Column, ...] = ()  # in the order of tables and CSV
    table: bool = True
    keys: tuple[str, ...] = ()  # of a row in JSON

    def drawn(self, rows: list[Row]) -> list[Column]:
        """The columns of a table of these rows."""
        bare = [c for c in self.columns if c.sparse and not any(_says(row.get(c.name)) for row in rows)]
        return [c for c in self.columns if c.table and c not in bare]


class Shape(Frozen):
    """All that one command prints, in the order of its tables. The last section drawn as a table is the main one:
    what row formats (ndjson, csv, tsv, plain) print. `empty` is the sentence for a terminal where there are no rows; a
    command that says it by itself has none. `total` is what the number beside the rows in JSON and YAML counts."""

    name: str = ""
    version: int = 1
    about: str = ""
    sections: tuple[Section, ...] = ()
    empty: str = ""
    total: str = ""

    @property
    def id(self) -> str:
        return f"kcli.{self.name}/{self.version}"

    @property
    def main(self) -> Section:
        return [section for section in self.sections if section.table][-1]


def column(name: str, kind: str, about: str, *, null: bool = False, table: bool = True, sparse: bool = False) -> Column:
    return Column(name=name, kind=kind, about=about, null=null, table=table, sparse=sparse)


DECLARED: dict[str, Shape] = {}
"""The shapes that commands declare beside their rows (rows.py), of modules that were imported."""


def every() -> tuple[Shape, ...]:
    """All shapes there are. Imports every command."""
    from kcli.cli.parsing.registry import import_all

    import_all()
    return tuple(DECLARED[name] for name in sorted(DECLARED))


def every_column() -> dict[str, str]:
    """The names of all shapes, each with the columns that --sort and --columns take."""
    return {shape.name: _columns(shape) for shape in every()}


def _columns(shape: Shape) -> str:
    sections = [shape.main, *(section for section in shape.sections if section.table)]
    return " ".join(dict.fromkeys(column.name for section in sections for column in section.columns))
