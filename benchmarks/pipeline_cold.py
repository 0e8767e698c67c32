"""From nothing to the first million rows in parquet: a process is started, and Spark in it.

python -m benchmarks.pipeline_cold kcli|kafka BOOTSTRAP TOPIC ENDS FOLDER
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.pipeline import connector

KINDS = ("kcli", "kcli after `kcli pipeline doctor`", "JVM connector, as pyspark starts it")


def cold_starts(bootstrap: str, topic: str, records: int, folder: Path, rounds: int) -> dict[str, float]:
    """Median seconds of each kind, from the start of the process to the rename of the last file."""
    half = json.dumps({topic: {"0": records // 2, "1": records // 2}})
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    warm = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache-warm")}
    cold = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache-cold")}
    subprocess.run([sys.executable, "-m", "kcli", "pipeline", "doctor", "-q"], env=warm, check=True, timeout=900)
    for _ in range(rounds):
        for kind in KINDS:
            form = "kafka" if kind == KINDS[2] else "kcli"
            out = folder / "cold"
            began = time.monotonic()
            subprocess.run(
                [sys.executable, "-m", "benchmarks.pipeline_cold", form, bootstrap, topic, half, str(out)],
                env=warm if kind == KINDS[1] else cold, check=True, timeout=900, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            found[kind].append(float((out / "done").read_text()) - began)
            print(f"cold start, {kind}: {found[kind][-1]:.1f} s", file=sys.stderr)
            shutil.rmtree(out)
    return {kind: statistics.median(times) for kind, times in found.items()}


def main(form: str, bootstrap: str, topic: str, ends: str, folder: Path) -> None:
    options = {"kafka.bootstrap.servers": bootstrap, "subscribe": topic, "endingOffsets": ends}
    if form == "kcli":
        from kcli.pipeline.session.session import Session, SessionSettings

        session = Session(SessionSettings(master="local[2,3]"))
        spark = session.start()
    else:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").config("spark.jars", ",".join(connector.jars()))
        spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    spark.read.format(form).options(**options).load().write.parquet(str(folder / "out"))
    (folder / "done").write_text(str(time.monotonic()))
    if form == "kcli":
        session.stop()
    else:
        spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:5], Path(sys.argv[5]))
