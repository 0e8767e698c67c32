"""KIP-714 on a real Apache Kafka: without a receiver, where it is not offered; and with a plugin that writes down what
it got, as Kafka's own classes read it (TelemetryReceiver.java)."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import kcli
from tests.kafka.artifacts import libs
from tests.kafka.cluster import Kafka
from tests.kafka.strangers import until
from tests.programs import kcli as run

SOURCE = Path(__file__).parents[1] / "TelemetryReceiver.java"
PRODUCER, CONSUMER = "org.apache.kafka.producer.", "org.apache.kafka.consumer."


class Receiving(Kafka):
    """A broker with the plugin; `received` has the lines of its file."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "received"
        super().__init__(1, {"metric.reporters": "TelemetryReceiver", "kcli.telemetry.file": str(self.file)})
        self.nodes[0].classpath = f":{folder}"

    def received(self, client_id: str) -> list[list[str]]:
        """(instance, terminating, name, temporality, value) of a client."""
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        rows = [line.split("\t") for line in lines]
        return [row[1:] for row in rows if row[0] == client_id]


@pytest.fixture(scope="module")
def receiving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiving]:
    folder = tmp_path_factory.mktemp("plugin")
    subprocess.run(["javac", "-cp", f"{libs()}/*", "-d", str(folder), str(SOURCE)], check=True, timeout=120)
    cluster = Receiving(folder)
    cluster.start()
    subscription = ("client-metrics", "all", "metrics=*", "interval.ms=1000")
    done = run("configs", "set", *subscription, "--execute", "--no-undo", "-b", cluster.bootstrap)
    assert done.code == 0, done.err
    yield cluster
    cluster.stop()


def settings(kafka: Kafka, client_id: str) -> kcli.ClientSettings:
    return kcli.ClientSettings(bootstrap=kcli.parse_bootstrap(kafka.bootstrap), client_id=client_id, metrics_push=True)


@pytest.mark.needs("javac")
def test_kafka_reads_what_is_pushed_and_the_push_at_the_end(
    receiving: Receiving, topic_name: Callable[[], str]
) -> None:
    topic = topic_name()
    assert run("topics", "create", topic, "-b", receiving.bootstrap).code == 0
    with kcli.SyncClient(settings(receiving, topic)) as kafka:
        with kafka.producer() as producer:
            deadline, sent = time.monotonic() + 60, 0
            while not receiving.received(topic):
                producer.send_and_wait(topic, b"v" * 100)
                sent += 1
                assert time.monotonic() < deadline, "no push came"
            producer.send_and_wait(topic, b"last")
        with kafka.consumer(topic, stop_at_end=True) as consumer:
            assert len(list(consumer)) == sent + 1
    rows = receiving.received(topic)
    assert len({instance for instance, *_ in rows}) == 1
    assert {ended for _, ended, *_ in rows} == {"false", "true"}
    assert rows[-1][1] == "true"

    def sums(name: str) -> int:
        found = [(kind, int(value)) for _, _, metric, kind, value in rows if metric == name]
        assert {kind for kind, _ in found} == {"AGGREGATION_TEMPORALITY_DELTA"}
        return sum(value for _, value in found)

    assert sums(f"{PRODUCER}record.send.total") == sent + 1
    assert sums(f"{CONSUMER}fetch.manager.records.consumed.total") == sent + 1
    gauges = {metric: float(value) for _, _, metric, kind, value in rows if kind == "gauge"}
    assert 0 < gauges[f"{PRODUCER}node.request.latency.avg"] <= gauges[f"{PRODUCER}node.request.latency.max"] < 60_000


@pytest.mark.needs("javac")
def test_the_property_turns_it_on_for_a_command(receiving: Receiving, topic_name: Callable[[], str]) -> None:
    topic, at = topic_name(), ("-b", receiving.bootstrap, "-X", "enable.metrics.push=true")
    assert run("topics", "create", topic, "-b", receiving.bootstrap).code == 0
    lines = b"v\n" * 40
    done = run("produce", topic, "--rate", "10/s", "-X", f"client.id={topic}", *at, stdin=lines)
    assert done.code == 0, done.err
    rows = receiving.received(topic)
    assert rows[-1][1] == "true"
    assert sum(int(value) for _, _, name, _, value in rows if name == f"{PRODUCER}record.send.total") == 40
    off = run("produce", topic, "-X", f"client.id={topic}-off", "-b", receiving.bootstrap, stdin=b"v\n")
    assert off.code == 0
    assert receiving.received(f"{topic}-off") == []


def test_without_a_receiver_kafka_offers_nothing_and_nothing_is_asked(
    kafka: Kafka, topic_name: Callable[[], str], caplog: pytest.LogCaptureFixture
) -> None:
    topic = topic_name()
    assert run("topics", "create", topic, "-b", kafka.bootstrap).code == 0
    caplog.set_level("INFO", "kcli.telemetry")
    with kcli.SyncClient(settings(kafka, topic)) as client, client.producer() as producer:
        producer.send_and_wait(topic, b"v")
        until(lambda: "no telemetry" in caplog.text)
        metrics = client.metrics
    assert not {"GetTelemetrySubscriptions", "PushTelemetry"} & metrics.requests.keys()
    assert metrics.lost_connections == 0
