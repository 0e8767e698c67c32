"""Ten thousand topics, five thousand groups: seconds, memory and requests of the commands that look at all of them.

Requests are those of a second run, counted from its --trace-file: they may grow with brokers, never with things.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.cases import KCLI
from benchmarks.process import Run, measure
from kcli.admin.groups.commits import write_commits
from kcli.admin.topics.topics import NewTopic, create_topics
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.settings import ClientSettings, parse_bootstrap

TOPICS, GROUPS, PARTITIONS, BROKERS = 10_000, 5_000, 2, 3
ASKED = re.compile(r" > \[.*? (\w+) v\d+ #")
TOGETHER = 50
COMMANDS: dict[str, list[str]] = {
    "topics list": ["topics", "list"],
    "topics stats --over 0": ["topics", "stats", "--over", "0"],
    "configs list topic": ["configs", "list", "topic"],
    "groups list": ["groups", "list"],
    "lag": ["lag"],
    "lag --by partition": ["lag", "--by", "partition"],
    "export --only topics": ["export", "--only", "topics"],
    "diff FILE": ["diff", "FILE"],
}


async def fill(bootstrap: str, topics: int, groups: int) -> None:
    """Make this number of topics, and of groups that have each committed in one of them."""
    async with Client(ClientSettings(bootstrap=parse_bootstrap(bootstrap))) as client:
        names = [f"topic-{number:05}" for number in range(topics)]
        for at in range(0, topics, 1000):
            new = [NewTopic(topic=name, partitions=PARTITIONS) for name in names[at : at + 1000]]
            await create_topics(client.cluster, new)
        for at in range(0, groups, TOGETHER):
            await asyncio.gather(*(
                write_commits(Coordinators(client.cluster), f"group-{number:05}", {
                    TopicPartition(names[number % topics], partition): OffsetAndMetadata(offset=0)
                    for partition in range(PARTITIONS)
                })
                for number in range(at, min(at + TOGETHER, groups))
            ))  # fmt: skip


def asked(trace: Path) -> Counter[str]:
    """How many requests of each API a --trace-file has."""
    return Counter(ASKED.findall(trace.read_text()))


def figures(bootstrap: str, folder: Path) -> dict[str, tuple[Run, Counter[str]]]:
    """Each command run once for time and memory, and once more for its requests."""
    found = {}
    file = folder / "cluster.yaml"
    ends = ["-b", bootstrap]
    file.write_bytes(subprocess.run([KCLI, "export", *ends], check=True, capture_output=True, timeout=300).stdout)
    for name, words in COMMANDS.items():
        line = [KCLI, *(str(file) if word == "FILE" else word for word in words), *ends]
        trace = folder / "trace"
        run = measure(line)
        measure([*line, "--trace-file", str(trace)])
        found[name] = (run, asked(trace))
        trace.unlink()
        print(f"{name}: {run.wall:.2f} s, {found[name][1]}", file=sys.stderr)
    return found


def section(topics: int = TOPICS, groups: int = GROUPS) -> str:
    """Its part of the page."""
    out = [
        f"\n## {topics:,} topics of {PARTITIONS} partitions, {groups:,} groups, {BROKERS} brokers\n",
        "| | wall seconds | CPU seconds | peak MiB | requests |",
        "|---|---:|---:|---:|---|",
    ]
    words = [KCLI, "sandbox", "--port", "0", "--brokers", str(BROKERS), "--format", "json"]
    with tempfile.TemporaryDirectory(prefix="kcli-bench-") as folder:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            bootstrap = json.loads(process.stdout.readline())["bootstrap"]
            asyncio.run(fill(bootstrap, topics, groups))
            for name, (run, counts) in figures(bootstrap, Path(folder)).items():
                said = ", ".join(f"{count} {api}" for api, count in sorted(counts.items()))
                out.append(f"| `kcli {name}` | {run.wall:.2f} | {run.cpu:.2f} | {run.peak_mib:.0f} | {said} |")
        finally:
            process.terminate()
            process.wait(30)
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=TOPICS)
    parser.add_argument("--groups", type=int, default=GROUPS)
    given = parser.parse_args()
    print(section(given.topics, given.groups))
