"""Values as a table shows them."""

from __future__ import annotations

from kcli.cli.output.timestamps import utc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.cli.output.tables.shape import Column, Row

SIGNS = {"at least": ">", "interpolated": "~"}
"""How a duration is known, where it is not exactly."""
NOTHING = "–"
"""What a table shows where there is no value; 0 is a value."""


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
