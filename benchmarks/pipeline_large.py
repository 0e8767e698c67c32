"""One large topic into a Delta table on a standalone cluster of two workers, with --compact: the largest task, the
files before and after, the memory of the driver and of the workers, wall and CPU.

python -m benchmarks.pipeline_large --gigabytes 20 --digits 128 --compression none    # 25 GB of disk
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from math import ceil
from pathlib import Path

import deltalake
import pyarrow as pa

from kcli.admin.storage import log_dirs
from kcli.pipeline.session.session import Session, SessionSettings
from tests.kafka.cluster import Kafka
from tests.pipeline.daemons import standalone_of
from tests.pipeline.topics import Topics
from tests.pipeline.tree import cpu, descendants

PARTITIONS, SIZE = 4, 1024
WORDS = "broker cluster topic partition offset leader follower replica epoch batch record header "
EXECUTORS = ("spark.executor.memory=700m", "spark.executor.cores=1", "spark.driver.host=127.0.0.1")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--gigabytes", type=float, default=20.0, help="of values")
    parser.add_argument(
        "--digits",
        type=int,
        default=SIZE,
        help="random hexadecimal digits in each KiB; zstd halves them",
    )
    parser.add_argument("--compression", default="lz4", help="of the topic; lz4 leaves the digits as they are")
    parser.add_argument("--folder", help="where the topic and the table are (default: the system's temporary folder)")
    given = parser.parse_args()
    count = int(given.gigabytes * 1e9) // SIZE
    cluster = Kafka(1)
    cluster.options = ["-Xmx1g"]
    cluster.start()
    try:
        with tempfile.TemporaryDirectory(prefix="kcli-large-", dir=given.folder) as name:
            topics, folder = Topics(cluster.bootstrap, "large"), Path(name)
            topic = topics.make(PARTITIONS)
            fill(cluster.bootstrap, topic, count, given.digits, given.compression)
            export(topics, topic, folder, count)
    finally:
        cluster.stop()
    return 0


def fill(bootstrap: str, topic: str, count: int, digits: int, compression: str) -> None:
    """Records of a KiB: random hexadecimal digits, then words."""
    parts = ", ".join(f"sha2(concat('{n}', id), 512)" for n in range(ceil(digits / 128)))
    value = f"rpad(left(concat({parts}), {digits}), {SIZE}, '{WORDS}')"
    with Session(SessionSettings(master="local[2,3]", memory="2g")) as spark:
        frame = spark.range(0, count, 1, PARTITIONS).selectExpr(
            f"{value} AS value", "spark_partition_id() AS partition"
        )
        options = {"kafka.bootstrap.servers": bootstrap, "topic": topic, "kafka.compression.type": compression}
        frame.write.format("kcli").mode("append").options(**options).save()


def export(topics: Topics, topic: str, folder: Path, count: int) -> None:
    """Run it, and print what it took."""
    stored = topics.run(lambda client: stored_bytes(client, topic))
    lake = folder / "lake"
    with standalone_of(folder) as (url, workers):
        words = [sys.executable, "-W", "ignore", "-m", "kcli", "pipeline", "export", topic, str(lake), "-q"]
        words += ["--file-format", "delta", "--compact", "0s", "--master", url, "-b", topics.bootstrap]
        words += [word for conf in EXECUTORS for word in ("--conf", conf)]
        began, driver_used, workers_used = time.monotonic(), Used(), Used()
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "XDG_STATE_HOME": str(folder / "state")}
        with subprocess.Popen(words, env=environment) as driver:
            while driver.poll() is None:
                driver_used.look([driver.pid])
                workers_used.look([worker.process.pid for worker in workers])
                time.sleep(0.5)
        seconds = time.monotonic() - began
    if driver.returncode:
        raise RuntimeError(f"exit code {driver.returncode}")
    report(lake, count, stored)
    print(f"driver, {driver_used}; two workers, {workers_used}; {seconds:.0f} s in all")


class Used:
    """The most memory that processes and those below them had together, and their CPU seconds."""

    def __init__(self) -> None:
        self._most, self._spent = 0, 0.0

    def look(self, pids: list[int]) -> None:
        """As it is now."""
        family = [one for pid in pids for one in (pid, *descendants(pid))]
        self._most, self._spent = max(self._most, sum(map(resident, family))), max(self._spent, cpu(family))

    def __str__(self) -> str:
        return f"all processes: {self._most / 1e6:,.0f} MB at most, {self._spent:.0f} CPU s"


def report(lake: Path, count: int, stored: int) -> None:
    """The largest task by the rows of its files, and the sizes of the files before and after the compaction."""
    first, last = deltalake.DeltaTable(lake, version=0), deltalake.DeltaTable(lake)
    before, after = (pa.table(table.get_add_actions(flatten=True)).to_pydict() for table in (first, last))
    assert sum(before["num_records"]) == sum(after["num_records"]) == count
    rows: Counter[str] = Counter()
    for path, many in zip(before["path"], before["num_records"], strict=True):
        rows[re.match(r".*/(\d+)-", path)[1]] += many  # type: ignore[index]
    largest = max(rows.values()) / count * stored
    print(
        f"{count:,} records, {stored / 1e9:.1f} GB in the log; {len(rows)} tasks, at most {largest / 1e6:,.0f} MB each"
    )
    for label, sizes in (("written", before["size_bytes"]), ("compacted", after["size_bytes"])):
        print(f"{label}: {len(sizes)} files of {min(sizes) / 1e6:.0f} to {max(sizes) / 1e6:.0f} MB")


async def stored_bytes(client: object, topic: str) -> int:
    """Bytes of the topic in the log."""
    found, _ = await log_dirs(client.cluster, {topic: list(range(PARTITIONS))})  # type: ignore[attr-defined]
    return sum(one.size for one in found)


def resident(pid: int) -> int:
    """Bytes of memory of a process."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


if __name__ == "__main__":
    sys.exit(main())
