"""`python -m benchmarks.group`: a topic of 100 partitions on a real Kafka of three brokers, read by a group of one
process and by a group of two, kcli beside kcat. `--output docs/benchmarks.md` writes its part of that page.

All members of a group join within the delay of its first assignment, so each has its share before it reads. The CPU of
two is the sum of both. A warm-up counts what each of two printed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks import broker, data
from benchmarks.cases import KCLI
from benchmarks.process import Run, measure, measure_together, median
from benchmarks.report import machine, with_part
from tests.kafka.artifacts import missing
from tests.kafka.cluster import Kafka

TITLE = "## A group of two processes, 100 partitions on three brokers"
TOPIC, PARTITIONS, PARTS = "grouped", 100, 10
JOINING = "3000"  # milliseconds in which all members of a new group join
PROGRAMS = {"kcli": 7, "kcat": 3}
"""How often each is measured: kcli's two figures are compared with each other, and differ by less than two runs do."""
SIZES = (1, 2)


def member(program: str, bootstrap: str, group: str) -> list[str]:
    """A process of the group that ends when it has read its partitions."""
    if program == "kcli":
        return [KCLI, "consume", TOPIC, "-b", bootstrap, "-g", group, "-o", "beginning", "-e", "-q"]
    return ["kcat", "-b", bootstrap, "-G", group, "-X", "auto.offset.reset=earliest", "-e", "-q", TOPIC]


def fill(bootstrap: str, records: int) -> None:
    """Write the topic: keys spread the records evenly over the partitions."""
    broker.create(bootstrap, TOPIC, PARTITIONS, ["--replication-factor", "1"])
    with tempfile.NamedTemporaryFile() as lines:
        data.write_lines(Path(lines.name), records // PARTS, (100, 100), keyed=True)
        for _ in range(PARTS):
            measure([KCLI, "produce", TOPIC, "-b", bootstrap, "-K", "\t"], stdin=lines.name)


def counts(program: str, bootstrap: str) -> list[int]:
    """How many records each of two members prints."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, str(number)) for number in range(2)]
        lines = [
            ["sh", "-c", '"$@" | wc -l > "$0"', str(file), *member(program, bootstrap, f"counted-{program}")]
            for file in files
        ]
        measure_together(lines)
        return sorted(int(file.read_text()) for file in files)


Found = dict[tuple[str, int], list[list[Run]]]


def measured(bootstrap: str) -> Found:
    """Program and size of its group to the runs of each round."""
    found: Found = {}
    for turn in range(max(PROGRAMS.values())):
        for program in (program for program, rounds in PROGRAMS.items() if turn < rounds):
            for size in SIZES:
                line = member(program, bootstrap, f"{program}-{size}-{turn}")
                found.setdefault((program, size), []).append(measure_together([line] * size))
                print(f"{program}, {size}: {found[program, size][-1]}", file=sys.stderr)
    return found


def table(found: Found, printed: dict[str, list[int]], records: int) -> str:
    """The part of the page."""
    out = ["", TITLE, "", machine(), ""]
    out += [
        f"{records:,} keyed records of 100 B on Apache Kafka, which shares the machine: wall times are mostly its own.",
        "Start-up and the three seconds in which a group gathers are included.",
        "",
        "| | CPU ns a record | least – most | wall s | peak MiB a process | records of each |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for (program, size), rounds in found.items():
        cpus = sorted(sum(run.cpu for run in runs) / records * 1e9 for runs in rounds)
        wall = median([max(run.wall for run in runs) for runs in rounds])
        peak = max(run.peak_mib for runs in rounds for run in runs)
        each = " + ".join(f"{count:,}" for count in printed[program]) if size == 2 else f"{records:,}"
        processes = "one process" if size == 1 else f"{size} processes"
        figures = f"{median(cpus):.0f} | {cpus[0]:.0f} – {cpus[-1]:.0f} | {wall:.1f} | {peak:.0f}"
        out.append(f"| {program}, {processes} | {figures} | {each} |")
    return "\n".join(out) + "\n"


def section(records: int = 10_000_000) -> str:
    """The part of the page; where there is no Kafka to start, why."""
    why = missing()
    if why is not None:
        return f"\n{TITLE}\n\nNot measured: {why}.\n"
    kafka = Kafka(3, {"group.initial.rebalance.delay.ms": JOINING})
    try:
        kafka.start()
        fill(kafka.bootstrap, records)
        printed = {program: counts(program, kafka.bootstrap) for program in PROGRAMS}
        return table(measured(kafka.bootstrap), printed, records)
    finally:
        kafka.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description="A group of one and of two processes on a real Kafka of three.")
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--output", type=Path, help="the page whose part is written anew")
    given = parser.parse_args()
    text = section(given.records)
    print(text)
    if given.output:
        given.output.write_text(with_part(given.output.read_text(), TITLE, text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
