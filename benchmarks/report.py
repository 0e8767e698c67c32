"""The figures as a table people can check: CPU per record, wall seconds, ratios to kcat, spread, versions."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import subprocess

from benchmarks import optional
from benchmarks.cases import KCLI, Job
from benchmarks.outage import LIMIT
from benchmarks.process import Run, median

Found = dict[str, list[tuple[Run, int]]]
ORDER = ["kcli", "kcli, plain Python", "kcat", "confluent", "aiokafka", "kafka_python", "franz-go", "java"]
SINGLE = "## One record at a time: `send` to acknowledgement, 1,000 a second (milliseconds)"
NAMES = {"confluent": "confluent-kafka", "kafka_python": "kafka-python", "java": "Kafka's console tools"}


def chosen(text: str) -> set[str]:
    """The programs that a comma-separated text names; a name may have a comma itself. Raises ValueError."""
    found: set[str] = set()
    rest = text.strip()
    while rest:
        known = [name for name in ORDER if rest == name or rest.startswith(f"{name},")]
        if not known:
            raise ValueError(f"no program is named {rest.partition(',')[0]}; there are: {'; '.join(ORDER)}")
        name = max(known, key=len)
        found.add(name)
        rest = rest[len(name) + 1 :].strip()
    return found


def cpu_ns(runs: list[tuple[Run, int]]) -> float:
    return median([run.cpu / count * 1e9 for run, count in runs])


def wall_ns(runs: list[tuple[Run, int]]) -> float:
    return median([run.wall / count * 1e9 for run, count in runs])


def line(job: Job, found: Found) -> str:
    """One row as it is measured, for the person who waits."""
    parts = [f"{name} {cpu_ns(runs):.0f}/{wall_ns(runs):.0f}" for name, runs in found.items()]
    return f"{job.label}: CPU/wall ns per record: " + "; ".join(parts)


def table(rows: list[tuple[Job, Found]], rounds: int, starts: dict[str, list[Run]] | None = None) -> str:
    """The rows, with the machine and the versions they are of; with `starts`, also without the start-up of both."""
    names = [name for name in ORDER if any(name in found for _, found in rows)]
    out = [
        "# Benchmarks",
        "",
        "Written by `make bench`. Whole processes, start-up included, CPU = user + system seconds of the client",
        f"process as the operating system counted them; medians of {rounds} interleaved runs after a warm-up, on",
        "one broker (kcli's sandbox in a process of its own, which only stores and returns batches) and one partition",
        "unless the row says more,",
        "acks=all. kcli is idempotent in all rows, with five requests in flight; kcat in the row that says so, and in",
        "the others it has a million. A batch of one record is where that counts.",
        "kcli checks every CRC, kcat by default does not. kafka-python gets a tenth of the records. kcat",
        "searches with grep or jq behind it. franz-go and Kafka's console tools are measured where Go and Java are.",
        "What the CPU of each row is spent on: [where the time goes](where-the-time-goes.md). How costs grow with",
        "partitions, brokers, groups and sizes: [curves](curves.md).",
        "",
        machine(),
        "",
        f"{_versions()}.",
        "",
        "## CPU nanoseconds per record (and kcat's figure divided by kcli's)",
        "",
        "| | "
        + " | ".join(NAMES.get(n, n) for n in names)
        + " | kcat / kcli CPU | kcat lowest / kcli | kcat / kcli wall |"
        + (" kcat / kcli CPU, both without start-up |" if starts else ""),
        "|---|" + "---:|" * (len(names) + 3 + bool(starts)),
    ]
    for job, found in rows:
        cells = [f"{cpu_ns(found[n]):.0f}" if n in found else "" for n in names]
        ratios = ["", "", ""]
        if "kcat" in found and "kcli" in found:
            low = min(run.cpu / count * 1e9 for run, count in found["kcat"])
            mine = cpu_ns(found["kcli"])
            ratios = [f"{cpu_ns(found['kcat']) / mine:.1f}×", f"{low / mine:.1f}×",
                      f"{wall_ns(found['kcat']) / wall_ns(found['kcli']):.1f}×"]  # fmt: skip
        if starts:
            ratios.append(apart(job, found, starts))
        out.append(f"| {job.label} ({job.data.count:,}) | " + " | ".join(cells + ratios) + " |")
    out += ["", "## Wall seconds (minimum – median – maximum) and peak memory", "",
            "| | " + " | ".join(NAMES.get(n, n) for n in names) + " |", "|---|" + "---|" * len(names)]  # fmt: skip
    for job, found in rows:
        out.append(f"| {job.label} ({job.data.count:,}) | " + " | ".join(_wall(found.get(n)) for n in names) + " |")
    return "\n".join(out) + "\n"


def apart(job: Job, found: Found, starts: dict[str, list[Run]]) -> str:
    """kcat's CPU by kcli's, each without that of ten records, which is start-up."""
    if "kcat" not in found or "kcli" not in found:
        return ""
    kcli, kcat = ("kcli produce", "kcat -P") if job.writes else ("kcli consume", "kcat -C")
    rest = {
        program: cpu_ns(found[program]) * job.data.count / 1e9
        - median([run.cpu for run in starts[f"{start}, 10 records"]])
        for program, start in (("kcli", kcli), ("kcat", kcat))
    }
    return f"{rest['kcat'] / rest['kcli']:.1f}×" if rest["kcli"] > 0 else ""


def figures(page: str) -> dict[str, dict[str, str]]:
    """The first table of the page: row to program to nanoseconds of CPU."""
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|")
    ]
    titles, found = lines[0][1:], {}
    for cells in lines[2:]:
        if cells[0] == "":
            break  # the next table
        found[cells[0]] = dict(zip(titles, cells[1:], strict=True))
    return found


def with_figures(readme: str, page: str) -> str:
    """README with the figures of the page in its own table."""
    found, titles, out = figures(page), [""], []
    for line in readme.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| | kcli |"):
            titles = cells
        elif line.startswith("|") and cells[0] in found:
            line = f"| {' | '.join([cells[0], *(found[cells[0]][title] for title in titles[1:])])} |".replace(
                "|  |", "| |"
            )
        out.append(line)
    return "\n".join(out) + "\n"


def markdown(
    rows: list[tuple[Job, Found]],
    starts: dict[str, list[Run]],
    rounds: int,
    delays: dict[tuple[str, str], list[float]],
    held: dict[str, Run],
) -> str:
    """The whole page."""
    out = [table(rows, rounds, starts).rstrip("\n")]
    out += ["", "## Start-up (milliseconds, medians)", "", "| | CPU | wall |", "|---|---:|---:|"]
    for name, runs in starts.items():
        cpu, wall = median([r.cpu for r in runs]) * 1000, median([r.wall for r in runs]) * 1000
        out.append(f"| {name} | {cpu:.0f} | {wall:.0f} |")
    out += [latency(delays).rstrip("\n")]
    if held:
        out += ["", "## Memory while the broker does not answer", ""]
    for seconds, run in held.items():
        out.append(
            f"`kcli produce` of 10,000,000 records, {seconds} s of them without a broker: {run.peak_mib:.0f} MiB at "
            f"most; the limit, three times buffer.memory, is {LIMIT:.0f} MiB. Longer: `python -m benchmarks.outage 60`."
        )
    return "\n".join(out) + "\n"


def latency(delays: dict[tuple[str, str], list[float]]) -> str:
    """The part of the page about records that are sent one at a time."""
    out = ["", SINGLE, "", "| | p50 | p99 | CPU a record |", "|---|---:|---:|---:|"]
    for (program, linger), (middle, most, cpu) in delays.items():
        name = f"{NAMES.get(program, program)}, linger.ms {linger}"
        out.append(f"| {name} | {middle:.2f} | {most:.2f} | {cpu / 5000:.3f} |")
    return "\n".join(out) + "\n"


def machine() -> str:
    """The day, and what is measured on."""
    return f"{datetime.date.today()}, {os.cpu_count()} CPUs ({_cpu()}), {platform.system()} {platform.release()}."


def with_part(page: str, title: str, text: str) -> str:
    """The page with another text for the part of this title. Raises ValueError where the page has no such part."""
    before, found, after = page.partition(f"\n{title}")
    if not found:
        raise ValueError(f"the page has no part {title}: make bench")
    return before + text + "".join(after.partition("\n## ")[1:])


def _wall(runs: list[tuple[Run, int]] | None) -> str:
    if not runs:
        return ""
    walls = sorted(run.wall for run, _ in runs)
    return f"{walls[0]:.2f} – {median(walls):.2f} – {walls[-1]:.2f}, {max(run.peak_mib for run, _ in runs):.0f} MiB"


def _cpu() -> str:
    with open("/proc/cpuinfo") as info:
        return next((row.split(":", 1)[1].strip() for row in info if row.startswith("model name")), platform.machine())


def _versions() -> str:
    kcat = subprocess.run(["kcat", "-V"], capture_output=True, text=True).stdout
    kcat = next((row.strip() for row in kcat.splitlines() if row.startswith("Version")), "kcat ?")
    mine = subprocess.run([KCLI, "--version"], capture_output=True, text=True).stdout.strip()
    peers = ", ".join(f"{p} {importlib.metadata.version(p)}" for p in ("confluent-kafka", "aiokafka", "kafka-python"))
    more = "".join(f", {peer}" for peer in optional.versions())
    return (
        f"CPython {platform.python_version()}, {mine}, kcat {kcat.split('(')[0]}({kcat.split(', ')[-1]}, {peers}{more}"
    )
