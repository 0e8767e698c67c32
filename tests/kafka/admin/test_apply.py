"""A declared cluster on a real Apache Kafka with an authorizer: Kafka's tools read what `kcli apply` made, a second run
changes nothing, an export makes the same cluster elsewhere, and undo files take everything back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.cluster import Kafka
from tests.programs import Result, kcli

CONFIGS = "org.apache.kafka.tools.ConfigCommand"
TOOLS = "org.apache.kafka.tools."
PASSWORD = {
    "ALICE_PASSWORD": "wonderland", "APPLY_ALICE_PASSWORD": "wonderland",
    "APPLY_JAAS": 'org.apache.kafka.common.security.plain.PlainLoginModule required user_a="hunter2";',
}  # fmt: skip
MINE = ("apply-*", "broker/*", "group/apply-*", "client-metrics/apply-*", "user apply-*", "User:apply-*")
FILE = """
scope:
  topics: [apply-*]
  configs: [group/apply-*, broker/default]
  users: [apply-*]
  quotas: [user apply-*]
  acls: [User:apply-*]
topics:
  apply-orders:
    partitions: 6
    replication: 1
    configs:
      retention.ms: 3d
      cleanup.policy: [compact, delete]
      min.insync.replicas: 1          # the default: no difference when it is there already
      segment.bytes: 64MiB
  apply-mail: {partitions: 2}
configs:
  broker:
    default: {log.cleaner.backoff.ms: 14s, log.cleaner.threads: 1}
    1:
      log.cleaner.io.buffer.load.factor: 0.80
      listener.name.client.plain.sasl.jaas.config: {env: APPLY_JAAS}
  group:
    apply-app: {consumer.session.timeout.ms: 46s}
  client-metrics:
    apply-latency: {interval.ms: 30s, metrics: [org.apache.kafka.producer., org.apache.kafka.consumer.]}
users:
  apply-alice:
    SCRAM-SHA-512: {iterations: 8192, password: {env: ALICE_PASSWORD}}
    SCRAM-SHA-256: {password: {env: ALICE_PASSWORD}}
quotas:
- {user: apply-alice, client-id: <default>, producer_byte_rate: 10MiB, request_percentage: 50.5%}
acls:
- {principal: User:apply-alice, allow: [read, describe], topic: [apply-orders, apply-mail]}
- {principal: User:apply-alice, allow: read, group: apply-, pattern: prefixed, host: 127.0.0.1}
"""


@pytest.fixture(scope="module")
def guarded() -> Iterator[Kafka]:
    """One node with an authorizer, for whose client listener everybody is a super user."""
    made = Kafka(1, settings={
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    })  # fmt: skip
    made.start()
    yield made
    made.stop()


def run(kafka: Kafka, *words: str, folder: Path, code: int = 0) -> Result:
    environment = {**PASSWORD, "XDG_STATE_HOME": str(folder / "state")}
    done = kcli(*words, "-b", kafka.bootstrap, env=environment)
    assert done.code == code, done.err + done.out.decode()
    return done


def changes(done: Result) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(done.out)["changes"]
    return found


def mine() -> list[str]:
    return [word for one in MINE for word in ("--match", one)]


def exported(kafka: Kafka, folder: Path, *words: str) -> bytes:
    """What `export` prints: nothing, and exit code 1, only where no pattern fits anything."""
    environment = {**PASSWORD, "XDG_STATE_HOME": str(folder / "state")}
    done = kcli("export", *words, *mine(), "-b", kafka.bootstrap, env=environment)
    assert done.code == (0 if done.out else 1), done.err
    return done.out


def theirs(kafka: Kafka, tool: str, *words: str) -> str:
    return kafka.tool(tool, "--bootstrap-server", kafka.bootstrap, *words)


def test_what_is_declared_is_what_Kafkas_tools_read(guarded: Kafka, kafka: Kafka, tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(FILE)
    before = exported(guarded, tmp_path)
    assert b"apply-" not in before
    assert run(guarded, "diff", str(file), folder=tmp_path, code=3).out
    planned = changes(run(guarded, "apply", str(file), "--dry-run", "-J", folder=tmp_path))
    assert {row["result"] for row in planned} <= {"would create", "would change"}
    assert "log.cleaner.threads" not in {row["config"] for row in planned}  # 1 is what every broker has anyhow
    undo = tmp_path / "undo.json"
    done = changes(run(guarded, "apply", str(file), "--execute", "-J", "--undo-file", str(undo), folder=tmp_path))
    assert {row["result"] for row in done} == {"created", "changed"}, done

    assert b"apply-orders" in run(guarded, "export", *mine(), folder=tmp_path).out  # exit code 0

    told = theirs(guarded, TOOLS + "TopicCommand", "--describe", "--topic", "apply-orders")
    assert "PartitionCount: 6" in told
    assert "retention.ms=259200000" in told
    assert "segment.bytes=67108864" in told
    assert "compact" in told
    told = theirs(guarded, CONFIGS, "--describe", "--entity-type", "brokers", "--entity-default")
    assert "log.cleaner.backoff.ms=14000" in told
    told = theirs(guarded, CONFIGS, "--describe", "--entity-type", "brokers", "--entity-name", "1")
    assert "listener.name.client.plain.sasl.jaas.config=null sensitive=true" in told
    assert {row["new"] for row in done if row["config"].endswith("jaas.config")} == {"***"}
    assert "hunter2" not in undo.read_text()
    told = theirs(guarded, CONFIGS, "--describe", "--entity-type", "groups",
                  "--entity-name", "apply-app")  # fmt: skip
    assert "consumer.session.timeout.ms=46000" in told
    told = theirs(guarded, CONFIGS, "--describe", "--entity-type", "users",
                  "--entity-name", "apply-alice")  # fmt: skip
    assert "SCRAM-SHA-512=iterations=8192" in told
    assert "SCRAM-SHA-256=iterations=8192" in told
    told = theirs(guarded, CONFIGS, "--describe", "--entity-type", "users",
                  "--entity-name", "apply-alice", "--entity-type", "clients", "--entity-default")  # fmt: skip
    assert "producer_byte_rate=1.048576E7" in told
    assert "request_percentage=50.5" in told
    told = theirs(guarded, TOOLS + "AclCommand", "--list", "--principal", "User:apply-alice")
    assert "ResourcePattern(resourceType=GROUP, name=apply-, patternType=PREFIXED)" in told
    assert "host=127.0.0.1, operation=READ" in told
    assert told.count("operation=DESCRIBE") == 2

    for words in (("diff", str(file)), ("apply", str(file), "--execute"), ("apply", str(file), "--prune", "--execute")):
        assert run(guarded, *words, folder=tmp_path).out == b"", words
    elsewhere(guarded, kafka, tmp_path)

    theirs(guarded, CONFIGS, "--alter", "--entity-type", "topics", "--entity-name", "apply-orders",
           "--add-config", "retention.ms=5,max.message.bytes=2000000")  # fmt: skip
    theirs(guarded, TOOLS + "AclCommand", "--add", "--allow-principal", "User:apply-bob", "--operation", "Write",
           "--topic", "apply-orders")  # fmt: skip
    drifted = changes(run(guarded, "diff", str(file), "--prune", "-J", folder=tmp_path, code=3))
    assert {(row["change"], row["config"], row["old"], row["new"]) for row in drifted} == {
        ("~", "retention.ms", "5", "259200000"), ("-", "max.message.bytes", "2000000", "1048588"),
        ("-", "allow write topic apply-orders", None, None),
    }  # fmt: skip
    run(guarded, "apply", str(file), "--prune", "--execute", folder=tmp_path)
    assert run(guarded, "diff", str(file), "--prune", folder=tmp_path).out == b""

    run(guarded, "apply", str(undo), "--prune", "--execute", folder=tmp_path)
    assert exported(guarded, tmp_path) == before


def elsewhere(one: Kafka, other: Kafka, folder: Path) -> None:
    """The export of one real cluster makes the same in another, but for the ACLs: that one has no authorizer."""
    sections = ("--only", "topics", "--only", "users", "--only", "quotas")
    for format in ("yaml", "toml"):
        made = exported(one, folder, *sections, "--format", format)
        file = folder / f"export.{format}"
        file.write_bytes(made)
        assert run(one, "apply", str(file), "--execute", folder=folder).out == b""
        run(other, "apply", str(file), "--execute", folder=folder)
        assert exported(other, folder, *sections, "--format", format) == made
    absent = folder / "absent.yaml"
    absent.write_text("scope: {topics: [apply-*], users: [apply-*], quotas: [user apply-*]}\n")
    run(other, "apply", str(absent), "--prune", "--execute", folder=folder)
    whole = folder / "whole.yaml"
    whole.write_bytes(exported(one, folder))
    refused = run(other, "apply", str(whole), "--dry-run", folder=folder, code=1)
    assert "SECURITY_DISABLED" in refused.err


def test_what_a_real_broker_refuses_is_told_before_anything_is_changed(guarded: Kafka, tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(
        "topics: {apply-a: {configs: {cleanup.policy: sometimes}}, apply-b: {partitions: 1}}\n"
        "configs: {broker: {1: {log.cleaner.threads: -1}}}\n"
        "quotas: [{user: apply-x, connection_creation_rate: 5}]\n"
    )
    done = changes(run(guarded, "apply", str(file), "--execute", "-J", folder=tmp_path, code=1))
    assert {row["name"]: row["result"] for row in done} == {
        "apply-a": "failed", "apply-b": "would create", "1": "failed", "user apply-x": "failed",
    }  # fmt: skip
    assert b"apply-b" not in run(guarded, "topics", "list", folder=tmp_path).out
