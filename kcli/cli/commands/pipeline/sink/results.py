"""Rows of SQL on stdout. Wide results go row by row; a table, and documents, are of what fits into them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO

from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.view import View
from kcli.errors import KcliError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = 1000
"""Rows of a table without --top."""
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
NESTED = ("struct", "map", "array", "variant")


class Closed(KcliError):
    """The reader of stdout left."""


class Results:
    """`show` each statement's rows, in format `form`; `limit` None is all, or 1000 in a table."""

    def __init__(self, form: str, limit: int | None, out: TextIO | None = None, view: View | None = None) -> None:
        self.form = form
        self.limit = limit
        self.cut = 0
        self.rows = 0
        self._tables = 0
        self._out = sys.stdout if out is None else out
        self._view = view

    def show(self, frame: DataFrame) -> None:
        """Print them. Raises Closed when the reader left, and what Spark raises."""
        try:
            {"ndjson": self._lines, "csv": self._csv, "tsv": self._plain, "plain": self._plain}.get(
                self.form, self._document
            )(frame)
            self._out.flush()
        except BrokenPipeError:
            if self._out is sys.stdout:  # else Python complains once more at its end
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            raise Closed("the reader of the output has closed it") from None

    def _taken(self, frame: DataFrame) -> Iterator[Any]:
        if self.limit is not None:
            frame = frame.limit(self.limit)
        for row in frame.toLocalIterator(prefetchPartitions=True):
            self.rows += 1
            yield row

    def _lines(self, frame: DataFrame) -> None:
        for (text,) in self._taken(objects(frame)):
            self._out.write(text + "\n")

    def _csv(self, frame: DataFrame) -> None:
        self._out.write(",".join(map(quoted, frame.columns)) + "\n")
        for row in self._taken(texts(frame)):
            self._out.write(",".join(map(quoted, row)) + "\n")

    def _plain(self, frame: DataFrame) -> None:
        from kcli.cli.output.tables.render import _unbroken as unbroken

        if self.form == "tsv":
            self._out.write("\t".join(map(unbroken, frame.columns)) + "\n")
        for row in self._taken(texts(frame)):
            self._out.write("\t".join("" if cell is None else unbroken(cell) for cell in row) + "\n")

    def _document(self, frame: DataFrame) -> None:
        from kcli.cli.output.tables.render import write

        answer = document(frame)
        if self.form == "table":
            most = ROWS if self.limit is None else self.limit
            rows = texts(frame).limit(most + 1).collect()
            self.cut = most if len(rows) > most and self.limit is None else 0
            names = [column.name for column in answer.shape.sections[0].columns]
            answer.rows["rows"] = [dict(zip(names, row, strict=True)) for row in rows[:most]]
        else:
            answer.rows["rows"] = [json.loads(text) for (text,) in self._taken(objects(frame))]
        self.rows += len(answer.rows["rows"]) if self.form == "table" else 0
        if self._tables and self.form == "table":
            self._out.write("\n")
        self._tables += 1
        if answer.rows["rows"] or self.form != "table":
            answer.view = self._view or answer.view
            write(answer, self.form, self._out)


def document(frame: DataFrame) -> Document:
    """An empty document with the columns of the frame."""
    from kcli.cli.output.tables.document import Document
    from kcli.cli.output.tables.shape import Section, Shape, column

    columns = tuple(
        column(cell.name, "integer" if cell.dataType.simpleString().startswith(NUMBERS) else "string", "", null=True)
        for cell in frame.schema.fields
    )
    return Document(shape=Shape(name="pipeline.sql", sections=(Section(name="rows", columns=columns),)))


def quoted(cell: str | None) -> str:
    """A cell of CSV: nothing for null, `""` for an empty text."""
    if cell is None:
        return ""
    plain = cell and cell == cell.strip() and not any(mark in cell for mark in ',"\r\n')
    return cell if plain else '"' + cell.replace('"', '""') + '"'


def objects(frame: DataFrame) -> DataFrame:
    """Each row as a JSON object; bytes are base64."""
    from pyspark.sql import functions as f

    return frame.select(f.to_json(f.struct("*"), {"ignoreNullFields": "false"}))


def texts(frame: DataFrame) -> DataFrame:
    """Each cell as text; what is nested is JSON."""
    from pyspark.sql import functions as f

    cells = []
    for number, field in enumerate(frame.schema.fields):
        cell = f.col(f"_{number}")
        nested = field.dataType.simpleString().startswith(NESTED)
        cells.append((f.to_json(cell) if nested else cell.cast("string")).alias(f"_{number}"))
    return frame.toDF(*(f"_{number}" for number in range(len(cells)))).select(*cells)
