"""Partitions of an Iceberg table: by a column, or hidden, by the day of a time (year, month, hour too)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kcli.errors import UsageError
from kcli.values import Frozen

if TYPE_CHECKING:
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema

UNITS = {
    "year": "year({0}) - 1970",
    "month": "(year({0}) - 1970) * 12 + month({0}) - 1",
    "day": "unix_date(to_date({0}))",
    "hour": "CAST(floor(unix_seconds(CAST({0} AS TIMESTAMP)) / 3600) AS INT)",
}
"""A time as Iceberg counts it: since 1970, in whole units."""
STORED = {
    "date": "unix_date({0})",
    "timestamptz": "unix_micros({0})",
    "timestamp": "unix_micros(CAST({0} AS TIMESTAMP))",
}
"""A value as Iceberg's manifests have it, where that is another than Spark's."""
TIMES = ("date", "timestamptz", "timestamp")


class Part(Frozen):
    """One field of a partition: `unit` "" is the column itself."""

    name: str = ""
    column: str = ""
    unit: str = ""

    def sql(self, schema: Schema) -> str:
        """The value of a row, as Iceberg has it."""
        quoted = ".".join(f"`{one}`" for one in self.column.split("."))
        if self.unit:
            return UNITS[self.unit].format(quoted)
        kind = str(schema.find_field(self.column).field_type)
        return STORED.get(kind, "{0}").format(quoted)


def parts_of(names: Sequence[str], units: Sequence[tuple[str, str, str]], schema: Schema) -> list[Part]:
    """What --partition-by says, for a table with these columns. `units` have (name, unit, SQL of a time): one of a
    column that is in the table is hidden, any other is a column by itself."""
    known = {name: Part(name=name, column=time, unit=unit) for name, unit, time in units if _is_time(schema, time)}
    return [known.get(name, Part(name=name, column=name)) for name in names]


def _is_time(schema: Schema, column: str) -> bool:
    try:
        return str(schema.find_field(column).field_type) in TIMES
    except ValueError:
        return False


def spec_of(parts: Sequence[Part], schema: Schema) -> PartitionSpec:
    """The partition of a new table."""
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.transforms import DayTransform, HourTransform, IdentityTransform, MonthTransform, YearTransform

    kinds: dict[str, Any] = {
        "": IdentityTransform,
        "year": YearTransform,
        "month": MonthTransform,
        "day": DayTransform,
        "hour": HourTransform,
    }
    return PartitionSpec(
        *[
            PartitionField(
                source_id=schema.find_field(part.column).field_id,
                field_id=1000 + number,
                transform=kinds[part.unit](),
                name=part.name,
            )
            for number, part in enumerate(parts)
        ]
    )


def known_parts(spec: PartitionSpec, schema: Schema, label: str) -> list[Part]:
    """The partition of a table that is there. Raises UsageError for one that kcli does not write."""
    parts = []
    for field in spec.fields:
        word = str(field.transform)
        if word not in ("identity", *UNITS):
            raise UsageError(f"{label} is partitioned by {word} of a column, which kcli does not write")
        column = schema.find_column_name(field.source_id) or ""
        parts.append(Part(name=field.name, column=column, unit="" if word == "identity" else word))
    return parts
