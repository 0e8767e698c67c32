"""Quotas, leaders, reassignments: what kcli changes Kafka's own tools read, and the reverse; on a real Apache Kafka."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.admin.test_administration import ADMIN, rows, theirs
from tests.kafka.cluster import Kafka
from tests.programs import kcli

CONFIG = "org.apache.kafka.tools.ConfigCommand"
MOVE = f"{ADMIN}reassign.ReassignPartitionsCommand"


def until(what: Callable[[], object], limit: float = 20.0) -> None:
    """Brokers hear of a change a moment after the controller wrote it."""
    give_up = time.monotonic() + limit
    while not what():
        assert time.monotonic() < give_up, "it did not come about"
        time.sleep(0.3)


# -- quotas -----------------------------------------------------------------------------------------------------------


def test_quotas_of_users_client_ids_and_addresses(kafka3: Kafka, tmp_path: Path) -> None:
    undo = tmp_path / "undo.json"
    alter = ("quotas", "alter", "--execute")
    rows(kafka3, "quotas", *alter, "--user", "alice", "producer_byte_rate=10MiB", "request_percentage=12.5%")
    rows(kafka3, "quotas", *alter, "--user", "alice", "--client-id-default", "consumer_byte_rate=2MB")
    rows(kafka3, "quotas", *alter, "--user-default", "controller_mutation_rate=5/s")
    rows(kafka3, "quotas", *alter, "--ip", "10.0.0.7", "connection_creation_rate=20")
    users = theirs(kafka3, CONFIG, "--describe", "--entity-type", "users")
    assert re.search(r"user-principal 'alice' are .*producer_byte_rate=1\.048576E7", users), users
    assert "request_percentage=12.5" in users
    assert re.search(r"the default user-principal are controller_mutation_rate=5\.0", users), users
    assert "connection_creation_rate=20.0" in theirs(
        kafka3, CONFIG, "--describe", "--entity-type", "ips", "--entity-name", "10.0.0.7"
    )
    theirs(kafka3, CONFIG, "--alter", "--entity-type", "users", "--entity-name", "alice", "--entity-type", "clients",
           "--entity-name", "app", "--add-config", "producer_byte_rate=2048")  # fmt: skip
    told = {(row["entity"], row["quota"]): row["value"] for row in rows(kafka3, "quotas", "quotas")}
    assert told == {
        ("user alice", "producer_byte_rate"): 10 * 2**20,
        ("user alice", "request_percentage"): 12.5,
        ("user alice, client-id app", "producer_byte_rate"): 2048,
        ("user alice, client-id <default>", "consumer_byte_rate"): 2e6,
        ("user <default>", "controller_mutation_rate"): 5,
        ("ip 10.0.0.7", "connection_creation_rate"): 20,
    }
    assert len(rows(kafka3, "quotas", "quotas", "describe", "--user", "alice")) == 4
    assert len(rows(kafka3, "quotas", "quotas", "describe", "--user", "alice", "--strict")) == 2
    assert len(rows(kafka3, "quotas", "quotas", "describe", "--any", "user", "--client-id", "app")) == 1
    resolved = rows(kafka3, "quotas", "quotas", "resolve", "--user", "alice", "--client-id", "app")
    assert {row["quota"]: row["set_for"] for row in resolved} == {
        "producer_byte_rate": "user alice, client-id app", "consumer_byte_rate": "user alice, client-id <default>",
        "request_percentage": "user alice", "controller_mutation_rate": "user <default>",
    }  # fmt: skip
    for wrong in (
        ["--user", "alice", "connection_creation_rate=1"],
        ["--ip", "no.such.host.", "connection_creation_rate=1"],
    ):
        assert rows(kafka3, "quotas", "quotas", "alter", *wrong, "--dry-run", code=1)[0]["result"] == "failed"
    rows(kafka3, "quotas", *alter, "--user", "alice", "--delete", "producer_byte_rate", "--undo-file", str(undo))
    assert rows(kafka3, "quotas", "undo", str(undo), "--execute")[0]["new"] == "10MiB/s"
    for who, some in (
        (["--user", "alice"], ["producer_byte_rate", "request_percentage"]),
        (["--user", "alice", "--client-id-default"], ["consumer_byte_rate"]),
        (["--user", "alice", "--client-id", "app"], ["producer_byte_rate"]),
        (["--user-default"], ["controller_mutation_rate"]),
        (["--ip", "10.0.0.7"], ["connection_creation_rate"]),
    ):
        rows(kafka3, "quotas", *alter, *who, *(word for key in some for word in ("--delete", key)))
    until(lambda: rows(kafka3, "quotas", "quotas") == [])


def test_a_quota_throttles_a_producer(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    """At 10 kB/s, ten seconds' worth go at once and the rest is waited for."""
    topic, client = topic_name(), f"slow-{topic_name()}"
    rows(kafka, "topics", "topics", "create", topic)
    quick = _seconds(kafka, topic, "quick")
    rows(kafka, "quotas", "quotas", "alter", "--client-id", client, "producer_byte_rate=10kB", "--execute")
    until(lambda: rows(kafka, "quotas", "quotas", "describe", "--client-id", client))
    (row,) = [r for r in rows(kafka, "quotas", "quotas", "resolve", "--client-id", client) if r["value"]]
    assert (row["limit"], row["set_for"]) == ("10kB/s", f"client-id {client}")
    assert _seconds(kafka, topic, client) > quick + 1.5
    rows(kafka, "quotas", "quotas", "alter", "--client-id", client, "--delete", "producer_byte_rate", "--execute")


def _seconds(kafka: Kafka, topic: str, client: str) -> float:
    begun = time.monotonic()
    settings = ("-X", f"client.id={client}", "-X", "batch.size=8192", "-X", "max.in.flight.requests.per.connection=1")
    done = kcli("produce", topic, *settings, "-b", kafka.bootstrap, stdin=b"".join(b"%04000d\n" % n for n in range(34)))
    assert done.code == 0, done.err
    return time.monotonic() - begun


# -- leaders ----------------------------------------------------------------------------------------------------------


def placed(kafka: Kafka, topic: str, *assignment: str) -> None:
    """A topic on these brokers."""
    told = theirs(kafka, f"{ADMIN}TopicCommand", "--create", "--topic", topic, "--replica-assignment",
                  ",".join(assignment))  # fmt: skip
    assert "Created" in told, told
    kafka.wait_in_sync()


def described(kafka: Kafka, topic: str) -> list[tuple[int, list[int]]]:
    """Leader and replicas of each partition, as Kafka's own tool tells them; the topic has no throttle."""
    told = theirs(kafka, f"{ADMIN}TopicCommand", "--describe", "--topic", topic)
    assert "throttled" not in told, told
    found = re.findall(r"Partition: \d+\s+Leader: (\S+)\s+Replicas: (\S+)", told)
    return [(int(leader), [int(node) for node in nodes.split(",")]) for leader, nodes in found]


def reordered(kafka: Kafka, path: Path, topic: str, *replicas: list[int]) -> None:
    """Other preferred leaders, which moves nothing and changes no leader."""
    some = [{"topic": topic, "partition": n, "replicas": nodes} for n, nodes in enumerate(replicas)]
    path.write_text(json.dumps({"version": 1, "partitions": some}))
    done = rows(kafka, "partitions", "reassign", "execute", str(path), "--execute", "--wait")
    assert {row["result"] for row in done} <= {"done"}


def test_leaders_are_elected_by_either_tool(kafka3: Kafka, topic_name: Callable[[], str], tmp_path: Path) -> None:
    topic = topic_name()
    placed(kafka3, topic, "1:2:3", "2:3:1", "3:1:2")
    reordered(kafka3, tmp_path / "a.json", topic, [3, 1, 2], [1, 2, 3], [3, 1, 2])
    until(lambda: len([r for r in rows(kafka3, "partitions", "leaders") if r["topic"] == topic]) == 2)
    done = rows(kafka3, "partitions", "leaders", "elect", topic, "--execute")
    assert [(row["old"], row["new"], row["result"]) for row in done] == [
        (1, 3, "elected"), (2, 1, "elected"), (3, 3, "not needed"),
    ]  # fmt: skip
    assert [leader for leader, _ in described(kafka3, topic)] == [3, 1, 3]
    reordered(kafka3, tmp_path / "b.json", topic, [1, 2, 3], [1, 2, 3], [3, 1, 2])
    told = theirs(
        kafka3, f"{ADMIN}LeaderElectionCommand", "--election-type", "PREFERRED", "--topic", topic, "--partition", "0"
    )
    assert "Successfully completed" in told, told
    until(lambda: not [r for r in rows(kafka3, "partitions", "leaders") if r["topic"] == topic])
    assert {r["result"] for r in rows(kafka3, "partitions", "leaders", "elect", topic, "--execute")} == {"not needed"}


def test_a_partition_that_nobody_can_lead_is_a_row_with_its_error(kafka3: Kafka, topic_name: Callable[[], str]) -> None:
    topic = topic_name()
    placed(kafka3, topic, "3", "1")
    kafka3.nodes[2].kill()
    until(lambda: [r["leader"] for r in rows(kafka3, "partitions", "leaders") if r["topic"] == topic] == [None])
    done = rows(kafka3, "partitions", "leaders", "elect", topic, "--unclean", "--execute", code=1)
    assert [(row["result"], row["old"]) for row in done] == [("failed", None), ("not needed", 1)]
    assert "ELIGIBLE_LEADERS_NOT_AVAILABLE" in done[0]["error"]


# -- reassignments ----------------------------------------------------------------------------------------------------


def no_throttle(kafka: Kafka) -> bool:
    """Whether Kafka's own tool sees none at brokers."""
    return "throttled" not in theirs(kafka, CONFIG, "--describe", "--entity-type", "brokers")


@pytest.fixture
def calm(kafka3: Kafka) -> Iterator[Kafka]:
    """The three nodes; whatever moves when a test ends is cancelled."""
    yield kafka3
    kcli("reassign", "cancel", "--all-topics", "--execute", "--no-undo", "-b", kafka3.bootstrap)


def test_a_move_under_way_throttled_cancelled_and_done(
    calm: Kafka, topic_name: Callable[[], str], tmp_path: Path
) -> None:
    kafka3, topic, plan, theirs_file = calm, topic_name(), tmp_path / "plan.json", tmp_path / "theirs.json"
    placed(kafka3, topic, "1:2", "2:1")
    for partition in ("0", "1"):
        done = kcli("produce", topic, "-p", partition, "-b", kafka3.bootstrap, stdin=b"%01000d\n" % 7 * 12_000)
        assert done.code == 0, done.err
    kafka3.wait_in_sync()
    planned = rows(kafka3, "partitions", "reassign", "plan", topic, "--to", "2,3", "--save", str(plan))
    assert all(row["adding"] == [3] and row["removing"] == [1] and row["bytes"] > 12_000_000 for row in planned)
    started = rows(kafka3, "partitions", "reassign", "execute", str(plan), "--throttle", "100kB", "--execute")
    assert {row["result"] for row in started} == {"moving"}
    told = theirs(kafka3, MOVE, "--list")
    assert len(re.findall(rf"{topic}-[01]: replicas: (2,3|3,2),1\. adding: 3\. removing: 1\.", told)) == 2, told
    config = theirs(kafka3, CONFIG, "--describe", "--entity-type", "brokers", "--entity-name", "3")
    assert "follower.replication.throttled.rate=100000" in config, config
    config = theirs(kafka3, CONFIG, "--describe", "--entity-type", "topics", "--entity-name", topic)
    assert "leader.replication.throttled.replicas=0:1,0:2,1:1,1:2" in config, config
    assert "follower.replication.throttled.replicas=0:3,1:3" in config, config
    moving = [r for r in rows(kafka3, "partitions", "reassign", "list", "--over", "2") if r["topic"] == topic]
    assert len(moving) == 2
    assert 0 < sum(row["left"] for row in moving) < 24_100_000
    assert {row["result"] for row in rows(kafka3, "partitions", "reassign", "verify", str(plan), code=3)} == {"moving"}
    cancelled = rows(kafka3, "partitions", "reassign", "cancel", str(plan), "--execute")
    assert {row["result"] for row in cancelled} == {"cancelled"}
    assert [sorted(nodes) for _, nodes in described(kafka3, topic)] == [[1, 2], [1, 2]]
    assert no_throttle(kafka3)
    moved = rows(kafka3, "partitions", "reassign", "execute", str(plan), "--throttle", "80MB", "--execute", "--wait")
    assert {row["result"] for row in moved} == {"done"}
    assert [sorted(nodes) for _, nodes in described(kafka3, topic)] == [[2, 3], [2, 3]]
    assert no_throttle(kafka3)
    told = theirs(kafka3, MOVE, "--verify", "--reassignment-json-file", str(plan))
    assert told.count("is completed") == 2, told
    _begun_by_their_tool(kafka3, topic, theirs_file)


def _begun_by_their_tool(kafka: Kafka, topic: str, path: Path) -> None:
    """kafka-reassign-partitions begins, kcli waits and clears the throttle; a third replica this time."""
    some = [{"topic": topic, "partition": n, "replicas": [1, 2, 3]} for n in (0, 1)]
    path.write_text(json.dumps({"version": 1, "partitions": some}))
    told = theirs(kafka, MOVE, "--execute", "--reassignment-json-file", str(path), "--throttle", "80000000")
    assert "Successfully started" in told, told
    done = rows(kafka, "partitions", "reassign", "verify", str(path), "--wait", "--timeout", "60")
    assert {row["result"] for row in done} == {"done"}
    assert no_throttle(kafka)
    assert [sorted(nodes) for _, nodes in described(kafka, topic)] == [[1, 2, 3], [1, 2, 3]]


@pytest.fixture(scope="module")
def two_disks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Kafka, list[str]]]:
    """One node with two log directories."""
    paths = [str(tmp_path_factory.mktemp(name)) for name in "ab"]
    cluster = Kafka(1, settings={"log.dirs": ",".join(paths)})
    cluster.start()
    yield cluster, paths
    cluster.stop()


def test_replicas_between_disks_by_either_tool(two_disks: tuple[Kafka, list[str]], tmp_path: Path) -> None:
    kafka, (a, b) = two_disks
    placed(kafka, "orders", "1", "1")
    for partition in ("0", "1"):
        kcli("produce", "orders", "-p", partition, "-b", kafka.bootstrap, stdin=b"%01000d\n" % 7 * 2000)
    moved = rows(
        kafka, "replicas", "reassign", "disks", "orders", "--to", a, "--execute", "--wait", "--throttle", "50MB"
    )
    assert {row["result"] for row in moved} <= {"done"}
    told = theirs(kafka, f"{ADMIN}LogDirsCommand", "--describe", "--topic-list", "orders")
    assert _where(told) == {"orders-0": a, "orders-1": a}
    (one,) = rows(kafka, "replicas", "reassign", "disks", "--balance", "--execute", "--wait")
    assert (one["old"], one["new"], one["result"]) == (a, b, "done")
    back = tmp_path / "back.json"
    some = [{"topic": "orders", "partition": n, "replicas": [1], "log_dirs": [b]} for n in (0, 1)]
    back.write_text(json.dumps({"version": 1, "partitions": some}))
    theirs(kafka, MOVE, "--execute", "--reassignment-json-file", str(back))
    until(lambda: kcli("reassign", "verify", str(back), "-b", kafka.bootstrap).code == 0)
    assert "replica.alter.log.dirs.io" not in theirs(kafka, CONFIG, "--describe", "--entity-type", "brokers")


def _where(told: str) -> dict[str, Any]:
    document = json.loads(next(line for line in told.splitlines() if line.startswith("{")))
    return {
        one["partition"]: place["logDir"]
        for broker in document["brokers"]
        for place in broker["logDirs"]
        for one in place["partitions"]
    }
