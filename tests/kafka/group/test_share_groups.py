"""Share groups on a real Apache Kafka: kcli's members beside Java's KafkaShareConsumer in one group."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.kafka.artifacts import libs
from tests.kafka.cluster import Kafka
from tests.kafka.strangers import until
from tests.kafka.tools import java
from tests.programs import KCLI, Background, Result, kcli


@pytest.fixture
def topic(kafka: Kafka, topic_name: Callable[[], str]) -> str:
    """A topic of four partitions, and a share group of its name that begins at the beginning."""
    return prepared(kafka, topic_name())


def prepared(kafka: Kafka, name: str, *more: str) -> str:
    assert kcli("topics", "create", name, "-p", "4", "-b", kafka.bootstrap, "--wait", *more).code == 0
    assert share(kafka, name, "--from-beginning", "-n", "0").code == 0
    return name


def share(kafka: Kafka, topic: str, *words: str, timeout: float = 60) -> Result:
    return kcli("consume", topic, "-b", kafka.bootstrap, "--share-group", topic, *words, timeout=timeout)


def produce(kafka: Kafka, topic: str, first: int, last: int) -> None:
    lines = b"".join(b"k%d\t%d\n" % (n, n) for n in range(first, last))
    sent = kcli("produce", topic, "-b", kafka.bootstrap, "-K", "\t", stdin=lines)
    assert sent.code == 0, sent.err


def member(kafka: Kafka, topic: str, path: Path, *more: str) -> Background:
    words = [*KCLI, "consume", topic, "-b", kafka.bootstrap, "--share-group", topic, *more]
    return Background(words, stdout=path)


def java_member(kafka: Kafka, topic: str, path: Path, *more: str) -> Background:
    """Kafka's own VerifiableShareConsumer: a line of JSON for all it does."""
    words = [
        *java(), "-cp", f"{libs()}/*", "org.apache.kafka.tools.VerifiableShareConsumer",
        "--bootstrap-server", kafka.bootstrap, "--topic", topic, "--group-id", topic, "--verbose", *more,
    ]  # fmt: skip
    return Background(words, stdout=path)


def ours(one: Background) -> list[int]:
    return [int(word) for word in one.out.split(b"\n")[:-1]]


def theirs(one: Background) -> list[int]:
    rows = [json.loads(line) for line in one.out.splitlines() if line.startswith(b'{"')]
    return [int(row["value"]) for row in rows if row["name"] == "record_data"]


def java_reads(kafka: Kafka, topic: str, count: int) -> str:
    """What the console share consumer prints, delivery counts included."""
    return kafka.tool(
        "org.apache.kafka.tools.consumer.ConsoleShareConsumer",
        "--bootstrap-server", kafka.bootstrap, "--topic", topic, "--group", topic, "--max-messages", str(count),
        "--timeout-ms", "15000", "--formatter-property", "print.delivery=true",
    )  # fmt: skip


def lag(kafka: Kafka, topic: str) -> int:
    ran = kcli("lag", topic, "-b", kafka.bootstrap, "--by", "group", "-J")
    assert ran.code == 0, ran.err
    (row,) = json.loads(ran.out)["groups"]
    return (row["lag"] or 0) + (row["unread"] or 0)  # of partitions that nobody has begun, all is unread


def test_E64_kcli_and_javas_share_consumer_share_one_group_and_every_record_comes_once(
    kafka: Kafka, topic: str, tmp_path: Path
) -> None:
    with member(kafka, topic, tmp_path / "ours") as mine, java_member(kafka, topic, tmp_path / "java") as other:
        first, deadline = 0, time.monotonic() + 90  # a JVM may take its time to come
        while not (ours(mine) and theirs(other)):
            produce(kafka, topic, first, first + 500)
            first += 500
            assert time.monotonic() < deadline, (mine.err, other.err)
            time.sleep(0.2)
        produce(kafka, topic, first, first + 4000)
        first += 4000
        until(lambda: len(set(ours(mine)) | set(theirs(other))) == first)
        described = kcli("groups", "members", topic, "-b", kafka.bootstrap, "--format", "json")
        rows = json.loads(described.out)["members"]
        assert len(rows) == 2
        assert all(row["subscribed"] == [topic] and row["partitions"] >= 1 for row in rows)
        assert mine.stop() == 0, mine.err
        assert other.stop(signal.SIGTERM) in (0, 143)
        both = ours(mine) + theirs(other)
    assert sorted(both) == list(range(first))
    until(lambda: lag(kafka, topic) == 0)


def test_E64_what_kcli_releases_java_gets_with_a_higher_delivery_count_and_the_other_way_round(
    kafka: Kafka, topic: str
) -> None:
    produce(kafka, topic, 0, 20)
    peek = share(kafka, topic, "-e", "--share-ack", "release")
    assert sorted(map(int, peek.out.split())) == list(range(20)), peek.err
    told = java_reads(kafka, topic, 20)
    rows = re.findall(r"Delivery:(\d+)\s+(\d+)", told)
    assert sorted(int(value) for _, value in rows) == list(range(20)), told[-2000:]
    assert {count for count, _ in rows} == {"2"}
    assert share(kafka, topic, "-e").out == b""
    produce(kafka, topic, 20, 40)
    released = kafka.tool(
        "org.apache.kafka.tools.consumer.ConsoleShareConsumer",
        "--bootstrap-server", kafka.bootstrap, "--topic", topic, "--group", topic, "--max-messages", "20",
        "--timeout-ms", "15000", "--release",
    )  # fmt: skip
    assert len(re.findall(r"^\d+$", released, re.M)) == 20, released[-2000:]
    again = share(kafka, topic, "-e")
    assert sorted(map(int, again.out.split())) == list(range(20, 40)), again.err


def test_E64_what_kcli_rejects_nobody_gets(kafka: Kafka, topic: str) -> None:
    produce(kafka, topic, 0, 20)
    assert share(kafka, topic, "-n", "20", "--share-ack", "reject").out.count(b"\n") == 20
    produce(kafka, topic, 20, 25)
    told = java_reads(kafka, topic, 5)
    assert sorted(int(value) for _, value in re.findall(r"Delivery:(\d+)\s+(\d+)", told)) == list(range(20, 25))


def test_a_limit_takes_exactly_so_many_and_gives_the_rest_back(kafka: Kafka, topic: str) -> None:
    produce(kafka, topic, 0, 1000)
    first = share(kafka, topic, "-n", "137")
    assert first.out.count(b"\n") == 137, first.err
    until(lambda: lag(kafka, topic) == 863)
    rest = share(kafka, topic, "-e")
    assert sorted(map(int, (first.out + rest.out).split())) == list(range(1000)), rest.err


def test_E66_what_a_killed_member_held_another_gets(kafka: Kafka, topic: str, tmp_path: Path) -> None:
    kafka.tool(
        "org.apache.kafka.tools.ConfigCommand", "--bootstrap-server", kafka.bootstrap, "--alter", "--group", topic,
        "--add-config", "share.session.timeout.ms=2000,share.heartbeat.interval.ms=500",
    )  # fmt: skip
    produce(kafka, topic, 0, 1000)
    with member(kafka, topic, tmp_path / "held", "--share-ack", "release", "--timeout-ms", "60000") as holder:
        holder.wait_for(1000)
        holder.process.kill()
        holder.process.wait(10)
    again = share(kafka, topic, "-n", "1000", timeout=40)
    assert sorted(map(int, again.out.split())) == list(range(1000)), again.err


def test_E67_start_and_lag_are_what_kafkas_own_tool_says(kafka: Kafka, topic: str) -> None:
    produce(kafka, topic, 0, 400)
    assert share(kafka, topic, "-n", "150").code == 0
    until(lambda: lag(kafka, topic) == 250)
    told = kafka.tool(
        "org.apache.kafka.tools.consumer.group.ShareGroupCommand",
        "--bootstrap-server", kafka.bootstrap, "--describe", "--group", topic, "--offsets",
    )  # fmt: skip
    pattern = rf"^{topic}\s+{topic}\s+(\d+)\s+(\S+)\s+(\S+)"
    rows = {int(p): (start, behind) for p, start, behind in re.findall(pattern, told, re.M)}
    shown = kcli("lag", topic, "-b", kafka.bootstrap, "--by", "partition", "-J")
    mine = {
        row["partition"]: tuple("-" if row[name] is None else str(row[name]) for name in ("committed", "lag"))
        for row in json.loads(shown.out)["partitions"]
    }
    assert len(rows) == 4, told
    assert mine == rows
    described = kcli("groups", "describe", topic, "-b", kafka.bootstrap, "-J")
    (group,) = json.loads(described.out)["groups"]
    assert (group["type"], group["state"], group["members"]) == ("share", "Empty", 0)
    assert share(kafka, topic, "-e").out.count(b"\n") == 250


SHARE_GROUPS = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"


def starts(kafka: Kafka, group: str) -> dict[int, str]:
    """The start of each partition as kafka-share-groups.sh shows it."""
    told = kafka.tool(SHARE_GROUPS, "--bootstrap-server", kafka.bootstrap, "--describe", "--group", group, "--offsets")
    return {int(p): start for p, start in re.findall(rf"^{group}\s+{group}\s+(\d+)\s+(\S+)", told, re.M)}


def changed(kafka: Kafka, *words: str, code: int = 0) -> dict[int, str]:
    ran = kcli("groups", *words, "-b", kafka.bootstrap, "-J")
    assert ran.code == code, ran.err
    return {row["partition"]: row["result"] for row in json.loads(ran.out)["partitions"]}


def test_a_new_group_starts_at_the_end_and_kcli_says_so(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    topic = topic_name()
    assert kcli("topics", "create", topic, "-p", "4", "-b", kafka.bootstrap, "--wait").code == 0
    produce(kafka, topic, 0, 100)
    first = share(kafka, topic, "-e")
    assert first.out == b""
    assert f"{topic} has not read {topic} before and starts at the end; --from-beginning" in first.err
    assert kcli("lag", topic, "--max-lag", "0", "-b", kafka.bootstrap).code == 0
    (row,) = json.loads(kcli("lag", topic, "--by", "group", "-b", kafka.bootstrap, "-J").out)["groups"]
    assert (row["lag"], row["unread"] or 0, row["status"]) == (0, 0, "OK")


def test_resets_and_deletions_are_what_kafkas_own_tool_shows(kafka: Kafka, topic: str, tmp_path: Path) -> None:
    for first in (0, 400):  # the coordinator stores a new start with the next acknowledgement
        produce(kafka, topic, first, first + 400)
        assert share(kafka, topic, "-e").out.count(b"\n") == 400
        until(lambda: lag(kafka, topic) == 0)
    before, undo = starts(kafka, topic), str(tmp_path / "undo.json")
    assert len(before) == 4
    assert set(before.values()) != {"0"}
    words = ("reset", topic, "-t", topic, "--to-earliest")
    assert set(changed(kafka, *words, "--dry-run").values()) == {"would reset"}
    assert starts(kafka, topic) == before
    assert set(changed(kafka, *words, "--execute", "--undo-file", undo).values()) == {"reset"}
    assert starts(kafka, topic) == dict.fromkeys(range(4), "0")
    assert set(changed(kafka, "reset", "--from-file", undo, "--execute").values()) == {"reset"}
    assert starts(kafka, topic) == before
    assert changed(kafka, "delete-offsets", topic, "-t", f"{topic}:0", "--execute", code=1) == {0: "refused"}
    gone = changed(kafka, "delete-offsets", topic, "-t", topic, "--execute", "--undo-file", f"{undo}.2")
    assert set(gone.values()) == {"deleted"}
    assert starts(kafka, topic) == {}
    assert set(changed(kafka, "reset", "--from-file", f"{undo}.2", "--execute").values()) == {"reset"}
    assert starts(kafka, topic) == before


def test_a_group_in_use_is_not_reset(kafka: Kafka, topic: str, tmp_path: Path) -> None:
    produce(kafka, topic, 0, 40)
    with member(kafka, topic, tmp_path / "ours") as mine:
        mine.wait_for(40)
        ended = changed(kafka, "reset", topic, "-t", topic, "--to-earliest", "--execute", code=1)
        assert set(ended.values()) == {"refused"}
        assert mine.stop() == 0


def test_the_state_of_a_share_group_is_decoded(kafka: Kafka, topic: str) -> None:
    """Delivery counts are in no response of Kafka's, only in the records of the share coordinator."""
    produce(kafka, topic, 0, 20)
    assert share(kafka, topic, "-e", "--share-ack", "release").out.count(b"\n") == 20
    words = ("--key-format", "share-group-state", "--value-format", "share-group-state", "-K", "\t", "-e", "-q")
    read = kcli("consume", "__share_group_state", *words, "--key-grep", topic, "-b", kafka.bootstrap)
    rows = [tuple(map(json.loads, line.split(b"\t"))) for line in read.out.splitlines()]
    assert {key["type"] for key, _ in rows} >= {"share-snapshot", "share-update"}
    assert {key["group"] for key, _ in rows} == {topic}
    batches = [batch for key, value in rows if key["type"] == "share-update" for batch in value["stateBatches"]]
    assert {(batch["deliveryState"], batch["deliveryCount"]) for batch in batches} == {("Available", 1)}
    assert {value["startOffset"] for _, value in rows} <= {0, -1}


@pytest.mark.long
def test_E65_a_dead_leader_loses_no_record(
    kafka3: Kafka, topic_name: Callable[[], str], tmp_path: Path
) -> None:  # fmt: skip
    topic = prepared(kafka3, topic_name(), "-r", "3")
    produce(kafka3, topic, 0, 1000)
    with member(kafka3, topic, tmp_path / "ours") as mine:
        mine.wait_for(1000)
        kafka3.leader(topic, 0).kill()
        produce(kafka3, topic, 1000, 3000)
        until(lambda: set(ours(mine)) == set(range(3000)), 60)
        code = mine.stop()
        assert code == 0 or "written" in mine.err  # what was unknown when the node died is said
    kafka3.heal()


@pytest.fixture(scope="module")
def without() -> Iterator[Kafka]:
    """A Kafka on which share groups are switched off."""
    cluster = Kafka(1, features={"share.version": 0})
    cluster.start()
    yield cluster
    cluster.stop()


def test_E63_a_cluster_without_share_groups_says_how_they_are_switched_on(
    without: Kafka, topic_name: Callable[[], str]
) -> None:
    name = topic_name()
    assert kcli("topics", "create", name, "-b", without.bootstrap, "--wait").code == 0
    ran = kcli("consume", name, "-b", without.bootstrap, "--share-group", "g", "-e")
    assert (ran.code, ran.out) == (1, b"")
    assert "upgrade --feature share.version=1`" in ran.err
