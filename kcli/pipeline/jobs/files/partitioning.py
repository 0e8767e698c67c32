"""What --partition-by says: columns, and units of a time, such as day(value.created): columns of their own."""

from __future__ import annotations

import re

from kcli.errors import OPTION, UsageError
from kcli.values import Frozen

UNITS = {
    "year": "date_format({}, 'yyyy')",
    "month": "date_format({}, 'yyyy-MM')",
    "day": "to_date({})",
    "hour": "date_format({}, 'yyyy-MM-dd-HH')",
}
"""As Iceberg shows the values of its transforms: each sorts as the time does. In Spark's session zone, which is UTC."""
_UNIT = re.compile(r"(\w+)\s*\((.*)\)", re.DOTALL)


class Partitioning(Frozen):
    """`names` are the columns of the folders, in order; `made` has (name, SQL) of those that are made of a time,
    and `units` (name, unit, the time's SQL)."""

    names: tuple[str, ...] = ()
    made: tuple[tuple[str, str], ...] = ()
    units: tuple[tuple[str, str, str], ...] = ()


def partitioning_of(given: str | None) -> Partitioning:
    """`region, day(value.created)`: the second is the column created_day. Raises UsageError for another function."""
    names: list[str] = []
    made: dict[str, str] = {}
    units: list[tuple[str, str, str]] = []
    for text in (one.strip() for one in (given or "").split(",")):
        unit = _UNIT.fullmatch(text)
        if unit is None:
            names += [text] if text else []
            continue
        word, time = unit[1].lower(), unit[2].strip()
        words: list[str] = re.findall(r"\w+", time)
        if word not in UNITS or not words:
            raise UsageError(
                f"partition_by {text}: expected a column, or {', '.join(UNITS)} of one, such as day(timestamp)"
            ).hinted(OPTION)
        name = f"{words[-1]}_{word}"
        made[name] = UNITS[word].format(time)
        names.append(name)
        units.append((name, word, time))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"partition_by: {twice} is named twice").hinted(OPTION)
    return Partitioning(names=tuple(names), made=tuple(made.items()), units=tuple(units))
