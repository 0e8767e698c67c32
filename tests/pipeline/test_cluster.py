"""On Spark as others run it: a standalone cluster of processes, one killed in mid-job, and Spark Connect."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.dataset as ds
import pytest

from kcli.pipeline.gateway import spark_home
from tests.kafka.cluster import free_ports
from tests.pipeline.tree import descendants

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.pipeline.topics import Topics

pytestmark = pytest.mark.timeout(400)
ROOT = Path(__file__).parent.parent.parent
PATIENCE = 150.0


class Daemon:
    """One of Spark's processes, in a group of its own, without the tree on its path."""

    def __init__(self, folder: Path, name: str, words: list[str], **more: str) -> None:
        self.log = folder / f"{name}.log"
        environment = {
            **os.environ, "SPARK_HOME": str(spark_home()), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1",
            "PYSPARK_PYTHON": sys.executable, "SPARK_DAEMON_MEMORY": "300m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1", **more,
        }  # fmt: skip
        if "PYTHONPATH" not in more:
            environment.pop("PYTHONPATH", None)
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                start_new_session=True,
            )  # fmt: skip

    def says(self, pattern: str) -> str:
        """What the first group of `pattern` is in the log, once it is there."""
        deadline = time.monotonic() + PATIENCE
        while True:
            text = self.log.read_text(errors="replace")
            found = re.search(pattern, text)
            if found is not None:
                return found[1]
            assert self.process.poll() is None, text[-2000:]
            assert time.monotonic() < deadline, text[-2000:]
            time.sleep(0.05)

    def stop(self) -> None:
        for pid in [*descendants(self.process.pid), self.process.pid]:
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                continue
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def standalone(tmp_path: Path) -> Iterator[tuple[str, list[Daemon]]]:
    """The URL of a master, and its two workers."""
    start = str(spark_home() / "bin" / "spark-class")
    place = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    deploy = "org.apache.spark.deploy"
    daemons = [Daemon(tmp_path, "master", [start, f"{deploy}.master.Master", *place])]
    try:
        url = daemons[0].says(r"Starting Spark master at (spark://\S+)")
        for name in ("one", "two"):
            words = [start, f"{deploy}.worker.Worker", *place, "-c", "1", "-m", "1g", "-d", str(tmp_path / name), url]
            daemons.append(Daemon(tmp_path, name, words))
        for worker in daemons[1:]:
            worker.says(r"(Successfully registered with master)")
        yield url, daemons[1:]
    finally:
        for daemon in reversed(daemons):
            daemon.stop()


def executor_of(workers: list[Daemon]) -> int:
    """An executor's process."""
    for worker in workers:
        for pid in descendants(worker.process.pid):
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
            if b"CoarseGrainedExecutorBackend" in line:
                return pid
    raise AssertionError("no executor runs")


def test_an_executor_that_is_killed_in_mid_job_costs_nothing(standalone, topics: Topics, tmp_path: Path):
    url, workers = standalone
    topic, target = topics.make(2), topics.make(2)
    for one in range(2):
        topics.values(topic, 100_000, partition=one)
    words = [sys.executable, "-m", "tests.pipeline.on_cluster", url, topics.bootstrap, topic, target, str(tmp_path)]
    with subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    ) as driver:
        done = tmp_path / "out" / "_temporary" / "0"
        deadline = time.monotonic() + PATIENCE
        while len(list(done.glob("task_*"))) < 2:
            assert driver.poll() is None
            assert time.monotonic() < deadline, "no task got done"
            time.sleep(0.02)
        victim = executor_of(workers)
        os.kill(victim, signal.SIGKILL)
        assert not (tmp_path / "out" / "_SUCCESS").exists()
        assert driver.stdout is not None
        driver.stdout.read()
        assert driver.wait(PATIENCE) == 0
    files = [str(path) for path in (tmp_path / "out").glob("part-*.parquet")]
    table = ds.dataset(files, format="parquet").to_table(["partition", "offset", "value"])
    rows = sorted(zip(*(table[name].to_pylist() for name in ("partition", "offset", "value")), strict=True))
    assert rows == [(one, n, b"%d" % n) for one in range(2) for n in range(100_000)]
    lost = sum("lost executor" in line.lower() for line in (tmp_path / "spark.log").read_text().splitlines())
    assert lost >= 1
    copied = [(partition, record.value) for partition, record in topics.read(target)]
    assert sorted(copied) == sorted((one, b"%d" % n) for one in range(2) for n in range(100_000))


def test_spark_connect_reads_writes_and_streams(topics: Topics, tmp_path: Path):
    pytest.importorskip("grpc", reason="pip install 'kcli-kafka[spark-connect]'")
    pytest.importorskip("pandas", reason="pip install 'kcli-kafka[spark-connect]'")
    topic, target = topics.make(2), topics.make(2)
    for one in range(2):
        topics.values(topic, 2000, partition=one)
    (port,) = free_ports(1)
    conf = {
        "spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
    }  # fmt: skip
    words = [
        str(spark_home() / "bin" / "spark-submit"), "--master", "local[2]", "--class",
        "org.apache.spark.sql.connect.service.SparkConnectServer",
        *(word for key, value in conf.items() for word in ("--conf", f"{key}={value}")), "spark-internal",
    ]  # fmt: skip
    server = Daemon(tmp_path, "connect", words, PYTHONPATH=str(ROOT), SPARK_DAEMON_MEMORY="1g")
    try:
        server.says(r"(Spark Connect server started)")
        client = [sys.executable, "-W", "ignore", "-m", "tests.pipeline.connected", f"sc://127.0.0.1:{port}",
                  topics.bootstrap, topic, target, str(tmp_path)]  # fmt: skip
        done = subprocess.run(client, cwd=ROOT, capture_output=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done.stderr.decode()[-3000:]
        assert json.loads(done.stdout) == {"rows": 4000, "most": 1999, "streamed": 4000}
        assert len(topics.read(target)) == 4000
    finally:
        server.stop()
