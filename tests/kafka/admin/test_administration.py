"""What the administration commands change, Kafka's own tools read, and the reverse; on a real Apache Kafka."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tests.kafka.artifacts import POM
from tests.kafka.cluster import Kafka
from tests.programs import kcli

ADMIN = "org.apache.kafka.tools."


def rows(kafka: Kafka, section: str, *words: str, code: int = 0) -> list[dict[str, Any]]:
    """The rows that a command of ours prints."""
    done = kcli(*words, "-b", kafka.bootstrap, "--format", "json")
    assert done.code == code, done.err
    found: list[dict[str, Any]] = json.loads(done.out)[section]
    return found


def theirs(kafka: Kafka, tool: str, *words: str) -> str:
    """What a tool of Kafka's prints."""
    return kafka.tool(tool, "--bootstrap-server", kafka.bootstrap, *words)


def test_partitions_and_configs_of_a_topic(kafka3: Kafka, topic_name: Callable[[], str]) -> None:
    topic = topic_name()
    rows(kafka3, "topics", "topics", "create", topic, "-p", "2", "-r", "3")
    changed = rows(kafka3, "changes", "topics", "alter", topic, "-p", "5", "--config", "retention.ms=5000", "--execute")
    assert {row["result"] for row in changed} == {"done"}
    told = theirs(kafka3, ADMIN + "TopicCommand", "--describe", "--topic", topic)
    assert "PartitionCount: 5" in told
    assert "retention.ms=5000" in told
    fewer = rows(kafka3, "changes", "topics", "alter", topic, "-p", "3", "--execute", code=1)
    assert fewer[0]["result"] == "failed"
    theirs(kafka3, "org.apache.kafka.tools.ConfigCommand", "--alter", "--entity-type", "topics", "--entity-name", topic,
           "--add-config", "segment.ms=123456789")  # fmt: skip
    rows(kafka3, "configs", "configs", "set", "topic", topic, "max.message.bytes=2000000", "--execute")
    found = {row["config"]: row for row in rows(kafka3, "configs", "configs", "get", "topic", topic)}
    assert (found["segment.ms"]["value"], found["retention.ms"]["value"]) == ("123456789", "5000")
    assert (found["max.message.bytes"]["value"], found["max.message.bytes"]["inherited"]) == ("2000000", "1048588")


def test_configs_of_brokers_loggers_groups_and_client_metrics(kafka3: Kafka) -> None:
    for kind, name, pair in (
        ("broker", "1", "log.cleaner.io.buffer.load.factor=0.8"),
        ("broker", "default", "log.cleaner.backoff.ms=14000"),
        ("logger", "2", "kafka.server.KafkaApis=WARN"),
        ("group", "some-group", "consumer.session.timeout.ms=46000"),
        ("client-metrics", "some-metrics", "interval.ms=60000"),
    ):
        (row,) = rows(kafka3, "configs", "configs", "set", kind, name, pair, "--execute")
        key, _, value = pair.partition("=")
        assert row["result"] == "done", (kind, row)
        (now,) = rows(kafka3, "configs", "configs", "get", kind, name, key)
        assert now["value"] == value, (kind, now)
        if kind != "logger":
            (gone,) = rows(kafka3, "configs", "configs", "delete", kind, name, key, "--execute")
            assert gone["result"] == "done"
            assert key not in {one["config"] for one in rows(kafka3, "configs", "configs", "get", kind, name)}
    assert "some-metrics" not in {row["name"] for row in rows(kafka3, "resources", "configs", "list", "client-metrics")}
    wrong = rows(kafka3, "configs", "configs", "set", "broker", "1", "log.cleaner.threads=-1", "--execute", code=1)
    assert wrong[0]["result"] == "failed"


def test_documentation_of_configs_is_plain_text(kafka3: Kafka) -> None:
    done = kcli("configs", "get", "broker", "1", "--all", "--docs", "-J", "-b", kafka3.bootstrap)
    texts = {row["config"]: row["documentation"] or "" for row in json.loads(done.out)["configs"]}
    assert len(texts) > 200
    marked = {name: text for name, text in texts.items() if re.search(r"</|<p>|<br|<li>|&(lt|gt|quot|mdash);", text)}
    assert not marked
    assert "the <user> and <client-id> quotas" in " ".join(texts.values()), "what is no tag stays"


def test_records_before_an_offset_are_gone_for_everybody(kafka3: Kafka, topic_name: Callable[[], str]) -> None:
    topic = topic_name()
    rows(kafka3, "topics", "topics", "create", topic, "-p", "2", "-r", "3")
    for partition in ("0", "1"):
        done = kcli(
            "produce", topic, "-p", partition, "-b", kafka3.bootstrap, stdin=b"".join(b"%d\n" % n for n in range(50))
        )
        assert done.code == 0, done.err
    trimmed = rows(kafka3, "partitions", "topics", "trim", topic, "--before", "-10", "--execute")
    assert [(row["old"], row["new"], row["result"]) for row in trimmed] == [(0, 40, "trimmed")] * 2
    told = theirs(kafka3, ADMIN + "GetOffsetShell", "--topic", topic, "--time", "earliest")
    assert sorted(told.split()) == [f"{topic}:0:40", f"{topic}:1:40"]


def test_sizes_are_those_of_kafka_log_dirs(kafka3: Kafka, topic_name: Callable[[], str]) -> None:
    topic = topic_name()
    rows(kafka3, "topics", "topics", "create", topic, "-p", "3", "-r", "3")
    assert kcli("produce", topic, "-b", kafka3.bootstrap, stdin=b"".join(b"%d\n" % n for n in range(5000))).code == 0
    kafka3.wait_in_sync()
    told = theirs(kafka3, ADMIN + "LogDirsCommand", "--describe", "--topic-list", topic)
    document = json.loads(next(line for line in told.splitlines() if line.startswith("{")))
    wanted = {
        (broker["broker"], one["partition"]): one["size"]
        for broker in document["brokers"]
        for place in broker["logDirs"]
        for one in place["partitions"]
    }
    ours = rows(kafka3, "replicas", "logdirs", "replicas", "--topic", topic)
    assert {(row["broker"], f"{row['topic']}-{row['partition']}"): row["size"] for row in ours} == wanted
    (stats,) = rows(kafka3, "topics", "topics", "stats", topic, "--over", "0")
    assert stats["offsets"] == 5000
    assert stats["size"] == sum(wanted.values()) / 3
    assert stats["idle"] < 120


def test_the_quorum_features_and_brokers_are_those_kafka_tells(kafka3: Kafka) -> None:
    told = theirs(kafka3, ADMIN + "MetadataQuorumCommand", "describe", "--status")
    found = dict(re.findall(r"^(\w+):\s+(\S+)", told, re.MULTILINE))
    (quorum,) = rows(kafka3, "quorum", "cluster", "quorum")
    assert str(quorum["leader"]) == found["LeaderId"]
    assert str(quorum["epoch"]) == found["LeaderEpoch"]
    nodes = rows(kafka3, "nodes", "cluster", "quorum")
    assert len(nodes) >= 3
    assert [node["role"] for node in nodes].count("leader") == 1
    told = theirs(kafka3, ADMIN + "FeatureCommand", "describe")
    levels = dict(re.findall(r"Feature: (\S+)\s.*?FinalizedVersionLevel: (\S+)", told))
    ours = {row["feature"]: row["level"] for row in rows(kafka3, "features", "cluster", "features")}
    for name, level in levels.items():
        if level.isdecimal() and name in ours:
            assert (ours[name] or 0) == int(level), name
    (overview,) = rows(kafka3, "cluster", "cluster")
    assert overview["cluster_id"] == found["ClusterId"]
    version = re.search(r"<kafka.version>(\d+\.\d+)", POM.read_text())
    assert version is not None
    releases = {row["broker"]: row["release"] for row in rows(kafka3, "brokers", "brokers")}
    assert releases == dict.fromkeys((1, 2, 3), version[1])
