"""Rows to text: `--format table|json|ndjson|yaml|csv|csv-safe|tsv|plain`, the same rows in each, also on failure.

A table on a terminal is fitted to its width and has colours; a pipe gets all columns, uncut, and numbers exactly.
Control bytes of names and values are shown, not sent, on a terminal; a pipe gets them.
"""

from __future__ import annotations

import sys

from kcli.cli.output.terminal import painted, terminal_of
from kcli.cli.output.timestamps import utc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TextIO

    from kcli.cli.output.tables.document import Document
    from kcli.cli.output.tables.shape import Column, Row, Section
    from kcli.cli.output.terminal import Terminal

    Made = Callable[[Document, str, Terminal | None], str]
    """Makes the text of a document in a format, for a terminal or a pipe."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
SIGNS = {"at least": ">", "interpolated": "~"}
"""How a duration is known, where it is not exactly."""
NOTHING = "–"
"""What a table shows where there is no value; 0 is a value."""


def render(document: Document, format: str, terminal: Terminal | None = None) -> str:
    """The whole text, with its last line end; "" without rows and sentences. `terminal` is where a person reads it.
    Raises KeyError for an unknown format."""
    if format == "table" and terminal is not None:
        return _fitted(document, terminal)
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
    if terminal is None:
        return text
    from kcli.text.escape import visible

    return visible(text.replace("\r\n", "\n"), keep="\n\t")  # CSV's line ends; a lone \r would overwrite a line


def write(document: Document, format: str, out: TextIO | None = None, made: Made = render) -> None:
    """Print the document, as the text that is `made` of it. Raises BrokenPipeError when the reader left."""
    stream = sys.stdout if out is None else out
    text = made(document, format, terminal_of(stream))
    binary = getattr(stream, "buffer", None)
    if binary is None:
        stream.write(text)
    else:
        stream.flush()
        binary.write(text.encode("utf-8", "backslashreplace"))
    stream.flush()


def _fitted(document: Document, terminal: Terminal) -> str:
    """Tables for a terminal, and which columns it has no room for."""
    from kcli.cli.output.tables.fitted import fitted
    from kcli.text.width import wrapped

    tables, hidden = [], []
    view = document.view
    for section, rows in document.tables():
        columns = view.drawn(section, rows)
        lines, titles = fitted(columns, rows, terminal, headers=view.headers, wide=view.wide)
        tables.append("".join(f"{line}\n" for line in lines))
        hidden += titles
    text = "\n".join(tables)
    if hidden:
        named = ", ".join(dict.fromkeys(hidden))
        note = f"hidden columns: {named}; --wide shows all"
        text += "".join(f"{painted(line, '2', terminal.color)}\n" for line in wrapped(note, terminal.width))
    return text


def _table(document: Document) -> str:
    return "\n".join(_one_table(document, section, rows) for section, rows in document.tables())


def _one_table(document: Document, section: Section, rows: list[Row]) -> str:
    view = document.view
    columns = view.drawn(section, rows)
    titles = [[column.title for column in columns]] if view.headers else []
    lines = titles + [[shown(c, row) for c in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(
            text.rjust(width) if column.right else text.ljust(width)
            for text, width, column in zip(line, widths, columns, strict=True)
        ).rstrip()
        + "\n"
        for line in lines
    )


def whole(document: Document) -> dict[str, object]:
    """The JSON document: schema, ok, the total, each section, errors."""
    return {
        "schema": document.shape.id,
        "ok": not document.errors,
        **({"total": document.total} if document.shape.total else {}),
        **{section.name: document.section(section) for section in document.shape.sections},
        "errors": document.errors,
    }


def _json(document: Document) -> str:
    from json import dumps

    return dumps(whole(document), ensure_ascii=False, indent=2) + "\n"


def _ndjson(document: Document) -> str:
    from json import dumps

    main = document.section(document.main)
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

    columns = document.view.listed(document.main)
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if document.view.headers:
        writer.writerow([column.name for column in columns])
    text = written or flat
    writer.writerows([text(row.get(column.name)) for column in columns] for row in document.section(document.main))
    return out.getvalue()


def _tsv(document: Document) -> str:
    names = "\t".join(column.name for column in document.view.listed(document.main))
    return (names + "\n") * document.view.headers + _plain(document)


def _plain(document: Document) -> str:
    """Values only, tab between them, for `while read` and `cut`; no value is nothing."""
    columns = document.view.listed(document.main)
    return "".join(
        "\t".join(_unbroken(flat(row.get(column.name))) for column in columns) + "\n"
        for row in document.section(document.main)
    )


def _unbroken(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def cell(value: Any) -> str:
    """A value as a table shows it: one line, numbers as they are, so that they can be copied and sorted."""
    if value is None or value in ([], {}, ""):
        return NOTHING
    if isinstance(value, dict):
        return ", ".join(f"{key}={'(hidden)' if shown is None else shown}" for key, shown in value.items())
    return flat(value).replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def shown(column: Column, row: Row) -> str:
    """A row's value as a table shows it: durations, moments and rates are for people there, how a duration is known is
    a sign, and a status says of how many partitions it is one."""
    value = row.get(column.name)
    of, whole = row.get("status_partitions"), row.get("partitions")
    if column.name == "status" and of and isinstance(of, int) and isinstance(whole, int):
        from kcli.lag.status import share

        return share(str(value), of, whole)
    if column.name == "lag" and value is not None and row.get("unknown"):
        from kcli.text.numbers import AT_LEAST

        return AT_LEAST + cell(value)
    if column.name == "configs" and value is None and row.get("error"):
        return cell(row["error"])
    if not isinstance(value, int | float) or column.kind not in ("duration", "moment", "number"):
        return cell(value)
    if column.kind == "moment":
        return utc(int(value))
    if column.kind == "duration":
        from kcli.text.numbers import human_time

        return SIGNS.get(str(row.get(f"{column.name}_kind")), "") + human_time(value)
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def rounded(column: Column, row: Row) -> str:
    """The same for a terminal: counts, bytes and rates as people read them."""
    value = row.get(column.name)
    if not column.unit or isinstance(value, bool) or not isinstance(value, int | float):
        return shown(column, row)
    from kcli.text import numbers

    if column.unit == "count":
        sign = numbers.AT_LEAST if column.name == "lag" and row.get("unknown") else ""
        return sign + numbers.count(value)
    if column.unit == "rate":
        return numbers.rate(value)
    return numbers.size(value) + "/s" * (column.unit == "bytes/s")


def flat(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, dict):
        return ",".join(f"{key}={'' if shown is None else shown}" for key, shown in value.items())
    return str(value)
