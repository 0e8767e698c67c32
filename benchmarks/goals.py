"""What the figures are to be, beside what they are, and what stops those that fall short: the last part of the page.

Read from the page itself, so that no figure is measured twice or copied by hand. `python -m benchmarks.goals` writes it
anew.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import with_part

PAGE = Path("docs/benchmarks.md")
TITLE = "## Goals, and what stops the rows that fall short"
MILLION = " (1,000,000)"
NUMBER = re.compile(r"-?[\d,]+(?:\.\d+)?")


class Page:
    """The tables of the page: a cell by part, row and column."""

    def __init__(self, text: str) -> None:
        self._cells: dict[tuple[str, str, str], str] = {}
        part, titles = "", list[str]()
        for line in text.splitlines():
            if line.startswith("## "):
                part, titles = line[3:], []
            elif not line.startswith("|"):
                titles = []
            elif not titles:
                titles = _cells(line)
            elif not line.startswith("|--"):
                name, *cells = _cells(line)
                self._cells |= {
                    (part, name, title): cell for title, cell in zip(titles[1:], cells, strict=True)
                }  # fmt: skip

    def cell(self, part: str, row: str, column: str) -> str:
        """Raises KeyError where the page has no such cell."""
        return next(cell for (a, b, c), cell in self._cells.items() if a.startswith(part) and (b, c) == (row, column))

    def rows(self, part: str) -> list[str]:
        """The names of the rows of a part, in order."""
        return list(dict.fromkeys(row for where, row, _ in self._cells if where.startswith(part)))

    def number(self, part: str, row: str, column: str) -> float:
        """The first number of a cell."""
        return _number(self.cell(part, row, column))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def _number(text: str) -> float:
    found = NUMBER.search(text)
    if found is None:
        raise ValueError(f"no number in {text!r}")
    return float(found[0].replace(",", ""))


WAS = {"lz4": 0.27, "zstd": 0.28}
"""Wall seconds of a million records of JSON that were produced on 2026-11-23."""
CPU, WALL, START, BOUNDS = "CPU nanoseconds", "Wall seconds", "Start-up", "Bounds"


@dataclass(frozen=True)
class Goal:
    """A figure beside its goal. `at_least`: the figure is to be no lower, and otherwise no higher. `bound` says what
    stops it, for a figure that falls short."""

    what: str
    figure: float
    goal: float
    unit: str
    bound: str = ""
    at_least: bool = False

    @property
    def held(self) -> bool:
        """As it is printed: a goal is not missed by what no reader sees."""
        shown = float(f"{self.figure:.3g}")
        return shown >= self.goal if self.at_least else shown <= self.goal

    @property
    def line(self) -> str:
        sign = "≥" if self.at_least else "≤"
        verdict = "held" if self.held else f"short: {self.bound}"
        return f"| {self.what} | {self.figure:.3g}{self.unit} | {sign} {self.goal:g}{self.unit} | {verdict} |"


def goals(page: Page) -> Iterator[Goal]:
    """Those of each kind, in the order of the page."""
    for kind in (_produced, _consumed, _searched, _secured, _single, _started, _grouped, _library, _held):
        yield from kind(page)


def _ratio(page: Page, row: str, peer: str = "kcat") -> float:
    return page.number(CPU, row, peer) / page.number(CPU, row, "kcli")


def _apart(page: Page, row: str) -> float:
    return page.number(CPU, row, "kcat / kcli CPU, both without start-up")


def _walls(page: Page, row: str, program: str) -> tuple[float, float]:
    """The median of the wall seconds, and the most MiB."""
    cell = page.cell(WALL, row, program)
    return _number(cell.split("–")[1]), _number(cell.rpartition(", ")[2])


def _produced(page: Page) -> Iterator[Goal]:
    keyed = "produce 8 B key + 100 B{}" + MILLION
    for spread, most in (("", 0.25), (", 10 partitions", 0.41), (", 100 partitions", 0.6), (", 1,000 partitions", 1.0)):
        row = keyed.format(spread)
        yield Goal(f"{row}: CPU", page.number(CPU, row, "kcli") / 1000, most, " s")
        (mine, room), (other, _) = (_walls(page, row, program) for program in ("kcli", "kcat"))
        yield Goal(f"{row}: wall, kcat's", mine, other, " s")
        yield Goal(f"{row}: memory", room, 100, " MiB")
    row = "produce 100 B, 1,000 partitions" + MILLION
    yield Goal(f"{row}: CPU", page.number(CPU, row, "kcli") / 1000, 0.3, " s")
    for codec, least in (("lz4", 2.0), ("zstd", 2.3)):
        row = f"produce JSON 138 B, {codec}" + MILLION
        yield Goal(f"{row}: kcat's CPU / kcli's", _ratio(page, row), least, "×", at_least=True)
        alone = page.number(BOUNDS, f"a record of JSON, {codec}, compressed", "CPU ns") / 1000
        begun, early = (page.number(START, "kcli produce, 10 records", column) / 1000 for column in ("wall", "CPU"))
        shared = begun + (page.number(CPU, row, "kcli") / 1000 - early) / 2
        why = (
            f"start-up, and the rest of kcli's work on both CPUs, take {shared:.2f} s, of which compression alone "
            f"is {alone / 2:.2f}; the broker is on the same two"
        )
        yield Goal(f"{row}: wall, half of that of 2026-11-23", _walls(page, row, "kcli")[0], WAS[codec] / 2, " s", why)
    row = "produce --input json 230 B with 3 headers" + MILLION
    yield Goal(f"{row}: CPU a record", page.number(CPU, row, "kcli") / 1000, 1.5, " µs")
    row, five = "produce 100 B, one record a batch (20,000)", "the same, five in flight"
    alone = page.number(BOUNDS, five, "CPU µs")
    equal = page.number(CPU, "produce 100 B, one record a batch, idempotent (20,000)", "kcat") / 1000
    bound = (
        f"five requests in flight keep the order; kcat takes {equal:.3g} µs with five, and has a million here. A "
        f"request made in advance, its response not read, is {alone:.3g} µs on asyncio"
    )
    yield Goal(f"{row}: CPU", page.number(CPU, row, "kcli") / 1000, 25, " µs", bound)


def _consumed(page: Page) -> Iterator[Goal]:
    for records in (3, 10, 30):
        for row in (f"consume 100 B, {records} records a batch ({count})" for count in ("100,000", "1,000,000")):
            for peer in ("kcat", "franz-go"):
                why = f"start-up; {_apart(page, row):g}× kcat's without that of both"
                yield Goal(f"{row}: {peer}'s CPU / kcli's", _ratio(page, row, peer), 1, "×", why, at_least=True)
    row = "consume 100 B, one record a batch" + MILLION
    yield Goal(f"{row}: CPU", page.number(CPU, row, "kcli"), 450, " ns")
    copied = page.number(BOUNDS, "a record of 1 KiB, its CRC and one copy", "CPU ns")
    for count, least in (("200,000", 1.0), ("1,000,000", 1.5)):
        row = f"consume 1 KiB ({count})"
        why = f"start-up ({_apart(page, row):g}× without that of both); the CRC and one copy are {copied:.0f} ns"
        yield Goal(f"{row}: kcat's CPU / kcli's", _ratio(page, row), least, "×", why, at_least=True)
    for codec, least in (("lz4", 4.0), ("zstd", 2.2)):
        row = f"consume JSON 138 B, {codec}" + MILLION
        name, best = _fastest(page, codec)
        why = f"the fastest decoder, {name}, takes {best:.0f} ns a record; {_apart(page, row):g}× without start-up"
        yield Goal(f"{row}: kcat's CPU / kcli's", _ratio(page, row), least, "×", why, at_least=True)
        (mine, _), (other, _) = (_walls(page, row, program) for program in ("kcli", "kcat"))
        yield Goal(f"{row}: kcat's wall / kcli's", other / mine, 5, "×", why, at_least=True)
    row, bound = "consume 1 MB (500)", page.number(BOUNDS, "a record of 1 MB, its CRC and one copy", "CPU ns") / 1e6
    begun = page.number(START, "kcli consume, 10 records", "CPU") / 500
    why = f"start-up is {begun:.2g} ms of it; the CRC and one copy are {bound:.2g} ms"
    yield Goal(f"{row}: CPU", page.number(CPU, row, "kcli") / 1e6, 0.25, " ms", why)
    for what, most in (("consume -J 100 B", 1344), ("consume -f '%k\\t%s\\n' 8 B key + 100 B", 1200)):
        row = what + MILLION
        yield Goal(f"{row}, plain Python: CPU", page.number(CPU, row, "kcli, plain Python"), most, " ns")


def _fastest(page: Page, codec: str) -> tuple[str, float]:
    names = ("kcli", *(("python-lz4",) if codec == "lz4" else ("zstandard",)), "cramjam")
    costs = {
        name: page.number(BOUNDS, f"a record of JSON, {codec}, decompressed by {name}", "CPU ns") for name in names
    }
    return min(costs.items(), key=lambda item: item[1])


def _searched(page: Page) -> Iterator[Goal]:
    searches = {
        "--grep 'user-00077' JSON 138 B": 0.1,
        "--grep 'user-0007[0-9]' JSON 138 B": 0.4,
        "--where 'headers.n == \"77\"' 230 B with 3 headers": 0.5,
        "--where 'value.id == 77' JSON 138 B": 1.0,
    }
    begun = page.number(START, "kcli consume, 10 records", "CPU") / 1000
    for what, most in searches.items():
        row = f"consume {what}" + MILLION
        yield Goal(
            f"{row}: CPU", page.number(CPU, row, "kcli") / 1000, most, " µs", f"start-up is {begun:.2g} µs of it"
        )


def _secured(page: Page) -> Iterator[Goal]:
    alone = page.number(BOUNDS, "a record of 100 B, TLS, a blocking socket", "CPU ns")
    sizes = {"100 B": alone, "1 KiB": page.number(BOUNDS, "a record of 1 KiB, TLS, a blocking socket", "CPU ns")}
    for verb in ("produce", "consume"):
        for size, least in sizes.items():
            row = f"{verb} {size}, TLS" + MILLION
            mine, other = (page.number(CPU, row, program) for program in ("kcli", "kcat"))
            why = f"kcat's {other:.0f} ns against {least:.0f} of TLS alone from a socket that blocks; kcli's {mine:.0f}"
            yield Goal(f"{row}: kcat's CPU / kcli's", other / mine, 2, "×", why, at_least=True)


def _single(page: Page) -> Iterator[Goal]:
    part, row = "One record at a time", "kcli, linger.ms 0"
    other = "confluent-kafka, linger.ms 0"
    alone = page.number(BOUNDS, "the same, 1,000 a second", "CPU µs")
    for column, scale, most, unit in (
        ("p50", 1, 0.2, " ms"),
        ("p99", 1, 0.35, " ms"),
        ("CPU a record", 1000, 110, " µs"),
    ):
        why = f"confluent-kafka's {page.number(part, other, column) * scale:.3g}{unit}"
        if column.startswith("CPU"):
            why += f"; a request made in advance, its response not read, is {alone:.3g} µs on asyncio at this pace"
        figure = page.number(part, row, column) * scale
        yield Goal(f"`send` to its acknowledgement, linger.ms 0: {column}", figure, most, unit, why)
    lines = "From a produced line"
    for row in ("kcli produce -X linger.ms=0, kcli consume", "kcli produce, kcli consume"):
        why = "the producer waits 5 ms for more records (linger.ms)"
        yield Goal(f"a line from {row}: p99", page.number(lines, row, "p99"), 5, " ms", why)


def _started(page: Page) -> Iterator[Goal]:
    python = page.number(START, "python -c pass", "wall")
    for row in ("kcli consume, 10 records", "kcli topics list", "kcli lag, 10 groups"):
        why = f"Python itself is {python:g} ms of it"
        yield Goal(f"{row}: wall", page.number(START, row, "wall"), 40, " ms", why)


def _grouped(page: Page) -> Iterator[Goal]:
    part, column = "A group of two", "CPU ns a record"
    one, two, other = (page.number(part, f"{name} process{more}", column) for name, more in (
        ("kcli, one", ""), ("kcli, 2", "es"), ("kcat, 2", "es"),
    ))  # fmt: skip
    start = page.number(START, "kcli consume, 10 records", "CPU") * 1e6 / 10_000_000
    why = f"the second process's start-up and its fetches: {start:.2g} ns a record are start-up"
    yield Goal("a group of two processes: CPU against one", two / one, 1.1, "×", why)
    yield Goal("a group of two processes: kcat's CPU / kcli's", other / two, 3, "×", at_least=True)
    room = page.number(part, "kcli, 2 processes", "peak MiB a process")
    yield Goal("a group of two processes: memory of each", room, 60, " MiB")


def _library(page: Page) -> Iterator[Goal]:
    send, loop = "library: `send` in a loop, 100 B" + MILLION, "library: a loop over messages, 100 B" + MILLION
    member = "library: a loop over messages in a group, 100 B (200,000)"
    other = page.number(CPU, send, "aiokafka")
    instead = {
        send: f"the same call on asyncio costs aiokafka {other:.0f} ns; `send_columns` takes rows in columns",
        loop: "an object of Python a record, where confluent-kafka's is C; the batches of `poll` have none",
        member: "as without a group, and the start of the program",
    }
    for row, why in instead.items():
        if row not in page.rows(CPU):
            continue  # the page is older than the row
        yield Goal(f"{row}: confluent-kafka's CPU / kcli's", _ratio(page, row, "confluent-kafka"), 1, "×", why, True)


def _held(page: Page) -> Iterator[Goal]:
    """The most memory of kcli in any row but that of a thousand partitions, which has a limit of its own."""
    rows = [row for row in page.rows(WALL) if "1,000 partitions" not in row]
    yield Goal("memory, all other rows of the table", max(_walls(page, row, "kcli")[1] for row in rows), 60, " MiB")


def section(text: str) -> str:
    """The part of the page, of the rest of the page."""
    found = list(goals(Page(text)))
    held = sum(goal.held for goal in found)
    out = ["", TITLE, "", f"{held} of {len(found)} are held. Each figure is from the tables above.", ""]
    out += ["| | figure | goal | |", "|---|---:|---:|---|", *(goal.line for goal in found)]
    return "\n".join(out) + "\n"


def main() -> int:
    text = PAGE.read_text()
    PAGE.write_text(with_part(text, TITLE, section(text)) if TITLE in text else text + section(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
