"""Groups and lag on a real Apache Kafka; Kafka's own ConsumerGroupCommand is the oracle."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kafka.cluster import Kafka
from tests.programs import KCLI, Background, kcli


@pytest.fixture
def topic(kafka: Kafka, topic_name: Callable[[], str]) -> str:
    name = topic_name()
    assert kcli("topics", "create", name, "-p", "4", "-b", kafka.bootstrap, "--wait").code == 0
    return name


def kafkas_lag(kafka: Kafka, group: str) -> dict[tuple[str, int], tuple[str, str, str]]:
    """(topic, partition) to (committed, end, lag) as kafka-consumer-groups prints them."""
    text = kafka.tool(
        "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
        "--bootstrap-server", kafka.bootstrap, "--describe", "--group", group,
    )  # fmt: skip
    rows: dict[tuple[str, int], tuple[str, str, str]] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 6 and words[0] == group:
            rows[words[1], int(words[2])] = (words[3], words[4], words[5])
    assert rows, text
    return rows


def kclis_lag(kafka: Kafka, group: str) -> dict[tuple[str, int], tuple[str, str, str]]:
    shown = kcli("lag", group, "--by", "partition", "-b", kafka.bootstrap, "--format", "ndjson")
    assert shown.code == 0, shown.err
    rows = [json.loads(line) for line in shown.out.splitlines()]
    return {(row["topic"], row["partition"]): _texts(row["committed"], row["end"], row["lag"]) for row in rows}


def _texts(*figures: int | None) -> tuple[str, str, str]:
    committed, end, lag = ("-" if one is None else str(one) for one in figures)
    return committed, end, lag


def test_two_members_share_a_topic_and_nothing_is_read_twice(kafka: Kafka, topic: str, tmp_path: Path) -> None:
    group = f"g-{topic}"
    consume = [*KCLI, "consume", topic, "-b", kafka.bootstrap, "-g", group, "--from-beginning", "-f", "%p %s\\n"]
    with Background(consume, stdout=tmp_path / "one") as one, Background(consume, stdout=tmp_path / "two") as two:
        _wait_members(kafka, group, 2)
        lines = b"".join(b"k%d\t%d\n" % (n % 97, n) for n in range(10_000))
        assert kcli("produce", topic, "-b", kafka.bootstrap, "-K", "\t", stdin=lines).code == 0
        _wait_total(one, two, 10_000)
        assert one.stop() == 0
        assert two.stop() == 0
    rows = one.out.splitlines() + two.out.splitlines()
    assert sorted(int(row.split()[1]) for row in rows) == list(range(10_000))
    assert not {row.split()[0] for row in one.out.splitlines()} & {row.split()[0] for row in two.out.splitlines()}
    assert kclis_lag(kafka, group) == kafkas_lag(kafka, group)
    assert all(row[2] == "0" for row in kclis_lag(kafka, group).values())


def _wait_members(kafka: Kafka, group: str, count: int) -> None:
    for _ in range(60):
        shown = kcli("groups", "members", group, "-b", kafka.bootstrap, "--format", "ndjson")
        members = [json.loads(line) for line in shown.out.splitlines()] if shown.code == 0 else []
        if len({m["member_id"] for m in members if m.get("partitions")}) == count:
            return
    raise AssertionError(f"{group} never had {count} members with partitions: {shown}")


def _wait_total(one: Background, two: Background, count: int) -> None:
    import time

    deadline = time.monotonic() + 30
    while one.out.count(b"\n") + two.out.count(b"\n") < count:
        assert time.monotonic() < deadline, (one.err, two.err)
        time.sleep(0.05)


def test_the_lag_table_agrees_with_kafka_consumer_groups(kafka: Kafka, topic: str) -> None:
    group = f"g-{topic}"
    lines = b"".join(b"k%d\t%d\n" % (n % 50, n) for n in range(1000))
    assert kcli("produce", topic, "-b", kafka.bootstrap, "-K", "\t", stdin=lines).code == 0
    read = kcli("consume", topic, "-b", kafka.bootstrap, "-g", group, "--from-beginning", "-c", "400", "-q")
    assert read.code == 0, read.err
    assert kcli("produce", topic, "-b", kafka.bootstrap, "-K", "\t", stdin=lines).code == 0
    mine = kclis_lag(kafka, group)
    theirs = kafkas_lag(kafka, group)
    assert {key: row for key, row in mine.items() if row[0] != "-"} == {k: r for k, r in theirs.items() if r[0] != "-"}
    assert sum(int(row[2]) for row in mine.values() if row[2] != "-") <= 1600
    over = kcli("lag", group, "-b", kafka.bootstrap, "--max-lag", "10")
    assert over.code == 3
    fine = kcli("lag", group, "-b", kafka.bootstrap, "--max-lag", "1000000")
    assert fine.code == 0


def test_a_group_goes_on_where_it_committed(kafka: Kafka, topic: str) -> None:
    group = f"g-{topic}"
    lines = b"".join(b"%d\n" % n for n in range(1000))
    assert kcli("produce", topic, "-b", kafka.bootstrap, "-p", "0", stdin=lines).code == 0
    first = kcli("consume", topic, "-b", kafka.bootstrap, "-g", group, "--from-beginning", "-c", "300")
    second = kcli("consume", topic, "-b", kafka.bootstrap, "-g", group, "-c", "700")
    assert (first.code, second.code) == (0, 0), (first.err, second.err)
    assert first.out + second.out == lines


def test_groups_are_listed_described_and_deleted(kafka: Kafka, topic: str) -> None:
    group = f"g-{topic}"
    assert kcli("produce", topic, "-b", kafka.bootstrap, stdin=b"a\nb\n").code == 0
    assert kcli("consume", topic, "-b", kafka.bootstrap, "-g", group, "--from-beginning", "-c", "2").code == 0
    listed = kcli("groups", "list", "-b", kafka.bootstrap, "--format", "ndjson")
    assert group in {json.loads(line)["group"] for line in listed.out.splitlines()}
    assert kcli("groups", "describe", group, "-b", kafka.bootstrap).code == 0
    gone = kcli("groups", "delete", group, "-b", kafka.bootstrap, "--execute")
    assert gone.code == 0, gone.err
    listed = kcli("groups", "list", "-b", kafka.bootstrap, "--format", "ndjson")
    assert group not in {json.loads(line)["group"] for line in listed.out.splitlines()}
