"""Full speed under trouble: a flood of lines in bulk, and what is in the log of it at the end.

The numbers of a flood ascend as they were sent, so they ascend in every partition, and a batch's outcome tells where
its records must stand.
"""

from __future__ import annotations

import subprocess
import sys
import time
from array import array
from collections import Counter
from itertools import islice
from operator import ge

from tests.kafka.cluster import Kafka
from tests.programs import KCLI, Background


class Flood:
    """`with Flood(...) as flood:` pours all the while; hurt the cluster inside; `stop` it, and `verify` when all is
    well again."""

    def __init__(
        self, kafka: Kafka, topic: str, partitions: int, mode: str, *, rate: int = 0, **settings: object
    ) -> None:
        self._kafka, self._topic, self._partitions = kafka, topic, partitions
        words = [sys.executable, "-m", "tests.kafka.flood", kafka.bootstrap, topic, mode, str(rate)]
        words += [f"{name}={value}" for name, value in settings.items()]
        self.mode, self._words = mode, words

    def __enter__(self) -> Flood:
        self._began = time.monotonic()
        self._writer = Background(self._words, stdout=self._kafka.root / f"{self._topic}.flood", stdin=subprocess.PIPE)
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.__exit__()

    def progress(self, batches: int = 20, within: float = 60.0) -> None:
        """Until so many more batches are acknowledged. Raises AssertionError."""
        deadline = time.monotonic() + within
        wanted = self._writer.out.count(b"acked\n") + batches
        while self._writer.out.count(b"acked\n") < wanted:
            assert self._writer.process.poll() is None, f"the flood ended: {self._writer.err}"
            assert time.monotonic() < deadline, f"no progress in {within} s: {self._writer.err[-2000:]}"
            time.sleep(0.1)

    def stop(self, within: float = 120.0) -> None:
        """No more input; every record accepted gets its outcome. Raises AssertionError, TimeoutExpired."""
        assert self._writer.process.stdin is not None
        self._writer.process.stdin.close()
        code = self._writer.process.wait(within)
        self.seconds = time.monotonic() - self._began
        assert code == 0, self._writer.err

    def verify(self, reader: str = "kcli") -> dict[str, int]:
        """Compare what was told with what is there. Raises AssertionError naming the broken promises; the figures."""
        *rows, last = self._writer.out.decode().splitlines()
        told = [(int(row[0]), int(row[1]), int(row[2]), row[3]) for row in map(str.split, rows)]
        logs = {n: numbers(self._kafka, self._topic, n, reader) for n in range(self._partitions)}
        sent = int(last.removeprefix("sent "))
        found = problems(sent, told, logs)
        assert not found, f"{len(found)} broken promises: " + "; ".join(found[:10])
        counts: Counter[str] = Counter()
        for _, count, _, how in told:
            counts[how] += count
        return {"acked": counts["acked"], "failed": counts["failed"], "unknown": counts["unknown"]}


def numbers(kafka: Kafka, topic: str, partition: int, reader: str) -> array[int]:
    """The numbers of a partition's records, as one reader sees them from the first offset to the end."""
    path = kafka.root / f"{topic}.{partition}.read"
    where = ["-b", kafka.bootstrap, "-p", str(partition), "-o", "beginning", "-e"]
    if reader == "kcli":
        words = [*KCLI, "consume", topic, *where, "-q"]
    else:
        words = ["kcat", "-C", "-t", topic, *where, "-q", "-X", "check.crcs=true"]
    with path.open("wb") as out:
        done = subprocess.run(words, stdout=out, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=180)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    with path.open("rb") as lines:
        found = array("q", (int(line.partition(b" ")[0]) for line in lines))
    path.unlink()
    return found


Told = list[tuple[int, int, int, str]]


def problems(sent: int, told: Told, logs: dict[int, array[int]]) -> list[str]:
    """Every promise that was broken, as sentences. `told` are the outcomes (partition, count, base offset or -1, how),
    `logs` the numbers of each partition from offset 0 on."""
    found: list[str] = []
    counts: Counter[str] = Counter()
    for _, count, _, how in told:
        counts[how] += count
    ends = dict.fromkeys(logs, 0)
    # a batch that is tried again may be told after its successors: the places count, not the order of telling
    for partition, base, count in sorted((one[0], one[2], one[1]) for one in told if one[3] == "acked"):
        if 0 <= base < ends[partition]:
            found.append(f"partition {partition}: {count} records acknowledged at {base}, and others there too")
        if base >= 0:
            ends[partition] = base + count
    for partition, log in logs.items():
        if ends[partition] > len(log):
            found.append(f"partition {partition}: {ends[partition] - len(log)} acknowledged records past its end")
        where = next((at for at, bad in enumerate(map(ge, log, islice(log, 1, None))) if bad), None)
        if where is not None:
            found.append(f"partition {partition}: {log[where + 1]} after {log[where]}, out of order or twice")
    total = sum(map(len, logs.values()))
    distinct = {number for log in logs.values() for number in log}
    if len(distinct) != total:
        found.append(f"{total - len(distinct)} records are in the log twice")
    if distinct and not 0 <= min(distinct) <= max(distinct) < sent:
        found.append("a record was read and never sent")
    if sum(counts.values()) != sent:
        found.append(f"{sent} records sent, {sum(counts.values())} settled")
    if len(distinct) < counts["acked"]:
        found.append(f"{counts['acked'] - len(distinct)} acknowledged records are lost")
    if len(distinct) > counts["acked"] + counts["unknown"]:
        found.append(f"{len(distinct) - counts['acked'] - counts['unknown']} failed records are in the log")
    return found
