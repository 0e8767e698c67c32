"""The files that the rows read, each whole and in the parts that slow programs get."""

from __future__ import annotations

from pathlib import Path

from benchmarks import data
from benchmarks.cases import Job

SLOW = {"kafka_python": 10}  # gets a tenth of the records, so that a run ends today; figures are per record


def shares(job: Job) -> list[int]:
    """Into how many parts the data is cut, by who gets one of them."""
    return [1] if job.data.long else [1, *set(SLOW.values())]


def files_of(folder: Path, wanted: list[Job]) -> dict[str, Path]:
    """The data of the rows, written into a folder: by name and share."""
    files: dict[str, Path] = {}
    for job in wanted:
        for share in shares(job):
            name = f"{job.data.name}.{share}"
            if name in files:
                continue
            path, count = folder / name, job.data.count // share
            if job.data.name in ("json", "envelopes"):
                (data.write_json if job.data.name == "json" else data.write_envelopes)(path, count)
            else:
                sizes = {
                    "mixed": (10, 200),
                    "large": (1024, 1024),
                    "large5": (1024, 1024),
                    "huge": (1_000_000, 1_000_000),
                }
                data.write_lines(path, count, sizes.get(job.data.name, (100, 100)), keyed=job.data.keyed)
            files[name] = path
    return files
