"""A real Apache Kafka in KRaft: one node or three, each a process of its own, on free loopback ports.

Ready means that every broker answers and none is fenced; a listening port alone is not readiness. The data folder is
removed on success and kept when something failed to start.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.kafka import class_archive
from tests.kafka.artifacts import libs
from tests.kafka.tools import java, run_alone, run_tool
from tests.ports import free_ports

START_LIMIT = 180.0  # seconds; a virtual machine among many takes more than one minute
CLUSTER_ID = "a2NsaS10ZXN0LWNsdXN0ZQ"
LOG4J = """
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
"""


class Node:
    """One combined broker and controller."""

    def __init__(self, node_id: int, folder: Path, ports: tuple[int, int, int]) -> None:
        self.id = node_id
        self.folder = folder
        self.client_port, self.internal_port, self.controller_port = ports
        self.process: subprocess.Popen[bytes] | None = None
        self.starts = 0
        self.options: list[str] = []  # of the virtual machine, besides JVM
        self.classpath = ""  # after Kafka's jars
        self.jars: Path | None = None  # of another Kafka than the newest

    def start(self) -> None:
        """Start the process; `Kafka.wait_ready` tells when it is of use."""
        self.starts += 1
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*java(), *self.options, f"-Dlog4j2.configurationFile={self.folder / 'log4j2.properties'}", "-cp",
                 f"{self.jars or libs()}/*{self.classpath}", "kafka.Kafka", str(self.folder / "server.properties")],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder,
            )  # fmt: skip

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self, how: int = signal.SIGKILL) -> None:
        """Send a signal to this node's process, and wait for its end when the signal ends it."""
        assert self.process is not None
        self.process.send_signal(how)
        if how in (signal.SIGKILL, signal.SIGTERM):
            self.process.wait(30)

    def pause(self) -> None:
        """Stop it where it stands: its sockets stay open and nothing answers."""
        self.kill(signal.SIGSTOP)

    def resume(self) -> None:
        self.kill(signal.SIGCONT)


class Kafka:
    """A cluster of `nodes` nodes. `settings` are server properties on top (None: Kafka's default), `features` levels to
    finalize at first (transaction.version 1 and 2 are two protocols)."""

    def __init__(
        self, nodes: int = 1, settings: Mapping[str, str | None] | None = None, features: dict[str, int] | None = None
    ) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="kcli-kafka-"))
        ports = free_ports(3 * nodes)
        self.nodes = [
            Node(n, self.root / f"n{n}", (ports[3 * n - 3], ports[3 * n - 2], ports[3 * n - 1]))
            for n in range(1, nodes + 1)
        ]
        self.settings = dict(settings or {})
        self.features = features or {}
        self.options: list[str] = []  # of the virtual machines
        self.format_words: list[str] = []  # for StorageTool format

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{node.client_port}" for node in self.nodes)

    def start(self) -> None:
        """Format, start and wait. Raises RuntimeError with the end of the log when a node does not come up."""
        class_archive.make()
        for node in self.nodes:
            node.folder.mkdir()
            (node.folder / "log4j2.properties").write_text(LOG4J)
            (node.folder / "server.properties").write_text(self._properties(node))
            self._format(node)
            node.options = self.options
        for node in self.nodes:
            node.start()
        self.wait_ready()

    def _properties(self, node: Node) -> str:
        many = str(min(3, len(self.nodes)))
        isr = "2" if len(self.nodes) >= 3 else "1"
        voters = ",".join(f"{n.id}@127.0.0.1:{n.controller_port}" for n in self.nodes)
        client, internal = f"CLIENT://127.0.0.1:{node.client_port}", f"INTERNAL://127.0.0.1:{node.internal_port}"
        settings: dict[str, str | None] = {
            "process.roles": "broker,controller",
            "node.id": str(node.id),
            "controller.quorum.voters": voters,
            "listeners": f"{client},{internal},CONTROLLER://127.0.0.1:{node.controller_port}",
            "advertised.listeners": f"{client},{internal}",
            "listener.security.protocol.map": "CLIENT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name": "INTERNAL",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": str(node.folder / "data"),
            "num.partitions": "1",
            "log.retention.check.interval.ms": str(24 * 3600 * 1000),  # tests write records of long ago, and read them
            "auto.create.topics.enable": "false",
            "default.replication.factor": many,
            "min.insync.replicas": isr,
            "offsets.topic.replication.factor": many,
            "offsets.topic.num.partitions": "5",
            "transaction.state.log.replication.factor": many,
            "transaction.state.log.min.isr": isr,
            "transaction.state.log.num.partitions": "5",
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
            "share.coordinator.state.topic.replication.factor": many,
            "share.coordinator.state.topic.min.isr": isr,
            "share.coordinator.state.topic.num.partitions": "5",
            "group.initial.rebalance.delay.ms": "0",
            "group.min.session.timeout.ms": "1000",
            "group.consumer.min.session.timeout.ms": "1000",  # what a group may ask for, by its own configuration
            "group.consumer.min.heartbeat.interval.ms": "100",
            "group.share.min.session.timeout.ms": "1000",
            "group.share.min.heartbeat.interval.ms": "100",
            "group.share.min.record.lock.duration.ms": "1000",
            "log.cleaner.dedupe.buffer.size": "2097152",
            "log.cleaner.backoff.ms": "300",
            "num.network.threads": "2",
            "num.io.threads": "2",
            "background.threads": "2",
            "broker.session.timeout.ms": "3000",
            "broker.heartbeat.interval.ms": "500",
            "replica.lag.time.max.ms": "4000",
            "metrics.jmx.exclude": ".*",
            **self.settings,
        }
        return "".join(f"{key}={value}\n" for key, value in settings.items() if value is not None)

    def _format(self, node: Node) -> None:
        words = [
            "format", "-t", CLUSTER_ID, "-c", str(node.folder / "server.properties"), *self.format_words,
            *(word for name, level in self.features.items() for word in ("--feature", f"{name}={level}")),
        ]  # fmt: skip
        if node.jars is None:
            said = run_tool("kafka.tools.StorageTool", *words, timeout=START_LIMIT)
        else:
            said = run_alone("kafka.tools.StorageTool", *words, timeout=START_LIMIT, jars=node.jars)
        if "Formatting" not in said:
            raise RuntimeError(f"formatting node {node.id} failed: {said}")

    def wait_ready(self, limit: float = START_LIMIT) -> None:
        """Until every running node answers and is unfenced. Raises RuntimeError at the limit (seconds)."""
        deadline = time.monotonic() + limit
        waiting = [node for node in self.nodes if node.process is not None and node.process.poll() is None]
        while waiting:
            waiting = [node for node in waiting if not self._unfenced(node)]
            dead = [n for n in waiting if n.process is not None and n.process.poll() is not None]
            if dead or (waiting and time.monotonic() > deadline):
                log = (waiting[0].folder / "server.log").read_text(errors="replace")[-3000:]
                raise RuntimeError(f"Kafka node {waiting[0].id} did not come up (see {self.root}):\n{log}")
            time.sleep(0.1)

    def heal(self, limit: float = START_LIMIT) -> None:
        """Resume and start again whoever is not there, until every replica is in sync. Raises RuntimeError."""
        for node in self.nodes:
            if node.alive:
                node.resume()
            else:
                node.start()
        self.wait_ready(limit)
        self.wait_in_sync(limit)

    def rest(self) -> None:
        """End every process and keep the data: `heal` starts them again."""
        for node in self.nodes:
            if node.alive:
                node.resume()
                node.kill()

    def wait_in_sync(self, limit: float = START_LIMIT) -> None:
        """Until every partition has all its replicas in sync and a leader. Asks with librdkafka, a stranger
        to kcli. Raises RuntimeError at the limit (seconds)."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        deadline = time.monotonic() + limit
        while True:
            behind = self._behind(admin)
            if not behind:
                return
            if time.monotonic() > deadline:
                raise RuntimeError(f"replicas did not come back in sync within {limit:g} s: {behind}")
            time.sleep(0.2)

    def _behind(self, admin: AdminClient) -> list[str]:
        try:
            known = admin.list_topics(timeout=5)
        except KafkaException as problem:
            return [str(problem)]
        if len(known.brokers) < len(self.nodes):
            return [f"{len(known.brokers)} of {len(self.nodes)} brokers"]
        return [
            f"{name}[{number}]"
            for name, topic in known.topics.items()
            for number, partition in topic.partitions.items()
            if partition.leader < 0 or len(partition.isrs) < len(partition.replicas)
        ]

    def leader(self, topic: str, partition: int = 0) -> Node:
        """Who leads a partition now."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        return self.nodes[admin.list_topics(topic, timeout=10).topics[topic].partitions[partition].leader - 1]

    def _unfenced(self, node: Node) -> bool:
        # the server says so once it is registered, caught up and unfenced
        log = (node.folder / "server.log").read_text(errors="replace")
        return log.count(f"[KafkaRaftServer nodeId={node.id}] Kafka Server started") >= node.starts

    def tool(self, main: str, *args: str, stdin: bytes | None = None, timeout: float = 60) -> str:
        """Run one of Kafka's own command-line tools; what it printed, errors included."""
        return run_tool(main, *args, stdin=stdin, timeout=timeout)

    def stop(self) -> None:
        """End every process by its own id and remove the data."""
        for node in self.nodes:
            if node.process is not None and node.process.poll() is None:
                node.process.send_signal(signal.SIGCONT)
                node.process.kill()
                node.process.wait(30)
        shutil.rmtree(self.root, ignore_errors=True)
