"""What a line wants to see of a document: which rows, in which order, which columns."""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.output.tables.shape import Column, Row, Section, Shape

CLOSE = 0.8
"""How like a column a word must be to be taken for a slip of the keys."""
DATA = ("json", "ndjson", "yaml")
"""Formats that have all fields of a row."""


class View(Frozen):
    """What is printed of a document. Without a line's wishes it is all."""

    wide: bool = False
    headers: bool = True
    columns: tuple[str, ...] = ()  # of the chosen table; () is those of the table
    section: str = ""  # the only table that is printed; "" is all tables
    sort: str = ""  # a column of the main or the only table; "" is the order of the rows
    descending: bool = False
    top: int | None = None

    def rows(self, rows: list[Row]) -> list[Row]:
        """Rows of the main table, sorted and as many as wanted; rows without a value come last."""
        if self.sort:
            known = [row for row in rows if row.get(self.sort) is not None]
            known.sort(key=self._key, reverse=self.descending)
            rows = known + [row for row in rows if row.get(self.sort) is None]
        return rows if self.top is None else rows[: self.top]

    def _key(self, row: Row) -> tuple[float, list[str]]:
        """Numbers by their size, texts whatever their case."""
        value = row[self.sort]
        if isinstance(value, int | float):
            return value, []
        return 0, [str(one).casefold() for one in (value if isinstance(value, list) else [value])]

    def drawn(self, section: Section, rows: list[Row]) -> list[Column]:
        """The columns of a table of these rows."""
        return self._named(section) if self.columns else section.drawn(rows)

    def listed(self, section: Section) -> list[Column]:
        """The columns of CSV and the like."""
        return self._named(section) if self.columns else list(section.columns)

    def _named(self, section: Section) -> list[Column]:
        by_name = {column.name: column for column in section.columns}
        return [by_name[name] for name in self.columns]


def view(
    shape: Shape,
    format: str,
    *,
    columns: str | None = None,
    sort: str | None = None,
    top: int | None = None,
    wide: bool = False,
    headers: bool = True,
) -> View:
    """What the options of a line want of a shape. Raises UsageError for a column that there is not, and where a format
    has all fields."""
    tables = [shape.main, *(section for section in shape.sections if section.table and section is not shape.main)]
    names: list[str] = []
    if columns is not None:
        if format in DATA:
            raise UsageError(f"--columns: {format} has all fields; choose with jq, or use csv, tsv, plain or a table")
        words = [word.strip() for word in columns.split(",") if word.strip()]
        if not words:
            raise UsageError("--columns needs names of columns: --columns NAME,…")
        having = [table for table in tables if all(_name(table, word) for word in words)]
        table = having[0] if having else tables[0]
        names = [_known(table, word, "--columns") for word in words]
        tables = [table]
    column, descending = ("", False) if sort is None else _sorted(tables[0], sort)
    return View(
        wide=wide,
        headers=headers,
        columns=tuple(names),
        section=tables[0].name if names else "",
        sort=column,
        descending=descending,
        top=top,
    )


def _sorted(section: Section, text: str) -> tuple[str, bool]:
    """The column that `lag`, `lag:asc` or `lag:desc` names, and whether the largest comes first."""
    word, _, order = text.rpartition(":")
    if order not in ("asc", "desc"):
        word, order = text, ""
    name = _known(section, word, "--sort")
    by_name = {column.name: column for column in section.columns}
    return name, order == "desc" if order else by_name[name].largest_first


def _name(section: Section, word: str) -> str | None:
    """The name of the column that a user writes `under_replicated`, `under-replicated` or `UNDER REPLICATED`, or as
    its title in the table."""
    title = word.strip().upper().replace("-", " ").replace("_", " ")
    by_title = {column.title: column.name for column in section.columns}
    return by_title.get(title) or next(
        (column.name for column in section.columns if column.name == title.lower().replace(" ", "_")), None
    )


def _known(section: Section, word: str, flag: str) -> str:
    name = _name(section, word)
    if name is None:
        from kcli.text.suggest import did_you_mean

        if flag == "--sort" and word[:1] in "+-" and (plain := _name(section, word[1:])):
            raise UsageError(f"{flag} {word}: write {plain}:{'desc' if word[:1] == '-' else 'asc'}")
        names = [column.name for column in section.columns]
        near = did_you_mean(word.lower(), names, CLOSE) or f"; columns: {', '.join(names)}"
        raise UsageError(f"{flag}: no column {word!r}{near}")
    return name
