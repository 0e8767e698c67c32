"""`make bench`: run the matrix interleaved, print the table of ratios, write it to docs/benchmarks.md.

Each round runs every program of a row once, so that a machine whose speed drifts treats all alike. The broker is kcli's
sandbox in a process of its own: it only stores and returns batches, and its CPU is in nobody's figure.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import bound, broker, cases, dashboard, end_to_end, goals, group, outage, report, scale, schemas, where
from benchmarks.files import SLOW, files_of, shares
from benchmarks.process import Run, measure

PAGE, README = "docs/benchmarks.md", Path("README.md")
RATE, RATE_SECONDS = 1000, 5
WHOLE = (end_to_end.section, group.section, bound.section, scale.section, dashboard.section, schemas.section)
"""What follows the table, in this order."""
LULL = 5.0  # seconds without a broker
HELP_MS, CONSUME_MS = 150, 50  # the limits of start-up, in CPU


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="1.0 is a million records of 100 bytes")
    parser.add_argument("--only", default="", help="rows whose label contains this")
    parser.add_argument("--programs", default="", help="comma-separated programs; default all")
    parser.add_argument("--output", default=PAGE, help="'' writes no file")
    parser.add_argument("--start-up", action="store_true", help="start-up only; exit 1 where it is above its limit")
    parser.add_argument(
        "--reproduce", metavar="ROW", help="measure the rows whose label contains this, and print them with the machine"
    )
    given = parser.parse_args()
    if given.reproduce is not None:
        return _reproduce(given.reproduce, given.rounds, given.scale)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # start-up is measured with compiled modules, as people have them
    if given.start_up:
        with broker.sandbox() as bootstrap:
            return _check_start_up(_startup(bootstrap, max(given.rounds, 7)))
    wanted = [job for job in cases.jobs(given.scale) if given.only in job.label]
    try:
        chosen = report.chosen(given.programs)
    except ValueError as error:
        parser.error(str(error))
    with tempfile.TemporaryDirectory(prefix="kcli-bench-") as folder, broker.sandbox() as bootstrap:
        files = files_of(Path(folder), wanted)
        rows = _rows(wanted, bootstrap, files, given.rounds, chosen)
        starts = _startup(bootstrap, 20)
        delays = _latency(bootstrap)
        held = {f"{LULL:g}": outage.outage(_long(files), LULL)} if _long(files) is not None else {}
    text = report.markdown(rows, starts, given.rounds, delays, held)
    whole = not given.only and not chosen
    page = Path(given.output) if given.output and whole else None
    for make in WHOLE if whole else ():
        if page is not None:
            page.write_text(text)  # a part that fails does not lose those before it
        text += make()
    text += goals.section(text) if whole else ""
    print(text)
    if page is not None:
        page.write_text(text)
        if given.output == PAGE:  # and not a page for somebody else
            README.write_text(report.with_figures(README.read_text(), text))
            where.PAGE.write_text(where.page(where.sampled(wanted, where.ROUNDS)))
    return 0


def _latency_table() -> str:
    with broker.sandbox() as bootstrap:
        return report.latency(_latency(bootstrap))


PARTS = {
    end_to_end.TITLE: end_to_end.section,
    group.TITLE: group.section,
    bound.TITLE: bound.section,
    report.SINGLE: _latency_table,
}
"""Parts of the page that are no row of the table."""


def _reproduce(label: str, rounds: int, scale: float) -> int:
    """Print the table of some rows, as this machine has it; 2, and what rows there are, where none is called so."""
    wanted = [job for job in cases.jobs(scale) if label in job.label]
    parts = [make for title, make in PARTS.items() if label in title]
    for make in parts:
        print(make())
    if label in schemas.ARROW:
        print(schemas.arrow_table(max(rounds, 5)))
    elif not wanted and not parts:
        known = [*(job.label for job in cases.jobs(scale)), schemas.ARROW, *(title.strip("# ") for title in PARTS)]
        print(f"no row has {label!r} in it; there are:", *[f"  {one}" for one in known], sep="\n")
        return 2
    if not wanted:
        return 0
    with tempfile.TemporaryDirectory(prefix="kcli-bench-") as folder, broker.sandbox() as bootstrap:
        files = files_of(Path(folder), wanted)
        rows = _rows(wanted, bootstrap, files, rounds, set())
    print(report.table(rows, rounds))
    return 0


Row = tuple[cases.Job, dict[str, list[tuple[Run, int]]]]


def _rows(wanted: list[cases.Job], bootstrap: str, files: dict[str, Path], rounds: int, chosen: set[str]) -> list[Row]:
    """The rows on the broker of the run, and those of TLS on a sandbox that speaks it."""
    rows = [_row(job, bootstrap, files, rounds, chosen) for job in wanted if not job.tls]
    if any(job.tls for job in wanted):
        with broker.Sandbox(tls=True) as secure:
            rows += [_row(job, secure.bootstrap, files, rounds, chosen, secure.words) for job in wanted if job.tls]
    return rows


def _row(
    job: cases.Job,
    bootstrap: str,
    files: dict[str, Path],
    rounds: int,
    chosen: set[str],
    words: Sequence[str] = (),
) -> tuple[cases.Job, dict[str, list[tuple[Run, int]]]]:
    """All rounds of one row: program to its runs and how many records each moved. `words` are for each command."""
    found: dict[str, list[tuple[Run, int]]] = {}
    stem = f"{job.verb}-{job.data.name}-{job.codec}" + "-idempotent" * job.idempotent
    if not job.writes:
        for share in shares(job):
            topic = f"{stem}-{share}"
            broker.create(bootstrap, topic, words=words)
            fill, _ = cases.commands(cases.filling(job), bootstrap, topic)["kcli"]
            measure([*fill, *words], stdin=str(files[f"{job.data.name}.{share}"]))
    for turn in range(rounds + 1):  # the first is a warm-up
        for program, (argv, extra) in cases.commands(job, bootstrap, "TOPIC").items():
            if chosen and program not in chosen:
                continue
            share = SLOW.get(program, 1)
            if job.writes:
                topic = f"{stem}-{share}-{turn}-{program.replace(' ', '').replace(',', '-')}"
                broker.create(bootstrap, topic, job.data.partitions, words)
                source = str(files[f"{job.data.name}.{share}"])
            else:
                topic, source = f"{stem}-{share}", os.devnull
            os.environ.update(extra)
            try:
                names = {"TOPIC": topic, "GROUP": f"{topic}-{turn}-{program}"}  # a group that has read nothing yet
                run = measure([named(word, names) for word in (*argv, *words)], stdin=source)
            finally:
                for name in extra:
                    del os.environ[name]
                if job.writes:
                    broker.delete(bootstrap, topic, words)
            if turn:
                found.setdefault(program, []).append((run, job.data.count // share))
    if not job.writes:
        for share in shares(job):
            broker.delete(bootstrap, f"{stem}-{share}", words)
    print(report.line(job, found), file=sys.stderr)
    return job, found


def named(word: str, names: dict[str, str]) -> str:
    """A word with the names of this run in it."""
    for name, given in names.items():
        word = word.replace(name, given)
    return word


def _long(files: dict[str, Path]) -> Path | None:
    """The file that takes longest to send, if it is part of this run."""
    return files.get("text10.1")


def _latency(bootstrap: str) -> dict[tuple[str, str], list[float]]:
    """(program, linger) to p50 and p99 from `send` to the acknowledgement, and CPU, all in ms."""
    broker.create(bootstrap, "latency")
    found: dict[tuple[str, str], list[float]] = {}
    for linger in ("default", "0"):
        for program in ("kcli", "confluent"):
            script = str(cases.PEERS / f"{program}_latency.py")
            words = [cases.PYTHON, script, bootstrap, "latency", linger, str(RATE), str(RATE_SECONDS)]
            found[program, linger] = json.loads(subprocess.check_output(words, timeout=120))
    return found


def _startup(bootstrap: str, rounds: int) -> dict[str, list[Run]]:
    """What a command costs before it does anything: --version, --help, ten records in, ten records out, short lists."""
    broker.create(bootstrap, "ten")
    for number in range(10):
        reset = [
            "groups",
            "reset",
            f"ten-{number}",
            "-t",
            "ten",
            "--to-earliest",
            "--create",
            "--execute",
            "-b",
            bootstrap,
        ]
        subprocess.run([cases.KCLI, *reset], check=True, capture_output=True, timeout=60)
    with tempfile.NamedTemporaryFile() as ten:
        ten.write(b"".join(b"line %d\n" % n for n in range(10)))
        ten.flush()
        kcli = cases.KCLI
        measure([kcli, "produce", "ten", "-b", bootstrap], stdin=ten.name)
        ends = ["-b", bootstrap, "-o", "beginning", "-e", "-q"]
        what = {
            "kcli --version": ([kcli, "--version"], os.devnull),
            "kcat -V": (["kcat", "-V"], os.devnull),
            "kcli --help": ([kcli, "--help"], os.devnull),
            "kcli consume, 10 records": ([kcli, "consume", "ten", *ends], os.devnull),
            "kcat -C, 10 records": (["kcat", "-C", "-t", "ten", *ends], os.devnull),
            "kcli produce, 10 records": ([kcli, "produce", "ten-in", "-b", bootstrap], ten.name),
            "kcat -P, 10 records": (["kcat", "-P", "-t", "ten-in", "-b", bootstrap], ten.name),
            "kcli topics list": ([kcli, "topics", "list", "-b", bootstrap], os.devnull),
            "kcli lag, 10 groups": ([kcli, "lag", "-b", bootstrap], os.devnull),
            "python -c pass": ([cases.PYTHON, "-c", "pass"], os.devnull),
        }
        broker.create(bootstrap, "ten-in")
        runs: dict[str, list[Run]] = {name: [] for name in what}
        for _ in range(rounds):
            for name, (argv, source) in what.items():
                runs[name].append(measure(argv, stdin=source))
    return runs


def _check_start_up(runs: dict[str, list[Run]]) -> int:
    """Print the medians of CPU in ms beside their limits; 1 when one is above."""
    cpu = {name: statistics.median(1000 * run.cpu for run in each) for name, each in runs.items()}
    checks = [
        ("kcli --help, more than python", cpu["kcli --help"] - cpu["python -c pass"], HELP_MS),
        ("kcli consume, 10 records", cpu["kcli consume, 10 records"], CONSUME_MS),
    ]
    for name, milliseconds in cpu.items():
        print(f"{name:32} {milliseconds:6.1f} ms")
    for name, milliseconds, limit in checks:
        print(f"{name:32} {milliseconds:6.1f} ms, limit {limit}: {'holds' if milliseconds <= limit else 'above'}")
    return int(any(milliseconds > limit for _, milliseconds, limit in checks))


if __name__ == "__main__":
    sys.exit(main())
