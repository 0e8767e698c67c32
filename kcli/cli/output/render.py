"""Rows to text: `--format table|json|ndjson|yaml|csv|csv-safe|tsv|plain`, the same rows in each, also on failure.

Rich is imported for a table on a terminal and nothing else; a piped table has no colour and no box drawing.
Control bytes of names and values are shown, not sent, on a terminal; a pipe gets them.
"""

from __future__ import annotations

import sys

from kcli.cli.output.timestamps import utc
from kcli.errors import BrokerError, KcliError
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TextIO, TypeVar

    from kcli.cli.output import rows
    from kcli.cli.output.shape import Column, Row, Section, Shape

    T = TypeVar("T", bound=rows.Row)

FORMULA = ("=", "+", "-", "@", "\t", "\r")
FORMATS = ("table", "json", "ndjson", "yaml", "csv", "csv-safe", "tsv", "plain")
SIGNS = {"at least": ">", "interpolated": "~"}
"""How a duration is known, where it is not exactly."""
NOTHING = "–"
"""What a table shows where there is no value; 0 is a value."""


class Document(Value):
    """The answer of a command: rows by section, and what went wrong beside them."""

    shape: Shape = None  # type: ignore[assignment]  # always given
    rows: dict[str, list[Any]] = field(factory=dict)
    errors: list[Row] = field(factory=list)
    exit_codes: set[int] = field(factory=set)  # what each error by itself would end with
    read_only: str = ""  # the profile under which nothing may be changed
    protected: str = ""  # the profile under which nothing may be deleted or altered
    begun: bool = False  # whether it was confirmed, so that something may have been changed

    def fail(self, error: KcliError, about: str = "") -> None:
        """Put an error next to the rows."""
        self.exit_codes.add(error.exit_code)
        name = error.code.name if isinstance(error, BrokerError) else type(error).__name__
        self.errors.append({"about": about, "error": name, "message": str(error)})

    def section(self, section: Section) -> list[Row]:
        """The rows of a section, as they are printed."""
        return [row if isinstance(row, dict) else row.as_json() for row in self.rows.get(section.name, [])]

    def of(self, kind: type[T]) -> list[T]:
        """The rows of a kind, to fill or to change; none at first."""
        rows: list[T] = self.rows.setdefault(kind.section, [])
        return rows


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
        from kcli.cli.output.rich_tables import draw

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


def cell(value: Any) -> str:
    """A value as a table shows it: one line, numbers as they are, so that they can be copied and sorted."""
    if value is None or value in ([], {}, ""):
        return NOTHING
    if isinstance(value, dict):
        return ", ".join(f"{key}={'(hidden)' if shown is None else shown}" for key, shown in value.items())
    return _flat(value).replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def shown(column: Column, row: Row) -> str:
    """A row's value as a table shows it: durations, moments and rates are for people there, how a duration is known is
    a sign, and a status says of how many partitions it is one."""
    value = row.get(column.name)
    if column.name == "status" and row.get("status_partitions"):
        from kcli.lag.status import share

        return share(str(value), row["status_partitions"], row["partitions"])
    if value is None or column.kind not in ("duration", "moment", "number"):
        return cell(value)
    if column.kind == "moment":
        return utc(value)
    if column.kind == "duration":
        return SIGNS.get(row.get(f"{column.name}_kind") or "", "") + human_time(value)
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def human_time(seconds: float) -> str:
    """`0s`, `42s`, `3m12s`, `2h05m`, `4d06h`: two units at most."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    if whole < 86400:
        return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
    return f"{whole // 86400}d{whole % 86400 // 3600:02d}h"


def _flat(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, dict):
        return ",".join(f"{key}={'' if shown is None else shown}" for key, shown in value.items())
    return str(value)


def right(column: Column) -> bool:
    return column.kind in ("integer", "number", "duration")


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


def whole(document: Document) -> dict[str, Any]:
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
    text = _flat(value)
    numeric = value is None or isinstance(value, bool | int | float)
    return f"'{text}" if text.startswith(FORMULA) and not numeric else text


def _csv(document: Document, written: Callable[[Any], str] | None = None) -> str:
    import csv
    from io import StringIO

    section = document.shape.main
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.name for column in section.columns])
    text = written or _flat
    writer.writerows([text(row.get(column.name)) for column in section.columns] for row in document.section(section))
    return out.getvalue()


def _tsv(document: Document) -> str:
    names = "\t".join(column.name for column in document.shape.main.columns)
    return names + "\n" + _plain(document)


def _plain(document: Document) -> str:
    """Values only, tab between them, for `while read` and `cut`; no value is nothing."""
    section = document.shape.main
    return "".join(
        "\t".join(_unbroken(_flat(row.get(column.name))) for column in section.columns) + "\n"
        for row in document.section(section)
    )


def _unbroken(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
