"""What a Delta log says of a file: its rows, and of numbers and times the least and the most, by which readers skip
files."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from io import BytesIO
from typing import Any


def stats_of(footer: bytes) -> str:
    """The statistics of a parquet footer, as JSON. Columns within others, and texts, have none."""
    from pyarrow import parquet

    known = parquet.read_metadata(BytesIO(footer))
    least: dict[str, Any] = {}
    most: dict[str, Any] = {}
    unknown: set[str] = set()
    for group in range(known.num_row_groups):
        for column in range(known.num_columns):
            one = known.row_group(group).column(column)
            name, seen = one.path_in_schema, one.statistics
            if "." in name or one.physical_type not in ("INT32", "INT64"):
                continue
            if seen is None or not seen.has_min_max or not isinstance(seen.min, (int, date)):
                unknown.add(name)
                continue
            least[name] = min(least.get(name, seen.min), seen.min)
            most[name] = max(most.get(name, seen.max), seen.max)
    names = sorted({*least} - unknown)
    ranges = {
        "minValues": {name: _text(least[name]) for name in names},
        "maxValues": {name: _text(most[name], up=True) for name in names},
    }
    return json.dumps({"numRecords": known.num_rows, **ranges})


def _text(value: Any, *, up: bool = False) -> Any:
    """A value as the log has it: times in milliseconds, so that a most is rounded up."""
    if not isinstance(value, date):
        return value
    if not isinstance(value, datetime):
        return value.isoformat()
    if up and value.microsecond % 1000 and value.replace(tzinfo=None) < datetime(9999, 12, 31):
        value += timedelta(milliseconds=1)
    zone = "" if value.tzinfo is None else "Z"
    return value.replace(tzinfo=None).isoformat(timespec="milliseconds") + zone
