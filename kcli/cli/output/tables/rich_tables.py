"""Tables for people: the only place that imports Rich for rows. Cells are Text, never markup."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kcli.cli.output.tables.cells import right, shown
from kcli.cli.output.tables.document import Document
from kcli.text.escape import visible

if TYPE_CHECKING:
    from kcli.cli.output.tables.shape import Column, Row, Section

COLOURS = {
    "OK": "green",
    "NO COMMIT": "yellow",
    "BEHIND": "yellow",
    "UNKNOWN": "magenta",
    "IDLE": "dim",
    "REWOUND": "yellow",
    "TXN-BLOCKED": "magenta",
    "GROWING": "bold yellow",
    "STUCK": "red",
    "ORPHANED": "red",
    "LOSING DATA": "bold red",
    "failed": "red",
    "refused": "red",
}


def draw(document: Document, stream: TextIO) -> None:
    """Print the document's tables on a terminal."""
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    for section in document.shape.sections:
        if section.table and document.section(section):
            console.print(table_of(section, document.section(section)))


def table_of(section: Section, rows: list[Row]) -> Table:
    """One section as a Rich table."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    columns = section.drawn(rows)
    for column in columns:
        table.add_column(Text(column.title), justify="right" if right(column) else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_text(column, row) for column in columns))
    return table


def _text(column: Column, row: Row) -> Text:
    text = visible(shown(column, row))
    return Text(text, style=COLOURS.get(str(row.get(column.name)), "") if column.name in ("status", "result") else "")
