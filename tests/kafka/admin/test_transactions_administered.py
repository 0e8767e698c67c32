"""`kcli txn`, `cluster features`, `voters`, `unregister`, `meta` and `raw` beside Kafka's tools and kcat, both ways, on
two nodes whose quorum can change (KIP-853) and whose brokers verify no transactions (so that they can hang)."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import time
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer

from kcli import SyncClient
from tests.kafka.cluster import Kafka, Node
from tests.programs import kcli, until
from tests.sandbox.client import batch

TOOLS = "org.apache.kafka.tools."
TRANSACTIONAL = 0x10
HOUR = 3_600_000


class Growing(Kafka):
    """The first node votes alone; the others may get a vote."""

    def _format(self, node: Node) -> None:
        self.format_words = ["--standalone"] if node.id == 1 else ["--no-initial-controllers"]
        super()._format(node)


@contextlib.contextmanager
def growing() -> Iterator[Kafka]:
    cluster = Growing(2, {"controller.quorum.voters": "", "transaction.partition.verification.enable": "false"})
    cluster.settings["controller.quorum.bootstrap.servers"] = f"127.0.0.1:{cluster.nodes[0].controller_port}"
    cluster.start()
    try:
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="module")
def two() -> Iterator[Kafka]:
    with growing() as cluster:
        yield cluster


@pytest.fixture
def doomed() -> Iterator[Kafka]:
    """Two nodes of which a test may lose one for good."""
    with growing() as cluster:
        yield cluster


def ours(kafka: Kafka, *words: str, code: int = 0) -> dict[str, Any]:
    """The document that a command of ours prints."""
    done = kcli(*words, "-b", kafka.bootstrap, *([] if words[0] == "raw" else ["--format", "json"]))
    assert done.code == code, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def theirs(kafka: Kafka, tool: str, *words: str) -> str:
    """What a tool of Kafka's prints."""
    return kafka.tool(TOOLS + tool, "--bootstrap-server", kafka.bootstrap, *words)


def table(text: str, first: str) -> list[list[str]]:
    """The rows below the heading that begins with `first`."""
    lines = text.splitlines()
    at = next((n for n, line in enumerate(lines) if line.startswith(first)), None)
    assert at is not None, text
    return [line.split() for line in lines[at + 1 :] if line.strip()]


def begun(kafka: Kafka, name: str) -> int:
    """A producer id for a transactional id; the coordinator may have to load its partition first."""
    body = json.dumps({"transactionalId": name, "transactionTimeoutMs": 60_000})
    until = time.monotonic() + 20
    while True:
        done = kcli("raw", "InitProducerId", body, "--broker", f"txn:{name}", "-b", kafka.bootstrap)
        if done.code == 0:
            found: int = json.loads(done.out)["producerId"]
            return found
        assert time.monotonic() < until, done.err
        time.sleep(0.2)


def hang(kafka: Kafka, topic: str, producer: int | None = None, *, name: str) -> tuple[int, int]:
    """A batch of a transaction whose coordinator was never told of the partition, an hour old, as KIP-664's are made:
    Produce 11 to a broker that verifies nothing. (producer id, offset)."""
    if producer is None:
        producer = begun(kafka, name)
    then = int(time.time() * 1000) - HOUR
    data = batch(1, producer=producer, epoch=0, sequence=0, attributes=TRANSACTIONAL, value=b"ghost", timestamp=then)
    part = {"index": 0, "records": b64encode(data).decode()}
    body = {"transactionalId": name, "acks": -1, "timeoutMs": 5000,
            "topicData": [{"name": topic, "partitionData": [part]}]}  # fmt: skip
    told = ours(kafka, "raw", "Produce", json.dumps(body), "--api-version", "11", "--broker", f"leader:{topic}:0")
    offset: int = told["responses"][0]["partitionResponses"][0]["baseOffset"]
    return producer, offset


def created(kafka: Kafka, topic: str) -> str:
    ours(kafka, "topics", "create", topic, "-p", "1", "-r", "1")
    return topic


def found_by_theirs(kafka: Kafka) -> set[tuple[str, int, int, int]]:
    """(topic, partition, producer id, start offset) of what Kafka's tool takes for hanging, on both brokers."""
    rows = set()
    for broker in ("1", "2"):
        told = theirs(kafka, "TransactionsCommand", "find-hanging", "--broker-id", broker,
                      "--max-transaction-timeout", "15")  # fmt: skip
        rows |= {(row[0], int(row[1]), int(row[2]), int(row[5])) for row in table(told, "Topic")}
    return rows


def test_hanging_transactions_are_those_kafkas_tool_finds_and_each_aborts_one(two: Kafka) -> None:
    known, unknown = created(two, "hang-known"), created(two, "hang-unknown")
    first, first_at = hang(two, known, name="ghost")
    second, second_at = hang(two, unknown, 424_242, name="nobody")
    live = Producer({"bootstrap.servers": two.bootstrap, "transactional.id": "alive", "transaction.timeout.ms": 60_000})
    live.init_transactions(20)
    live.begin_transaction()
    alive = created(two, "alive-topic")
    live.produce(alive, b"open")
    live.flush(20)

    rows = ours(two, "txn", "find-hanging", code=3)["transactions"]
    mine = {(row["topic"], row["partition"], row["producer_id"], row["open_since"]) for row in rows}
    assert mine == {(known, 0, first, first_at), (unknown, 0, second, second_at)} == found_by_theirs(two)
    by_topic = {row["topic"]: row for row in rows}
    assert by_topic[known]["transactional_id"] == "ghost"
    assert by_topic[unknown]["transactional_id"] is None
    at_once = ours(two, "txn", "find-hanging", alive, "--older-than", "0s")
    assert at_once["transactions"] == [], "its coordinator knows the one that is alive"

    reader = ("consume", known, "-e", "-o", "beginning", "--isolation", "read_committed", "-b", two.bootstrap)
    assert kcli("produce", known, "--value", "behind", "-b", two.bootstrap).code == 0
    assert kcli(*reader).out == b"", "the one that hangs holds readers up"
    (done,) = ours(two, "txn", "abort", f"{known}:0", "--start-offset", str(first_at), "--execute")["transactions"]
    assert done["result"] == "aborted"
    assert kcli(*reader).out == b"behind\n"
    assert found_by_theirs(two) == {(unknown, 0, second, second_at)}
    theirs(two, "TransactionsCommand", "abort", "--topic", unknown, "--partition", "0", "--start-offset",
           str(second_at))  # fmt: skip
    assert ours(two, "txn", "find-hanging")["transactions"] == []

    refused = ours(two, "txn", "abort", f"{alive}:0", "--start-offset", "0", "--execute", code=1)
    assert "kcli txn fence alive" in refused["errors"][0]["message"]
    (fenced,) = ours(two, "txn", "fence", "alive", "--execute")["transactions"]
    assert (fenced["result"], fenced["new"] > fenced["old"]) == ("fenced", True)
    live.produce(alive, b"late")
    with pytest.raises(KafkaException):
        live.commit_transaction(20)
    everything = ("consume", alive, "-e", "-o", "beginning", "-b", two.bootstrap)
    assert kcli(*everything, "--isolation", "read_uncommitted").out == b"open\n"
    assert kcli(*everything).out == b""


def test_transactions_and_producers_are_as_kafkas_tool_tells_them(two: Kafka) -> None:
    topic = created(two, "told")
    for name in ("told-1", "told-2"):
        assert kcli("produce", topic, "--value", "x", "--transactional-id", name, "-b", two.bootstrap).code == 0

    def theirs_now() -> list[list[str]]:
        return table(theirs(two, "TransactionsCommand", "list"), "TransactionalId")

    # a commit is answered when it is prepared, and complete a moment later
    until(lambda: "PrepareCommit" not in str(theirs_now()), 15.0)
    told = theirs_now()
    listed = ours(two, "txn", "list")["transactions"]
    assert [
        [row["transactional_id"], str(row["coordinator"]), str(row["producer_id"]), row["state"]] for row in listed
    ] == sorted(told)
    some = ours(two, "txn", "list", "--pattern", "told-.*", "--state", "CompleteCommit")["transactions"]
    assert [row["transactional_id"] for row in some] == ["told-1", "told-2"]
    (row,) = table(theirs(two, "TransactionsCommand", "describe", "--transactional-id", "told-1"), "CoordinatorId")
    (one,) = ours(two, "txn", "describe", "told-1")["transactions"]
    mine = [one["coordinator"], "told-1", one["producer_id"], one["epoch"], one["state"], int(one["timeout"] * 1000)]
    assert [str(value) for value in mine] == row[:6]
    told = table(theirs(two, "TransactionsCommand", "describe-producers", "--topic", topic, "--partition", "0"),
                 "ProducerId")  # fmt: skip
    producers = ours(two, "txn", "producers", topic)["producers"]
    assert {(str(p["producer_id"]), str(p["epoch"]), str(p["coordinator_epoch"]), str(p["last_sequence"]))
            for p in producers} == {tuple(row[:4]) for row in told}  # fmt: skip


def test_features_go_down_by_ours_and_up_by_theirs(two: Kafka) -> None:
    def level() -> str:
        told = theirs(two, "FeatureCommand", "describe")
        found = re.search(r"Feature: share\.version\s.*?FinalizedVersionLevel: (\S+)", told)
        assert found is not None, told
        return found[1]

    assert level() == "2"
    (plan,) = ours(two, "cluster", "features", "downgrade", "share.version=0", "--dry-run")["features"]
    assert (plan["old"], plan["new"], plan["result"]) == (2, 0, "would change")
    assert level() == "2"
    (done,) = ours(two, "cluster", "features", "downgrade", "share.version=0", "--execute")["features"]
    assert done["result"] == "done"
    assert level() == "0"
    theirs(two, "FeatureCommand", "upgrade", "--feature", "share.version=2")
    rows = {row["feature"]: row["level"] for row in ours(two, "cluster", "features")["features"]}
    assert rows["share.version"] == 2
    refused = ours(two, "cluster", "features", "set", "share.version=9", "--dry-run", code=1)
    assert "INVALID_UPDATE_VERSION" in refused["errors"][0]["message"]
    assert {row["result"] for row in ours(two, "cluster", "features", "upgrade", "--dry-run")["features"]} == {
        "unchanged"
    }


@pytest.mark.needs("kcat")
def test_meta_is_what_kcat_reads_and_coord_what_librdkafka_would_ask(two: Kafka) -> None:
    created(two, "metas")
    mine = ours(two, "meta")
    text = subprocess.run(["kcat", "-L", "-J", "-b", two.bootstrap], capture_output=True, timeout=30, check=True).stdout
    kcats = json.loads(text)
    assert [(one["broker"], f"{one['host']}:{one['port']}") for one in mine["brokers"]] == [
        (one["id"], one["name"]) for one in sorted(kcats["brokers"], key=lambda one: one["id"])
    ]
    assert {
        (p["topic"], p["partition"], p["leader"], tuple(p["replicas"]), tuple(p["isr"])) for p in mine["partitions"]
    } == {
        (
            t["topic"],
            p["partition"],
            p["leader"],
            tuple(r["id"] for r in p["replicas"]),
            tuple(i["id"] for i in p["isrs"]),
        )
        for t in kcats["topics"]
        for p in t["partitions"]
    }
    ours(two, "groups", "list")
    assert kcli("consume", "metas", "-g", "billing", "-e", "-b", two.bootstrap).code == 0
    share = ours(two, "coord", "billing", "--txn", "told-1", "--share", "billing:metas:0")["coordinators"]
    told = theirs(two, "consumer.group.ConsumerGroupCommand", "--describe", "--group", "billing", "--state")
    assert f"({share[0]['coordinator']})" in told
    assert {row["kind"] for row in share} == {"group", "transaction", "share"}


def test_the_controller_is_the_leader_of_the_quorum(two: Kafka) -> None:
    """In KRaft each Metadata response names a random broker, so one answer proves nothing."""
    found = re.search(r"LeaderId:\s+(\d+)", theirs(two, "MetadataQuorumCommand", "describe", "--status"))
    assert found is not None
    with SyncClient(two.bootstrap) as client:
        named = {client.admin.describe_cluster().controller for _ in range(40)}
    assert named == {int(found[1])}
    assert ours(two, "meta")["cluster"][0]["controller"] == int(found[1])


def test_a_vote_is_given_by_ours_and_taken_by_theirs_and_a_dead_broker_forgotten(doomed: Kafka) -> None:
    second = doomed.nodes[1]

    def told() -> str:
        return theirs(doomed, "MetadataQuorumCommand", "describe", "--status")

    def roles() -> dict[int, str]:
        return {row["node"]: row["role"] for row in ours(doomed, "cluster", "voters")["voters"]}

    assert roles() == {1: "leader", 2: "observer"}
    (row,) = ours(doomed, "cluster", "voters", "add", f"2@127.0.0.1:{second.controller_port}", "--execute")["voters"]
    assert row["result"] == "done"
    assert roles() == {1: "leader", 2: "voter"}
    voters = re.search(r"CurrentVoters:\s+(.*)", told())
    assert voters is not None
    assert f'"id": 2, "directoryId": "{row["directory_id"]}"' in voters[1]
    theirs(doomed, "MetadataQuorumCommand", "remove-controller", "--controller-id", "2", "--controller-directory-id",
           row["directory_id"])  # fmt: skip
    assert roles() == {1: "leader", 2: "observer"}
    ours(doomed, "cluster", "voters", "add", f"2@127.0.0.1:{second.controller_port}", "--execute")
    (gone,) = ours(doomed, "cluster", "voters", "remove", "2", "--execute")["voters"]
    assert (gone["result"], roles()) == ("done", {1: "leader", 2: "observer"})

    second.kill()
    first = doomed.nodes.pop()  # from here on the first one is the cluster
    try:
        until = time.monotonic() + 20
        while kcli(
            "cluster", "unregister", "2", "--dry-run", "-b", doomed.bootstrap
        ).code:  # it is up, for all one knows
            assert time.monotonic() < until
            time.sleep(0.3)
        (plan,) = ours(doomed, "cluster", "unregister", "2", "--dry-run")["brokers"]
        assert (plan["state"], plan["result"]) == ("fenced", "would unregister")
        (done,) = ours(doomed, "cluster", "unregister", "2", "--execute")["brokers"]
        assert done["result"] == "done"
        words = ("list-endpoints", "--bootstrap-server", doomed.bootstrap, "--include-fenced-brokers")
        listed = doomed.tool(TOOLS + "ClusterTool", *words)
        assert [row[0] for row in table(listed, "ID")] == ["1"]
        assert [row["broker"] for row in ours(doomed, "brokers", "list")["brokers"]] == [1]
    finally:
        doomed.nodes.append(first)
