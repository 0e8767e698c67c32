"""Rows to text: `--format table|json|ndjson|yaml|csv|csv-safe|tsv|plain`, the same rows in each, also on failure.

Rich is imported for a table on a terminal and nothing else; a piped table has no colour and no box drawing.
Control bytes of names and values are shown, not sent, on a terminal; a pipe gets them.
"""

from __future__ import annotations

import sys

from kcli.cli.output.tables.cells import flat, right, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TextIO

    from kcli.cli.output.tables.document import Document
    from kcli.cli.output.tables.shape import Row, Section

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def render(document: Document, format: str, terminal: bool = False) -> str:
    """The whole text, with its last line end; "" where there is nothing to say. `terminal` is whether somebody reads
    it there. Raises KeyError for a format that is none."""
    text = {
        "table": _table,
        "json": _json,
        "ndjson": _ndjson,
        "yaml": _yaml,
        "csv": _csv,
        "csv-safe": _csv_safe,
        "tsv": _tsv,
        "plain": _plain,
    }[format](document)
    if not terminal:
        return text
    from kcli.text.escape import visible

    return visible(text.replace("\r\n", "\n"), keep="\n\t")  # CSV's line ends; a lone \r would overwrite a line


def write(document: Document, format: str, out: TextIO | None = None) -> None:
    """Print the document. Raises BrokenPipeError when the reader left."""
    stream = sys.stdout if out is None else out
    terminal = stream.isatty()
    if format == "table" and terminal:
        from kcli.cli.output.tables.rich_tables import draw

        draw(document, stream)
        return
    text = render(document, format, terminal)
    binary = getattr(stream, "buffer", None)
    if binary is None:
        stream.write(text)
    else:
        stream.flush()
        binary.write(text.encode("utf-8", "backslashreplace"))
    stream.flush()


def _table(document: Document) -> str:
    parts = [_one_table(s, document.section(s)) for s in document.shape.sections if s.table and document.section(s)]
    return "\n".join(parts)


def _one_table(section: Section, rows: list[Row]) -> str:
    columns = section.drawn(rows)
    lines = [[column.title for column in columns]] + [[shown(c, row) for c in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(
            text.rjust(width) if right(column) else text.ljust(width)
            for text, width, column in zip(line, widths, columns, strict=True)
        ).rstrip()
        + "\n"
        for line in lines
    )


def whole(document: Document) -> dict[str, object]:
    """The JSON document: schema, ok, each section, errors."""
    return {
        "schema": document.shape.id,
        "ok": not document.errors,
        **{section.name: document.section(section) for section in document.shape.sections},
        "errors": document.errors,
    }


def _json(document: Document) -> str:
    from json import dumps

    return dumps(whole(document), ensure_ascii=False, indent=2) + "\n"


def _ndjson(document: Document) -> str:
    from json import dumps

    main = document.section(document.shape.main)
    lines = [dumps(row, ensure_ascii=False, separators=(",", ":")) for row in main]
    lines += [dumps({"error": error}, ensure_ascii=False, separators=(",", ":")) for error in document.errors]
    return "".join(line + "\n" for line in lines)


def _yaml(document: Document) -> str:
    """YAML 1.2 whose scalars are JSON's, so that nothing needs guessing."""
    out = []
    for name, value in whole(document).items():
        if not isinstance(value, list):
            out.append(f"{name}: {_scalar(value)}")
            continue
        out.append(f"{name}:" if value else f"{name}: []")
        for row in value:
            lead = "  - "
            for key, one in row.items():
                out.append(f"{lead}{key}: {_scalar(one)}")
                lead = "    "
    return "\n".join(out) + "\n"


def _scalar(value: Any) -> str:
    from json import dumps

    text = dumps(value, ensure_ascii=False)
    return "".join(f"\\u{ord(c):04x}" if "\x7f" <= c < "\xa0" or c in "\u2028\u2029\ufeff" else c for c in text)


def _csv_safe(document: Document) -> str:
    """CSV for a spreadsheet: a text that it would run as a formula gets an apostrophe in front."""
    return _csv(document, _defused)


def _defused(value: Any) -> str:
    text = flat(value)
    numeric = value is None or isinstance(value, bool | int | float)
    return f"'{text}" if text.startswith(FORMULA) and not numeric else text


def _csv(document: Document, written: Callable[[Any], str] | None = None) -> str:
    import csv
    from io import StringIO

    section = document.shape.main
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.name for column in section.columns])
    text = written or flat
    writer.writerows([text(row.get(column.name)) for column in section.columns] for row in document.section(section))
    return out.getvalue()


def _tsv(document: Document) -> str:
    names = "\t".join(column.name for column in document.shape.main.columns)
    return names + "\n" + _plain(document)


def _plain(document: Document) -> str:
    """Values only, tab between them, for `while read` and `cut`; no value is nothing."""
    section = document.shape.main
    return "".join(
        "\t".join(_unbroken(flat(row.get(column.name))) for column in section.columns) + "\n"
        for row in document.section(section)
    )


def _unbroken(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
