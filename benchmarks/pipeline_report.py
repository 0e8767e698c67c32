"""The pipeline's figures as a table, between two marks of docs/pipeline.md."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

BEGIN, END = "<!-- make bench-pipeline writes from here -->", "<!-- to here -->"


@dataclass(frozen=True)
class Row:
    """One job at one size: the records, and for each form its wall and CPU seconds."""

    label: str
    size: str
    count: int
    runs: dict[str, tuple[float, float]]


def markdown(rows: list[Row], starts: dict[str, float], records: int, rounds: int) -> str:
    """The whole section."""
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
    lines += ["", "| from a cold start to the first million rows in parquet | seconds |", "|---|---|"]
    lines += [f"| {kind} | {seconds:.1f} |" for kind, seconds in starts.items()]
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("pyspark", "pyarrow"))
    lines += [
        "",
        f"{datetime.date.today():%Y-%m-%d}, {os.cpu_count()} cores ({platform.machine()}), which the broker, a real "
        f"Apache Kafka, shares; Python {platform.python_version()}, {versions}; {records:,} records of 100 B, a tenth "
        f"of 1 KiB, lz4, 2 partitions, `local[2]`; medians of {rounds} interleaved rounds. Trust the ratios only.",
    ]
    return "\n".join(lines) + "\n"


def put(path: Path, text: str) -> None:
    """Write the section into the document. Raises ValueError where its marks are missing."""
    whole = path.read_text()
    start, end = whole.index(BEGIN) + len(BEGIN), whole.index(END)
    path.write_text(f"{whole[:start]}\n\n{text}\n{whole[end:]}")
