"""`python -m benchmarks.where`: where the CPU of each row goes, written to docs/where-the-time-goes.md.

kcli runs with a timer that counts where it is (`sampled.py`). `--only` takes the rows whose label contains it, and
prints them alone.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks import broker, cases
from benchmarks.cases import Job
from benchmarks.files import files_of
from benchmarks.process import measure
from benchmarks.report import machine
from benchmarks.sampled import LOOP, STARTUP

PAGE = Path("docs/where-the-time-goes.md")
SAMPLED = str(Path(__file__).with_name("sampled.py"))
ROUNDS = 5
SHOWN = 5  # functions of a row
COMMON = (STARTUP, LOOP, "kcli/proto", "kcli/producer", "kcli/consumer", "kcli/broker", "kcli/cli")


class Samples:
    """Of one row, over all its rounds."""

    def __init__(self) -> None:
        self.layers: Counter[str] = Counter()
        self.functions: Counter[str] = Counter()

    def add(self, counted: dict[str, dict[str, int]]) -> None:
        self.layers.update(counted["layers"])
        self.functions.update(counted["functions"])


def sampled(wanted: Sequence[Job], rounds: int) -> list[tuple[Job, Samples]]:
    """The rows that are a command of kcli's, on a sandbox of their own."""
    found = []
    for tls in (False, True):
        rows = [job for job in wanted if job.tls == tls and job.verb not in cases.LOOPS]
        if not rows:
            continue
        with tempfile.TemporaryDirectory(prefix="kcli-bench-") as folder, broker.Sandbox(tls=tls) as sandbox:
            files = files_of(Path(folder), rows)
            found += [(job, _row(job, sandbox, files, Path(folder, "samples"), rounds)) for job in rows]
    return found


def _row(job: Job, sandbox: broker.Sandbox, files: dict[str, Path], counted: Path, rounds: int) -> Samples:
    topic, source, samples = "where", str(files[f"{job.data.name}.1"]), Samples()
    line, _ = cases.commands(job, sandbox.bootstrap, topic)["kcli"]
    broker.create(sandbox.bootstrap, topic, job.data.partitions, sandbox.words)
    if not job.writes:
        fill, _ = cases.commands(cases.filling(job), sandbox.bootstrap, topic)["kcli"]
        measure([*fill, *sandbox.words], stdin=source)
    for turn in range(rounds):
        words = [f"where-{turn}" if word == "GROUP" else word for word in line[1:]]
        run = [cases.PYTHON, SAMPLED, str(counted), *words, *sandbox.words]
        measure(run, stdin=source if job.writes else os.devnull)
        samples.add(json.loads(counted.read_text()))
    broker.delete(sandbox.bootstrap, topic, sandbox.words)
    print(f"{job.label}: {samples.layers}", file=sys.stderr)
    return samples


def page(rows: Sequence[tuple[Job, Samples]], rounds: int = ROUNDS) -> str:
    """The whole page."""
    out = [
        "# Where the time goes",
        "",
        "Written by `make bench` (this page alone: `python -m benchmarks.where`). Each row of",
        f"[the benchmarks](benchmarks.md) that is a command ran (rounds: {rounds}) while a timer of its CPU counted",
        "where it was. A sample counts for the function of Python that ran and for all C code that it called: the",
        "record core, codecs, system calls.",
        "",
        machine(),
        "",
        "## By layer, % of CPU",
        "",
        "| | samples | " + " | ".join(COMMON) + " | the rest |",
        "|---|" + "---:|" * (len(COMMON) + 2),
    ]
    for job, samples in rows:
        total = samples.layers.total()
        parts = [samples.layers[layer] for layer in COMMON]
        cells = [f"{100 * part / total:.0f}" for part in (*parts, total - sum(parts))]
        out.append(f"| {job.label} ({job.data.count:,}) | {total} | " + " | ".join(cells) + " |")
    out += ["", "## By function, % of CPU"]
    for job, samples in rows:
        out += ["", f"### {job.label} ({job.data.count:,})", ""]
        total = samples.functions.total()
        out += [f"- {100 * n / total:.0f} {name}" for name, n in samples.functions.most_common(SHOWN)]
    return "\n".join(out) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Where the CPU of each row goes.")
    parser.add_argument("--only", default="", help="rows whose label contains this; prints them")
    parser.add_argument("--scale", type=float, default=1.0, help="1.0 is a million records of 100 bytes")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    wanted = [job for job in cases.jobs(given.scale) if given.only in job.label]
    text = page(sampled(wanted, given.rounds), given.rounds)
    if given.only:
        print(text)
    else:
        PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
