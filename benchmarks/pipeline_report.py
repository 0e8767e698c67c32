"""The pipeline's figures as a table, between two marks of docs/contributors/pipeline.md."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PARQUET, AVRO = "topic → parquet", "Avro topic → Iceberg"
"""Rows of tables that are compared."""
BEGIN, END = "<!-- make bench-pipeline writes from here -->", "<!-- to here -->"


@dataclass(frozen=True)
class Row:
    """One job at one size: the records, and for each form its wall and CPU seconds."""

    label: str
    size: str
    count: int
    runs: dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Measured:
    """What one run found: jobs, jobs into tables, seconds of starts; wall and CPU seconds of first files and plans."""

    rows: list[Row]
    tables: list[Row]
    starts: dict[str, float]
    first: dict[str, tuple[float, float]]
    planning: dict[str, tuple[float, float]]


def markdown(found: Measured, records: int, rounds: int) -> str:
    """The whole section."""
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("pyspark", "pyarrow", "deltalake", "pyiceberg")
    )
    lines = [
        *_by_both(found.rows),
        "",
        "Into tables, in rounds of their own. Beside kcli Spark's connector reads, Delta's own jars write Delta, and "
        "kcli writes Iceberg by pyiceberg, of which no jars run on this Spark. There `from_avro` decodes.",
        "",
        *_by_both(found.tables),
        "",
        _share(found.tables),
        "",
        "| from a cold start to the first million rows in parquet | seconds |",
        "|---|---|",
        *(f"| {kind} | {seconds:.1f} |" for kind, seconds in found.starts.items()),
        "",
        "| from the prompt to the file of 10,000 records | seconds | CPU s, to the end |",
        "|---|---|---|",
        *(f"| {kind} | {wall:.1f} | {spent:.1f} |" for kind, (wall, spent) in found.first.items()),
        "",
        "| the driver's plan of 10,000 partitions | seconds | CPU s |",
        "|---|---|---|",
        *(f"| {kind} | {wall:.2f} | {spent:.2f} |" for kind, (wall, spent) in found.planning.items()),
        "",
        f"{datetime.date.today():%Y-%m-%d}, {os.cpu_count()} cores ({platform.machine()}), which the broker, a real "
        f"Apache Kafka, shares; Python {platform.python_version()}, {versions}; {records:,} records of 100 B, a tenth "
        f"of 1 KiB, lz4, 2 partitions, `local[2]`; medians of {rounds} interleaved rounds. Trust the ratios only.",
    ]
    return "\n".join(lines) + "\n"


def _by_both(rows: list[Row]) -> list[str]:
    lines = [
        "| | values | kcli, rows/s | JVM connector, rows/s | kcli by JVM | kcli, CPU s per 1 M | JVM, CPU s per 1 M |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        (ours, our_cpu), (theirs, their_cpu) = row.runs["kcli"], row.runs["kafka"]
        millions = row.count / 1e6
        lines.append(
            f"| {row.label} | {row.size} | {row.count / ours:,.0f} | {row.count / theirs:,.0f} | "
            f"**{theirs / ours:.2f}** | {our_cpu / millions:.2f} | {their_cpu / millions:.2f} |"
        )
    return lines


def _share(tables: list[Row]) -> str:
    """Iceberg with Avro beside parquet of plain values."""
    walls = {row.label: row.runs["kcli"][0] for row in tables}
    spent = {row.label: row.runs["kcli"][1] for row in tables}
    return (
        f"Avro into Iceberg runs at {walls[PARQUET] / walls[AVRO]:.0%} of the rate of plain values into parquet "
        f"({spent[PARQUET] / spent[AVRO]:.0%} by CPU seconds)."
    )


def put(path: Path, text: str) -> None:
    """Write the section into the document. Raises ValueError where its marks are missing."""
    whole = path.read_text()
    start, end = whole.index(BEGIN) + len(BEGIN), whole.index(END)
    path.write_text(f"{whole[:start]}\n\n{text}\n{whole[end:]}")
