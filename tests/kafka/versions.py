"""`python -m tests.kafka.versions [VERSION…]`: the main job on the oldest Kafka that kcli speaks to, on middle ones and
the newest, each with two brokers; for each a row of the table in docs/versions.md. Exit code 1 when one of them fails.

Versions before 4.0 run with ZooKeeper, which all of them have; the others are the fixture's (`tests/kafka/cluster.py`).
Kafka before 2.6 gets a newer ZooKeeper than its own, which does not run on Java 14 and newer (ZOOKEEPER-3779).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from tests.kafka import artifacts
from tests.kafka.artifacts import libs
from tests.kafka.cluster import Kafka
from tests.kafka.tools import JVM
from tests.ports import free_ports

NEWEST = re.findall(r"<kafka\.version>([^<]+)", artifacts.POM.read_text())[0]
"""The Kafka of all other tests."""
VERSIONS = ("2.1.1", "2.2.2", "3.3.2", "3.9.1", "4.3.1", NEWEST)
BROKERS = 2
POM = Path(__file__).with_name("versions.pom.xml")
START_LIMIT = 120.0
RECORDS = "".join(f"key-{number % 7}\tvalue {number}\n" for number in range(10_000))
KCLI = [sys.executable, "-m", "kcli"]
ZOOKEEPER = """dataDir={folder}/keeper
clientPort={port}
admin.enableServer=false
"""
SERVER = """broker.id={number}
zookeeper.connect=localhost:{zookeeper}
listeners=PLAINTEXT://127.0.0.1:{port}
log.dirs={folder}/logs{number}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=3
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=3
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
"""


class Failed(Exception):
    """A line of kcli ended otherwise than it must."""


def jars(version: str) -> str:
    """The class path of a version with ZooKeeper, fetched on first use."""
    scala = "2.12" if version < "2.4" else "2.13"
    with tempfile.TemporaryDirectory() as folder:
        pom = Path(folder) / "pom.xml"
        text = POM.read_text().replace("SCALA_VERSION", scala).replace("KAFKA_VERSION", version)
        pom.write_text(text.replace("ZOOKEEPER_VERSION", "3.6.3" if version >= "3" else "3.5.10"))
        return f"{libs(pom, f'kafka-{version}')}/*"


def without_zookeeper(version: str) -> Path:
    """The folder with the jars of a version from 4.0 on: those of the newest, with another number."""
    with tempfile.TemporaryDirectory() as folder:
        pom = Path(folder) / "pom.xml"
        number = r"(?<=<kafka\.version>)[^<]+"
        pom.write_text(re.sub(number, version, artifacts.POM.read_text()))
        return artifacts.libs(pom, f"kafka-{version}")


@contextlib.contextmanager
def cluster(version: str, folder: Path) -> Iterator[str]:
    """The addresses of two brokers of a version."""
    if version >= "4":
        kafka = Kafka(BROKERS)
        for node in kafka.nodes:
            node.jars = None if version == NEWEST else without_zookeeper(version)
        try:
            kafka.start()
            yield kafka.bootstrap
        finally:
            kafka.stop()
        return
    keeper, *ports = free_ports(1 + BROKERS)
    (folder / "zookeeper.properties").write_text(ZOOKEEPER.format(folder=folder, port=keeper))
    for number, port in enumerate(ports, 1):
        text = SERVER.format(number=number, zookeeper=keeper, port=port, folder=folder)
        (folder / f"server{number}.properties").write_text(text)
    servers = [f"127.0.0.1:{port}" for port in ports]
    java = ["java", *JVM, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", jars(version)]
    with contextlib.ExitStack() as running:
        for main, name in (
            ("org.apache.zookeeper.server.quorum.QuorumPeerMain", "zookeeper"),
            *(("kafka.Kafka", f"server{number}") for number in range(1, BROKERS + 1)),
        ):
            output = running.enter_context(open(folder / f"{name}.log", "w"))
            words = [*java, main, str(folder / f"{name}.properties")]
            process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            running.callback(process.wait, 60)
            running.callback(process.kill)
        _wait(",".join(servers), folder)
        yield ",".join(servers)


def _wait(servers: str, folder: Path) -> None:
    until = time.monotonic() + START_LIMIT
    while (done := _kcli(servers, "brokers", "-J")).returncode or len(json.loads(done.stdout)["brokers"]) < BROKERS:
        if time.monotonic() > until:
            raise Failed(f"no broker: {done.stderr}{(folder / 'server1.log').read_text()[-2000:]}")
        time.sleep(0.5)


def _kcli(servers: str, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "KCLI_BOOTSTRAP": servers}
    return subprocess.run([*KCLI, *words], input=stdin, capture_output=True, text=True, env=environment, timeout=120)


def main_job(servers: str, version: str) -> list[str]:
    """What of kcli was run there. Raises Failed with the first line that does not do what it must."""

    def run(*words: str, stdin: str = "") -> str:
        done = _kcli(servers, *words, stdin=stdin)
        if done.returncode:
            raise Failed(f"kcli {' '.join(words)}: exit {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def check(holds: object, what: str) -> None:
        if not holds:
            raise Failed(what)

    run("topics", "create", "orders", "-p", "3", "-r", "1")  # before Kafka 2.4 a broker chooses no factor (KIP-464)
    ran = ["topics"]
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        run("produce", "orders", "-q", "-K", "\t", "-z", codec, stdin=RECORDS)
    back = run("consume", "orders", "-o", "beginning", "-e", "-q", "-K", "\t").splitlines()
    check(sorted(back) == sorted(RECORDS.splitlines() * 5), "other records came back than were sent")
    ran += ["produce", "consume", "5 codecs"]
    run("produce", "orders", "-q", "--transactional-id", "job", stdin="committed\n")
    found = run("consume", "orders", "-e", "-q", "--grep", "committed", "-o", "beginning")
    check(found == "committed\n", "the record of a transaction did not come back")
    ran.append("transactions")
    run("consume", "orders", "-g", "billing", "--from-beginning", "-n", "1000", "-q")
    (group,) = json.loads(run("lag", "billing", "-J"))["groups"]
    check(group["lag"] >= 49_000, f"lag {group['lag']}")
    ran += ["groups", "lag"]
    run("doctor", "-t", "orders", "-g", "billing")
    one, two = servers.split(",")
    wrong = _kcli(one, "doctor", "-J", "--broker-map", f"{two}={one}")
    faults = [step["fault"] for step in json.loads(wrong.stdout)["steps"] if step["status"] == "failed"]
    check(wrong.returncode == 5 and faults == ["wrong-broker"], f"doctor missed the wrong broker: {wrong.stdout}")
    ran.append("doctor")
    run("groups", "reset", "--create", "billing", "-t", "orders", "--to", "end", "--execute")
    check(json.loads(run("lag", "billing", "-J"))["groups"][0]["lag"] == 0, "the group was not reset")
    run("groups", "delete", "billing", "--execute")
    ran.append("reset and delete")
    if version < "2.3":
        run("configs", "get", "topic", "orders", "-J")
        run("topics", "delete", "orders", "--execute")
        return [*ran, "configs (reading; Kafka 2.3 is the first in which they are set one by one)"]
    run("configs", "set", "topic", "orders", "retention.ms=7d", "--execute")
    check("604800000" in run("configs", "get", "topic", "orders", "-J"), "the config was not set")
    ran.append("configs")
    run("topics", "delete", "orders", "--execute")
    return ran


def main(versions: list[str]) -> int:
    failed = False
    for version in versions or VERSIONS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                with cluster(version, Path(folder)) as servers:
                    ran = ", ".join(main_job(servers, version))
                    print(f"| Apache Kafka {version} | {date.today()} | `make versions`: {ran} |", flush=True)
            except (Failed, RuntimeError, subprocess.TimeoutExpired) as problem:
                failed = True
                print(f"| Apache Kafka {version} | {date.today()} | failed: {problem} |", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
