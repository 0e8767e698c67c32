"""`make bench-scale`: CPU and memory against partitions, brokers, groups, batch size and record size. A cost that grows
faster than its work is a defect, and is marked. `--only AXIS` measures one axis, `--most N` leaves out what is larger;
a whole run writes docs/curves.md.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks import data
from benchmarks.broker import create
from benchmarks.cases import KCLI
from benchmarks.process import Run, measure
from benchmarks.report import machine
from benchmarks.scale import fill
from tests.tui.soak import seed
from tests.tui.terminal import Terminal

PAGE = Path("docs/curves.md")
LINES = 200_000
BYTES = 100_000_000  # of the records of each size, at most
LARGEST = 100_000_000  # max.message.bytes of the topics
ROUNDS = 5
EACH = 500
"""The work of a partition or a broker more, in lines: about 200 µs, its batch and its place in requests. A cost in step
with them is no bend."""
BEND = 1.5
"""A cost above start-up that grows by this much more than its work."""
AGAIN = 3
"""How many times the places of a bend are measured again before it is called one."""
NOISE = 0.05  # seconds of CPU above start-up that are told apart from nothing


@dataclass
class Curve:
    """What a command costs along an axis. `work` is how much there is to do at each place, in any unit."""

    command: str
    places: list[int] = field(default_factory=list)
    work: list[float] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    def add(self, place: int, work: float, line: list[str], stdin: str = os.devnull) -> None:
        """Run the command at the next place, and keep the run of least CPU."""
        self.take(place, work, [measure(line, stdin=stdin) for _ in range(ROUNDS)])

    def take(self, place: int, work: float, runs: list[Run]) -> None:
        """The runs at the next place; that of least CPU is kept: the machine's other programs can only add."""
        self.places.append(place)
        self.work.append(work)
        self.runs.append(min(runs, key=lambda run: run.cpu))
        print(f"{place:,}: {self.command}: {self.runs[-1]}", file=sys.stderr)

    def bends(self, start: float) -> list[bool]:
        """Whether the cost grew faster than the work, from each place to the next. `start` is the CPU of a command that
        does nothing, in seconds."""
        costs = [max(run.cpu - start, NOISE) for run in self.runs]
        steps = zip(costs, costs[1:], self.work, self.work[1:], strict=False)
        return [False, *(later > BEND * cost * max(more / work, 1) for cost, later, work, more in steps)]

    def join(self, again: Curve) -> None:
        """What another measurement of some of the places found: the run of least CPU is kept of each."""
        for place, run in zip(again.places, again.runs, strict=True):
            at = self.places.index(place)
            self.runs[at] = min(self.runs[at], run, key=lambda run: run.cpu)

    def row(self, start: float) -> str:
        """A line of the table: CPU seconds and MiB at each place, a bend in bold."""
        bends = zip(self.runs, self.bends(start), strict=True)
        cells = [
            f"**{run.cpu:.2f}**, {run.peak_mib:.0f}" if bend else f"{run.cpu:.2f}, {run.peak_mib:.0f}"
            for run, bend in bends
        ]
        return f"| `{self.command}` | " + " | ".join(cells) + " |"


Curves = dict[str, Curve]


@contextlib.contextmanager
def cluster(brokers: int = 1) -> Iterator[list[str]]:
    """Start a sandbox of this number of brokers; the options that reach it."""
    words = [KCLI, "sandbox", "--port", "0", "--brokers", str(brokers), "--format", "json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield ["-b", json.loads(process.stdout.readline())["bootstrap"]]
    finally:
        process.terminate()
        process.wait(30)


def lists(curves: Curves, place: int, ends: list[str], *commands: str) -> None:
    """Commands that look at a cluster; what they look at grows with the place."""
    for command in commands:
        curves.setdefault(command, Curve(command)).add(place, place, [KCLI, *command.split(), *ends])


def records(
    curves: Curves, place: int, work: float, lines: Path, ends: list[str], *words: str, partitions: int = 1
) -> str:
    """`produce` the lines into a topic, and `consume` what all rounds of that have written. The topic."""
    topic = f"t{place}"
    create(ends[1], topic, partitions, ["--config", f"max.message.bytes={LARGEST}"])
    made, read = (curves.setdefault(verb, Curve(verb)) for verb in ("produce", "consume"))
    made.add(place, work, [KCLI, "produce", topic, *words, *ends], str(lines))
    read.add(place, work, [KCLI, "consume", topic, "-o", "beginning", "-e", "-q", *ends])
    return topic


def partitions(places: list[int], folder: Path) -> Curves:
    """The same keyed lines in more and more partitions: the work is the lines, and some for each partition."""
    data.write_lines(folder / "keyed", LINES, (100, 100), keyed=True)
    curves: Curves = {}
    for place in places:
        with cluster() as ends:
            work = LINES + EACH * place
            topic = records(curves, place, work, folder / "keyed", ends, "-K", "\t", partitions=place)
            reset = [KCLI, "groups", "reset", "g", "-t", topic, "--to-earliest", "--create", "--execute", *ends]
            subprocess.run(reset, check=True, capture_output=True, timeout=300)
            lists(curves, place, ends, "topics list", "topics stats", "lag -g g", "lag -g g --by partition")
            lists(curves, place, ends, "groups reset g --all-topics --to-latest --dry-run", "groups describe g")
    return curves


def brokers(places: list[int], folder: Path) -> Curves:
    """The same keyed lines in 100 partitions on more and more brokers: the work is the lines, and some for each."""
    data.write_lines(folder / "keyed", LINES, (100, 100), keyed=True)
    curves: Curves = {}
    for place in places:
        with cluster(place) as ends:
            records(curves, place, LINES + EACH * place, folder / "keyed", ends, "-K", "\t", partitions=100)
            lists(curves, place, ends, "topics list", "brokers list", "groups list")
    return curves


def sizes(places: list[int], folder: Path) -> Curves:
    """Larger and larger records: the work is their bytes, and some for each of them."""
    curves: Curves = {}
    with cluster() as ends:
        for place in places:
            count = max(min(BYTES // place, 1_000_000), 5)
            data.write_lines(folder / "lines", count, (place, place))
            large = ["-X", f"max.request.size={2 * place}"] if place >= 500_000 else []
            records(curves, place, count * (place + 100), folder / "lines", ends, *large)
    return curves


def batches(places: list[int], folder: Path) -> Curves:
    """The same lines in larger and larger batches: no more work."""
    data.write_lines(folder / "lines", LINES // 10, (100, 100))
    curves: Curves = {}
    with cluster() as ends:
        for place in places:
            records(curves, place, 1, folder / "lines", ends, "-X", f"batch.num.messages={place}", "-X", "linger.ms=0")
    return curves


OF_ALL = (
    "topics describe *",
    "topics trim * --before 1 --dry-run",
    "groups describe *",
    "groups peek *",
    "txn producers *",
    "consume * -o beginning -e -q",
)
"""Commands of all topics or of all groups."""


def groups(places: list[int], folder: Path) -> Curves:
    """More and more groups, two to a topic of two partitions."""
    del folder
    curves: Curves = {}
    for place in places:
        with cluster(3) as ends:
            asyncio.run(fill(ends[1], max(place // 2, 1), place))
            lists(curves, place, ends, "lag", "groups list", "topics list", *OF_ALL)
    return curves


def dashboard(places: list[int], folder: Path) -> Curves:
    """More and more groups of 100 partitions each: until the dashboard has drawn them."""
    del folder
    curve = Curve("tui")
    for place in places:
        with cluster() as ends:
            asyncio.run(seed(ends[1], place, 100))
            curve.take(place, place, [_first_picture(ends) for _ in range(ROUNDS)])
    return {curve.command: curve}


def _first_picture(ends: list[str]) -> Run:
    board = Terminal([KCLI, "tui", *ends])
    try:
        wall = board.until(lambda drawn: b"group-0005" in drawn, 120.0)
        board.rest(1.0)
        cpu, memory = board.computed(), board.memory()
    finally:
        code = board.end(b"q")
    return Run(wall, cpu, memory / 2**20, code)


AXES = {
    "partitions": (partitions, [1, 10, 100, 1000, 10_000]),
    "brokers": (brokers, [1, 3, 10, 30, 100]),
    "bytes a record": (sizes, [10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000]),
    "records a batch": (batches, [1, 10, 100, 1000, 10_000]),
    "groups": (groups, [10, 100, 1000, 5000]),
    "groups in the dashboard": (dashboard, [10, 100, 1000]),
}


LARGEST_PLACE = max(place for _, places in AXES.values() for place in places)


def confirmed(curves: Curves, again: Callable[[list[int]], Curves], start: float) -> Curves:
    """The curves of an axis, its bends measured again: a machine that is slow for a minute bends a curve, too. Each
    time both places of a bend are measured, so that neither has more chances; a bend that is left is kcli's.
    """
    for _ in range(AGAIN):
        bent = {at for curve in curves.values() for at, bend in enumerate(curve.bends(start)) if bend}
        places = next(iter(curves.values())).places
        if not bent:
            break
        for command, curve in again([places[at] for at in sorted(bent | {at - 1 for at in bent})]).items():
            curves[command].join(curve)
    return curves


def head(start: float) -> str:
    """What the page begins with. `start` is the CPU of start-up, in seconds."""
    return f"""# Curves

Written by `make bench-scale`: CPU seconds of whole commands, start-up included, and their peak memory, as there is more
to do. {LINES:,} lines of 100 B, a tenth of them in batches of few records; {BYTES:,} bytes of each size of record.
Of {ROUNDS} runs the least CPU, beside a sandbox. Start-up takes {start:.2f} s. In bold: a cost above start-up that
grew {BEND:g} times faster than its work, and did so in {AGAIN} measurements more, which is a defect. Beside other
programs: [benchmarks](benchmarks.md).

{machine()}
"""


def table(axis: str, curves: Curves, start: float) -> str:
    """The part of one axis."""
    places = next(iter(curves.values())).places
    out = [f"## {axis}", "", "| CPU seconds, MiB | " + " | ".join(f"{place:,}" for place in places) + " |"]
    return "\n".join([*out, "|---|" + "---:|" * len(places), *(curve.row(start) for curve in curves.values()), ""])


def main() -> int:
    parser = argparse.ArgumentParser(description="Costs along partitions, brokers, groups and sizes; bends in bold.")
    parser.add_argument("--only", choices=AXES, help="one axis")
    parser.add_argument("--most", type=int, default=LARGEST_PLACE, help="leave out places above this")
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with cluster() as ends:
        start = min(measure([KCLI, "topics", "list", *ends]).cpu for _ in range(ROUNDS))
    parts = [head(start)]
    print(parts[0], flush=True)
    bent = 0
    with tempfile.TemporaryDirectory(prefix="kcli-bench-") as folder:
        for axis, (curves_of, places) in AXES.items():
            if given.only in (None, axis):
                measured = partial(curves_of, folder=Path(folder))
                curves = confirmed(measured([place for place in places if place <= given.most]), measured, start)
                bent += sum(any(curve.bends(start)) for curve in curves.values())
                parts.append(table(axis, curves, start))
                print(parts[-1], flush=True)
    print(f"{bent} curves have a bend")
    if given.only is None and given.most >= LARGEST_PLACE:
        PAGE.write_text("\n".join(parts))
    return int(bent > 0)


if __name__ == "__main__":
    sys.exit(main())
