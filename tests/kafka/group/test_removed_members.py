"""Members that are removed from groups of a real Kafka; its own ConsumerGroupCommand sees them go."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.cluster import Kafka
from tests.programs import KCLI, Background, kcli


@pytest.fixture
def topic(kafka: Kafka, topic_name: Callable[[], str]) -> str:
    name = topic_name()
    assert kcli("topics", "create", name, "-p", "4", "-b", kafka.bootstrap, "--wait").code == 0
    return name


def members(kafka: Kafka, group: str) -> list[dict[str, Any]]:
    shown = kcli("groups", "members", group, "-b", kafka.bootstrap, "-J")
    rows: list[dict[str, Any]] = json.loads(shown.out)["members"] if shown.code == 0 else []
    return rows


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def consume(kafka: Kafka, topic: str, *words: str) -> list[str]:
    return [*KCLI, "consume", topic, "-b", kafka.bootstrap, "-g", f"g-{topic}", "--from-beginning", *words]


def test_a_static_member_that_is_gone_is_removed_and_its_partitions_are_free(
    kafka: Kafka, topic: str, tmp_path: Path
) -> None:
    group = f"g-{topic}"
    static = ("-X", "group.instance.id=pod-7", "-X", "session.timeout.ms=300000")
    with Background(consume(kafka, topic, *static), stdout=tmp_path / "one") as one:
        until(lambda: [row["partitions"] for row in members(kafka, group)] == [4])
        assert one.stop() == 0
    assert [row["instance_id"] for row in members(kafka, group)] == ["pod-7"], "a static member does not leave"
    with Background(consume(kafka, topic, "-X", "heartbeat.interval.ms=200"), stdout=tmp_path / "two"):
        until(lambda: len(members(kafka, group)) == 2)
        words = ("groups", "remove-members", group, "--member", "pod-7", "-b", kafka.bootstrap, "-J")
        assert json.loads(kcli(*words, "--dry-run").out)["members"][0]["result"] == "would remove"
        assert len(members(kafka, group)) == 2
        removed = kcli(*words, "--execute")
        assert removed.code == 0, removed.err
        assert [row["result"] for row in json.loads(removed.out)["members"]] == ["removed"]
        until(lambda: [(row["instance_id"], row["partitions"]) for row in members(kafka, group)] == [(None, 4)])
    seen = kafka.tool(
        "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
        "--bootstrap-server", kafka.bootstrap, "--describe", "--members", "--group", group,
    )  # fmt: skip
    assert "pod-7" not in seen
    again = kcli(*words, "--execute")
    assert again.code == 1
    assert f"{group}: the group has no member pod-7" in again.out.decode() + again.err


def test_all_members_are_removed_and_the_group_is_empty(kafka: Kafka, topic: str, tmp_path: Path) -> None:
    group = f"g-{topic}"
    static = ("-X", "group.instance.id=a", "-X", "session.timeout.ms=300000")
    with Background(consume(kafka, topic, *static), stdout=tmp_path / "one") as one:
        until(lambda: [row["partitions"] for row in members(kafka, group)] == [4])
        assert one.stop() == 0
    assert kcli("groups", "remove-members", group, "--all", "--execute", "-b", kafka.bootstrap).code == 0
    listed = json.loads(kcli("groups", "list", "-b", kafka.bootstrap, "-J").out)["groups"]
    assert [row["state"] for row in listed if row["group"] == group] == ["Empty"]


def test_a_static_member_of_a_kip_848_group_is_removed_too(kafka: Kafka, topic: str, tmp_path: Path) -> None:
    group = f"g-{topic}"
    words = consume(kafka, topic, "-X", "group.protocol=consumer")
    with Background([*words, "-X", "group.instance.id=pod-7"], stdout=tmp_path / "one") as one:
        until(lambda: [row["partitions"] for row in members(kafka, group)] == [4])
        assert one.stop() == 0
    with Background(words, stdout=tmp_path / "two"):
        until(lambda: len(members(kafka, group)) == 2)
        removed = kcli("groups", "remove-members", group, "--member", "pod-7", "--execute", "-b", kafka.bootstrap)
        assert removed.code == 0, removed.err
        until(lambda: [(row["instance_id"], row["partitions"]) for row in members(kafka, group)] == [(None, 4)])


def test_a_member_of_a_share_group_is_refused_and_kafka_refuses_it_too(
    kafka: Kafka, topic: str, tmp_path: Path
) -> None:
    group = f"s-{topic}"
    with Background([*KCLI, "consume", topic, "-b", kafka.bootstrap, "--share-group", group], stdout=tmp_path / "one"):
        until(lambda: len(members(kafka, group)) == 1)
        refused = kcli("groups", "remove-members", group, "--all", "--execute", "-b", kafka.bootstrap)
        assert refused.code == 1
        assert "this is a share group; Kafka removes members of classic and consumer groups only" in refused.err
        body = {"group_id": group, "members": [{"member_id": members(kafka, group)[0]["member_id"]}]}
        raw = kcli("raw", "LeaveGroup", json.dumps(body), "--broker", f"group:{group}", "-b", kafka.bootstrap)
        assert "UNKNOWN_MEMBER_ID" in raw.err
        assert len(members(kafka, group)) == 1
