"""Every command on a real Apache Kafka; Kafka's own tools are the oracle."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.cluster import Kafka
from tests.programs import kcli

TOPIC_COMMAND = "org.apache.kafka.tools.TopicCommand"
GROUP_COMMAND = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
T0 = int(time.time() - 3600) * 1000  # an hour ago: what is older than retention.ms goes when the broker looks


def rows(*words: str, code: int = 0) -> list[dict[str, Any]]:
    shown = kcli(*words, "--format", "ndjson")
    assert shown.code == code, shown
    return [json.loads(line) for line in shown.out.splitlines()]


def create(kafka: Kafka, name: str, partitions: int, *more: str) -> str:
    made = kcli("topics", "create", name, "-p", str(partitions), "-b", kafka.bootstrap, *more)
    assert made.code == 0, made.err
    return name


@pytest.fixture
def seeded(kafka: Kafka, topic_name: Callable[[], str]) -> str:
    """Three partitions of 30, 20 and 10 records, a second apart, ascending over all of them."""
    topic = create(kafka, topic_name(), 3)
    places = [0] * 30 + [1] * 20 + [2] * 10
    lines = [
        {"partition": place, "key": f"k{n}", "value": f"v{n}", "timestamp": T0 + 1000 * n}
        for n, place in enumerate(places)
    ]
    given = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    assert kcli("produce", topic, "-b", kafka.bootstrap, "--input", "json", stdin=given).code == 0
    return topic


# -- topics ------------------------------------------------------------------------------------------------------------


def test_topics_live_their_life_as_kafka_topics_sees_it(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    topic, other = topic_name(), topic_name()
    at = ("-b", kafka.bootstrap)
    dry = rows("topics", "create", topic, "-p", "4", "--dry-run", *at)
    assert dry[0]["result"] == "would create"
    assert topic not in [row["topic"] for row in rows("topics", "list", *at)]
    made = rows("topics", "create", topic, other, "-p", "4", "-r", "1", "--config", "retention.ms=86400000", *at)
    assert [row["result"] for row in made] == ["created", "created"]
    again = kcli("topics", "create", topic, *at)
    assert again.code == 1
    assert "TOPIC_ALREADY_EXISTS" in again.err + again.out.decode()
    assert kcli("topics", "create", topic, "--if-not-exists", *at).code == 0

    theirs = kafka.tool(TOPIC_COMMAND, "--bootstrap-server", kafka.bootstrap, "--describe", "--topic", topic)
    head = re.search(r"TopicId: (\S+)\s+PartitionCount: (\d+)\s+ReplicationFactor: (\d+)\s+Configs: (\S*)", theirs)
    assert head is not None, theirs
    mine = json.loads(kcli("topics", "describe", topic, "--format", "json", *at).out)
    facts = mine["topics"][0]
    assert (facts["topic_id"], str(facts["partitions"]), str(facts["replicas"])) == head.groups()[:3]
    assert facts["configs"]["retention.ms"] == "86400000"
    assert "retention.ms=86400000" in head[4]
    shown = re.findall(r"Partition: (\d+)\s+Leader: (\d+)\s+Replicas: (\S+)\s+Isr: (\S+)", theirs)
    assert shown == [
        (str(p["partition"]), str(p["leader"]), ",".join(map(str, p["replicas"])), ",".join(map(str, p["isr"])))
        for p in mine["partitions"]
    ]

    listed = kafka.tool(TOPIC_COMMAND, "--bootstrap-server", kafka.bootstrap, "--list").split()
    assert {row["topic"] for row in rows("topics", "list", "--internal", *at)} == set(listed)
    matched = rows("topics", "list", "--match", re.escape(topic), *at)
    assert [row["topic"] for row in matched] == [topic]

    plan = rows("topics", "delete", topic, "--dry-run", *at)
    assert plan[0]["result"] == "would delete"
    gone = rows("topics", "delete", topic, "--execute", *at)
    assert gone[0]["result"] == "deleted"
    assert kcli("topics", "delete", topic, "--execute", *at).code == 1
    assert kcli("topics", "delete", topic, "--if-exists", "--execute", *at).code == 0
    listed = kafka.tool(TOPIC_COMMAND, "--bootstrap-server", kafka.bootstrap, "--list").split()
    assert topic not in listed
    assert other in listed


def test_one_bad_topic_of_many_is_exit_1_and_the_others_are_done(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    good = topic_name()
    made = kcli("topics", "create", good, "bad/name", "-b", kafka.bootstrap, "--format", "ndjson")
    assert made.code == 1
    told = [json.loads(line) for line in made.out.splitlines()]
    assert {row["topic"]: row["result"] for row in told if "topic" in row} == {good: "created", "bad/name": "failed"}
    assert told[-1]["error"]["error"] == "INVALID_TOPIC_EXCEPTION"
    wrong = kcli("topics", "create", topic_name(), "--config", "no.such.config=1", "-b", kafka.bootstrap)
    assert wrong.code == 1
    assert "no.such.config" in wrong.err + wrong.out.decode()


# -- produce, consume, tail, count, offsets ----------------------------------------------------------------------------


def test_consume_understands_every_place_and_time(kafka: Kafka, seeded: str) -> None:
    def read(*words: str) -> list[bytes]:
        shown = kcli("consume", seeded, "-b", kafka.bootstrap, "-e", *words)
        assert shown.code == 0, shown.err
        return shown.out.split()

    def values(*spans: range) -> list[bytes]:
        return [b"v%d" % n for span in spans for n in span]

    assert sorted(read()) == sorted(values(range(60)))
    assert read("-p", "1") == values(range(30, 50))
    assert read("-p", "0", "-o", "25") == values(range(25, 30))
    assert read("-p", "0", "-o", "-3") == values(range(27, 30))
    assert read("-p", "0", "-o", "5:8") == values(range(5, 8))
    assert read("-p", "0", "-o", ":3") == values(range(3))
    assert read("-p", "0", "-o", "+28") == values(range(28, 30))
    assert sorted(read("-p", "1-2", "-o", "-2")) == values(range(48, 50), range(58, 60))
    assert read("-p", "1", "-o", f"@{T0 + 45_000}") == values(range(45, 50))
    assert sorted(read("-o", f"@{T0 + 28_000}:@{T0 + 32_000}")) == values(range(28, 32))
    assert read("-p", "1", "-o", f"s@{T0 + 48_000}") == values(range(48, 50))
    assert read("-o", "end") == []
    assert read("-p", "2", "-c", "4") == values(range(50, 54))
    assert read("-p", "2", "-c", "1", "-f", "%t %p %o %k %K %s %S %T\\n") == [
        seeded.encode(), b"2", b"0", b"k50", b"3", b"v50", b"3", b"%d" % (T0 + 50_000),
    ]  # fmt: skip


def test_count_and_offsets_agree_with_kafkas_own(kafka: Kafka, seeded: str) -> None:
    at = ("-b", kafka.bootstrap)
    assert kcli("count", seeded, *at).out.split()[-1] == b"60"
    assert kcli("count", seeded, *at, "-p", "1").out.split()[-1] == b"20"
    assert kcli("count", seeded, *at, "-o", f"@{T0 + 10_000}:@{T0 + 40_000}").out.split()[-1] == b"30"
    assert [row["count"] for row in rows("count", seeded, *at)] == [30, 20, 10]
    for when, wanted in (("-1", None), ("-2", None), (str(T0 + 25_000), T0 + 25_000)):
        theirs = kafka.tool(
            "org.apache.kafka.tools.GetOffsetShell",
            "--bootstrap-server", kafka.bootstrap, "--topic", seeded, "--time", when,
        )  # fmt: skip
        told = {int(p): int(o) for _, p, o in (line.split(":") for line in theirs.split() if line.startswith("t-"))}
        field = {"-1": "end", "-2": "start"}.get(when, "at_offset")
        mine = rows("offsets", seeded, *at, *(["--at", str(wanted)] if wanted else []))
        assert {row["partition"]: row[field] for row in mine} == told
    late = rows("offsets", seeded, *at, "--at", str(T0 + 3_600_000))
    assert [row["at_offset"] for row in late] == [30, 20, 10]
    assert [row["at_timestamp"] for row in late] == [None, None, None]


def test_offsets_shows_what_a_group_committed(kafka: Kafka, seeded: str) -> None:
    at = ("-b", kafka.bootstrap)
    read = kcli("consume", seeded, *at, "-g", f"g-{seeded}", "--from-beginning", "-e")
    assert (read.code, read.out.count(b"\n")) == (0, 60), read.err
    shown = rows("offsets", seeded, *at, "-g", f"g-{seeded}")
    assert [(row["committed"], row["lag"]) for row in shown] == [(30, 0), (20, 0), (10, 0)]


def test_tail_and_its_bounds(kafka: Kafka, seeded: str) -> None:
    def tail(*words: str) -> list[bytes]:
        shown = kcli("tail", seeded, "-b", kafka.bootstrap, "--no-follow", *words)
        assert shown.code == 0, shown.err
        return shown.out.split()

    assert tail("-n", "3") == [b"v57", b"v58", b"v59"]
    assert tail("-n", "3", "-p", "0,1") == [b"v47", b"v48", b"v49"]
    assert tail("-n", "2", "-o", f":@{T0 + 20_000}") == [b"v18", b"v19"]


def test_produce_takes_values_files_and_whole_files(
    kafka: Kafka, topic_name: Callable[[], str], tmp_path: Path
) -> None:
    topic = create(kafka, topic_name(), 1)
    at = ("-b", kafka.bootstrap)
    (tmp_path / "a").write_bytes(b"line 1\nline 2")
    (tmp_path / "b").write_bytes(b"\x00\xff\nwhole\n")
    assert (
        kcli("produce", topic, *at, "--value", "one", "--value", "two", "-k", "key", "-H", "a=1", "-H", "a=2").code == 0
    )
    assert kcli("produce", topic, *at, str(tmp_path / "a")).code == 0
    assert kcli("produce", topic, *at, "--whole", str(tmp_path / "b"), "--timestamp", str(T0)).code == 0
    shown = kcli("consume", topic, *at, "-e", "--envelope")
    found = [json.loads(line) for line in shown.out.splitlines()]
    assert [row["value"] for row in found[:4]] == ["one", "two", "line 1", "line 2"]
    assert (found[0]["key"], found[0]["headers"]) == ("key", [["a", "1"], ["a", "2"]])
    raw = kcli("consume", topic, *at, "-e", "-o", "4", "-f", "%s")
    assert raw.out == b"\x00\xff\nwhole\n"
    assert found[4]["timestamp"] == T0


def test_options_come_from_properties_and_the_environment(
    kafka: Kafka, seeded: str, topic_name: Callable[[], str], tmp_path: Path
) -> None:
    config = tmp_path / "client.properties"
    config.write_text(
        f"# as the Java tools have it\nbootstrap.servers={kafka.bootstrap}\nclient.id=from-file\n"
        "compression.type=zstd\nisolation.level=read_committed\nsecurity.protocol=PLAINTEXT\n"
        "key.serializer=org.apache.kafka.common.serialization.StringSerializer\n"
    )
    assert kcli("count", seeded, "-F", str(config)).out.split()[-1] == b"60"
    assert kcli("count", seeded, env={"KCLI_BOOTSTRAP": kafka.bootstrap}).out.split()[-1] == b"60"
    assert kcli("count", seeded, "-X", f"bootstrap.servers={kafka.bootstrap}").out.split()[-1] == b"60"
    topic = create(kafka, topic_name(), 1)
    assert (
        kcli("produce", topic, "-F", str(config), "-X", "linger.ms=1", "-X", "acks=1", "--value", "x" * 5000).code == 0
    )
    assert "compresscodec: zstd" in dump(kafka, [topic])
    wrong = kcli("produce", topic, "-b", kafka.bootstrap, "-X", "linger.mss=1", "--value", "x")
    assert (wrong.code, "linger.ms" in wrong.err) == (2, True), wrong


def test_what_is_not_there_is_one_sentence_and_exit_1(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    at = ("-b", kafka.bootstrap)
    for words in (
        ["consume", topic_name(), "-e"], ["produce", topic_name(), "--value", "x"], ["count", topic_name()],
        ["tail", topic_name(), "--no-follow"], ["offsets", topic_name()], ["topics", "describe", topic_name()],
    ):  # fmt: skip
        shown = kcli(*words, *at, timeout=20)
        assert shown.code == 1, (words, shown)
        assert words[1] in shown.err or words[2] in shown.err, (words, shown)
        assert "UNKNOWN_TOPIC_OR_PARTITION" in shown.err or "not exist" in shown.err, (words, shown)
        assert "Traceback" not in shown.err
        assert shown.err.count("\n") <= 2, (words, shown)


# -- groups and lag ----------------------------------------------------------------------------------------------------


def test_groups_as_kafka_consumer_groups_sees_them(kafka: Kafka, seeded: str, tmp_path: Path) -> None:
    from tests.programs import KCLI, Background

    at = ("-b", kafka.bootstrap)
    group, idle = f"g-{seeded}", f"idle-{seeded}"
    assert kcli("consume", seeded, *at, "-g", idle, "--from-beginning", "-c", "7").code == 0
    consume = [*KCLI, "consume", seeded, *at, "-g", group, "--from-beginning", "-X", "client.id=someone"]
    with Background(consume, stdout=tmp_path / "member") as member:
        member.wait_for(60)
        members = rows("groups", "members", group, *at)
        theirs = kafka.tool(
            GROUP_COMMAND,
            "--bootstrap-server",
            kafka.bootstrap,
            "--describe",
            "--members",
            "--verbose",
            "--group",
            group,
        )
        assert [(row["client_id"], row["partitions"]) for row in members] == [("someone", 3)]
        assert members[0]["member_id"] in theirs, theirs
        assert members[0]["host"].strip("/") in theirs
        assert members[0]["assignment"] == [f"{seeded}:{n}" for n in range(3)]
        states = {row["group"]: (row["type"], row["state"]) for row in rows("groups", "list", *at)}
        assert (states[group], states[idle]) == (("classic", "Stable"), ("classic", "Empty"))
        listed = kafka.tool(GROUP_COMMAND, "--bootstrap-server", kafka.bootstrap, "--list", "--state").splitlines()
        ours = {group, idle}  # other tests make and delete groups meanwhile
        told = {words[0]: words[-1] for line in listed if (words := line.split())}
        assert {name: told.get(name) for name in ours} == {name: states[name][1] for name in ours}
        described = json.loads(kcli("groups", "describe", group, *at, "--format", "json").out)
        assert (described["groups"][0]["state"], described["groups"][0]["members"]) == ("Stable", 1)
        assert {row["member_id"] for row in described["partitions"]} == {members[0]["member_id"]}
        refused = kcli("groups", "delete", group, *at, "--execute")
        assert refused.code == 1
        assert "1 member" in refused.err, refused
        assert member.stop() == 0, member.err
    left = rows("groups", "list", "--state", "Empty", *at)
    assert {group, idle} <= {row["group"] for row in left}

    by_topic = rows("lag", group, idle, *at)
    assert {row["group"]: row["lag"] for row in by_topic}[group] == 0
    everyone = rows("lag", *at)
    lags = {row["group"]: row["lag"] for row in everyone}
    assert lags[group] == 0
    assert set(lags) >= {group, idle}
    started = rows("lag", idle, "--by", "partition", *at)  # only where it committed: nobody owns the rest
    assert sum(row["committed"] for row in started) == 7
    assert sum(row["lag"] for row in started) == sum(row["end"] for row in started) - 7
    assert kcli("lag", group, "--max-lag", "0", *at).code == 0
    assert kcli("produce", seeded, *at, "-p", "0", "--value", "one more").code == 0
    assert kcli("lag", group, "--max-lag", "0", *at).code == 3
    assert kcli("lag", group, "--max-lag", "1", *at).code == 0

    gone = rows("groups", "delete", group, idle, "--execute", *at)
    assert [row["result"] for row in gone] == ["deleted", "deleted"]
    listing = kafka.tool(GROUP_COMMAND, "--bootstrap-server", kafka.bootstrap, "--list").split()
    assert not {group, idle} & set(listing)


# -- the log as Kafka's own tool sees it -------------------------------------------------------------------------------


def dump(kafka: Kafka, topics: list[str], *words: str) -> str:
    """DumpLogSegments of partition 0 of each topic on node 1."""
    logs = [kafka.nodes[0].folder / "data" / f"{topic}-0" / f"{0:020}.log" for topic in topics]
    return kafka.tool("org.apache.kafka.tools.DumpLogSegments", "--files", ",".join(map(str, logs)), *words)


def test_DumpLogSegments_finds_every_batch_of_every_codec_valid(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    codecs = {create(kafka, topic_name(), 1): codec for codec in ("none", "gzip", "snappy", "lz4", "zstd")}
    lines = b"".join(b"key-%d\tvalue %d %s\n" % (n, n, b"x" * (n % 200)) for n in range(5000))
    for topic, codec in codecs.items():
        small = ("-X", "batch.size=60000")
        sent = kcli("produce", topic, "-b", kafka.bootstrap, "-z", codec, "-K", "\t", "-H", "h=1", *small, stdin=lines)
        assert sent.code == 0, sent.err
    dumped = dump(kafka, list(codecs), "--deep-iteration")
    assert "Found" not in dumped, dumped[-500:]  # "Found n invalid messages", "Found gaps"
    for text, codec in zip(dumped.split("Dumping ")[1:], codecs.values(), strict=True):
        batches = [line for line in text.splitlines() if "baseOffset:" in line]
        assert len(batches) > 3, text[:2000]
        assert all(f"compresscodec: {codec}" in line and "isvalid: true" in line for line in batches), batches[:3]
        assert all("isTransactional: false" in line and "producerEpoch: 0" in line for line in batches), batches[:3]
        assert sum(line.lstrip("| ").startswith("offset:") for line in text.splitlines()) == 5000
