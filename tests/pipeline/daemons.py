"""Spark's own processes as others run them: a standalone master with two workers, a Spark Connect server."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kcli.pipeline.session.gateway import spark_home
from tests.pipeline.tree import descendants
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 150.0


class Daemon:
    """One of Spark's processes, in a group of its own, without the tree on its path."""

    def __init__(self, folder: Path, name: str, words: list[str], **more: str) -> None:
        self.log = folder / f"{name}.log"
        environment = {
            **os.environ, "SPARK_HOME": str(spark_home()), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1",
            # tasks run the python3 of this path
            "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]),
            "SPARK_DAEMON_MEMORY": "300m",
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


@contextmanager
def standalone_of(folder: Path) -> Iterator[tuple[str, list[Daemon]]]:
    """The URL of a master, and its two workers."""
    start = str(spark_home() / "bin" / "spark-class")
    place = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    deploy = "org.apache.spark.deploy"
    daemons = [Daemon(folder, "master", [start, f"{deploy}.master.Master", *place])]
    try:
        url = daemons[0].says(r"Starting Spark master at (spark://\S+)")
        for name in ("one", "two"):
            words = [start, f"{deploy}.worker.Worker", *place, "-c", "2", "-m", "1g", "-d", str(folder / name), url]
            daemons.append(Daemon(folder, name, words))
        for worker in daemons[1:]:
            worker.says(r"(Successfully registered with master)")
        yield url, daemons[1:]
    finally:
        for daemon in reversed(daemons):
            daemon.stop()


@contextmanager
def connect_of(folder: Path) -> Iterator[str]:
    """The URL of a Spark Connect server in whose Python kcli is."""
    port = free_port()
    conf = {
        "spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }  # fmt: skip
    words = [
        str(spark_home() / "bin" / "spark-submit"), "--master", "local[2]", "--class",
        "org.apache.spark.sql.connect.service.SparkConnectServer",
        *(word for key, value in conf.items() for word in ("--conf", f"{key}={value}")), "spark-internal",
    ]  # fmt: skip
    server = Daemon(folder, "connect", words, PYTHONPATH=str(ROOT), SPARK_DAEMON_MEMORY="1g")
    try:
        server.says(r"(Spark Connect server started)")
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.stop()
