"""Three nodes, hurt while kcli works: what was acknowledged is there, once, in order, and nobody waits for ever."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kafka.checker import ACKED, FAILED, UNKNOWN
from tests.kafka.cluster import Kafka, Node
from tests.kafka.load import Load
from tests.programs import KCLI, Background, kcli

COUNTS = re.compile(
    r"(\d+) records? read: (\d+) acknowledged, (\d+) failed, (\d+) unknown, (\d+) not sent"
)  # what kcli produce says of its records
IMPATIENT = ["-X", "delivery.timeout.ms=8000", "-X", "request.timeout.ms=3000"]


def create(kafka: Kafka, name: str, partitions: int = 3, *config: str) -> str:
    made = kcli("topics", "create", name, "-p", str(partitions), "-r", "3", "-b", kafka.bootstrap, *config)
    assert made.code == 0, made.err
    return name


def told(err: str) -> tuple[int, int, int, int, int]:
    """What kcli produce says: read, acknowledged, failed, unknown, not sent."""
    found = COUNTS.search(err)
    assert found is not None, err
    read, acked, failed, unknown, unsent = (int(word) for word in found.groups())
    assert read == acked + failed + unknown + unsent, err
    return read, acked, failed, unknown, unsent


def values(kafka: Kafka, topic: str) -> list[bytes]:
    read = kcli("consume", topic, "-b", kafka.bootstrap, "-e")
    assert read.code == 0, read.err
    return read.out.splitlines()


async def test_F11_a_zombie_leader_costs_nothing(kafka3: Kafka, topic_name: Callable[[], str]) -> None:
    topic = create(kafka3, topic_name())
    async with Load(kafka3.bootstrap, topic, 3) as load:
        await load.progress()
        zombie = await asyncio.to_thread(kafka3.leader, topic)
        zombie.pause()
        await asyncio.sleep(5.0)  # longer than its session: the others elect, and it does not know
        zombie.resume()
        await load.progress(2000)
    counts = await load.verify()
    assert counts[FAILED] == counts[UNKNOWN] == 0


@pytest.mark.long
async def test_F10_a_rolling_restart_is_not_noticed(kafka3: Kafka, topic_name: Callable[[], str]) -> None:
    topic = create(kafka3, topic_name())
    async with Load(kafka3.bootstrap, topic, 3) as load:
        for node in kafka3.nodes:
            await load.progress()
            await asyncio.to_thread(node.kill, signal.SIGTERM)
            await load.progress()
            await asyncio.to_thread(kafka3.heal)
        await load.progress()
    counts = await load.verify()
    assert counts[FAILED] == counts[UNKNOWN] == 0
    assert counts[ACKED] > 3000


def coordinator(kafka: Kafka, group: str) -> Node:
    shown = kcli("groups", "list", "-b", kafka.bootstrap, "--format", "ndjson")
    rows = [json.loads(line) for line in shown.out.splitlines()]
    return next(kafka.nodes[row["coordinator"] - 1] for row in rows if row["group"] == group)


@pytest.mark.long
def test_F25_a_group_outlives_its_coordinator(kafka3: Kafka, topic_name: Callable[[], str], tmp_path: Path) -> None:
    topic = create(kafka3, topic_name(), 4)
    group = f"g-{topic}"
    consume = [*KCLI, "consume", topic, "-b", kafka3.bootstrap, "-g", group, "-f", "%p %o %s\\n", "-u"]
    produce = ["produce", topic, "-b", kafka3.bootstrap, "-K", "\t"]
    lines = [b"k%d\t%d\n" % (n % 97, n) for n in range(9000)]
    with Background(consume, stdout=tmp_path / "one") as one, Background(consume, stdout=tmp_path / "two") as two:

        def wait_for(total: int) -> list[bytes]:
            deadline = time.monotonic() + 40
            while one.out.count(b"\n") + two.out.count(b"\n") < total:
                assert one.process.poll() is two.process.poll() is None, (one.err, two.err)
                assert time.monotonic() < deadline, (one.out.count(b"\n"), two.out.count(b"\n"), one.err, two.err)
                time.sleep(0.05)
            return one.out.splitlines() + two.out.splitlines()

        assert kcli(*produce, stdin=b"".join(lines[:3000])).code == 0
        wait_for(3000)
        _wait_members(kafka3, group, 2)
        coordinator(kafka3, group).kill()
        assert kcli(*produce, stdin=b"".join(lines[3000:6000])).code == 0
        wait_for(6000)
        kafka3.heal()
        assert kcli(*produce, stdin=b"".join(lines[6000:])).code == 0
        rows = wait_for(9000)
        assert (one.stop(), two.stop()) == (0, 0), (one.err, two.err)
    assert one.out, "the first member got nothing"
    assert two.out, "the second member got nothing"
    assert sorted(int(row.split()[2]) for row in rows) == list(range(9000))
    lag = kcli("lag", group, "--by", "partition", "-b", kafka3.bootstrap, "--format", "ndjson")
    assert [json.loads(line)["lag"] for line in lag.out.splitlines()] == [0, 0, 0, 0], lag


def _wait_members(kafka: Kafka, group: str, count: int) -> None:
    deadline = time.monotonic() + 30
    while True:
        shown = kcli("groups", "members", group, "-b", kafka.bootstrap, "--format", "ndjson")
        rows = [json.loads(line) for line in shown.out.splitlines()] if shown.code == 0 else []
        if sum(row["partitions"] > 0 for row in rows) == count:
            return
        assert time.monotonic() < deadline, shown


@pytest.mark.long
def test_F12_too_few_in_sync_is_waited_for_and_then_a_failure_that_wrote_nothing(
    kafka3: Kafka, topic_name: Callable[[], str], tmp_path: Path
) -> None:
    topic = create(kafka3, topic_name(), 1, "--config", "min.insync.replicas=3")
    assert kcli("produce", topic, "-b", kafka3.bootstrap, stdin=b"before\n").code == 0
    follower = next(node for node in kafka3.nodes if node is not kafka3.leader(topic))
    follower.kill()
    _wait_isr(kafka3, topic, 2)
    patient = [*KCLI, "produce", topic, "-b", kafka3.bootstrap, "--value", "patience", "-v"]
    with Background(patient, stdout=tmp_path / "produce") as producer:
        begun = time.monotonic()
        sent = kcli("produce", topic, "-b", kafka3.bootstrap, *IMPATIENT, stdin=b"a\nb\nc\n", timeout=30)
        assert sent.code in (1, 4), sent
        assert 7 < time.monotonic() - begun < 15
        assert told(sent.err) == (3, 0, 3, 0, 0)
        assert "delivery.timeout.ms" in sent.err
        assert "NOT_ENOUGH_REPLICAS" in sent.err, "the reason is worth more than the time it took"
        assert producer.process.poll() is None, producer.err
        kafka3.heal()
        assert producer.process.wait(30) == 0, producer.err
        assert told(producer.err) == (1, 1, 0, 0, 0)
    assert values(kafka3, topic) == [b"before", b"patience"]


def _wait_isr(kafka: Kafka, topic: str, count: int) -> None:
    deadline = time.monotonic() + 30
    while True:
        shown = kcli("topics", "describe", topic, "-b", kafka.bootstrap, "--format", "ndjson")
        if shown.code == 0 and len(json.loads(shown.out.splitlines()[0])["isr"]) == count:
            return
        assert time.monotonic() < deadline, shown


@pytest.mark.long
def test_F12_without_a_majority_the_outcome_is_unknown_and_said_so(
    kafka3: Kafka, topic_name: Callable[[], str], tmp_path: Path
) -> None:
    topic = create(kafka3, topic_name(), 1)
    report = tmp_path / "report"
    produce = [*KCLI, "produce", topic, "-b", kafka3.bootstrap, *IMPATIENT, "--report", str(report)]
    with Background(produce, stdout=tmp_path / "produce", stdin=subprocess.PIPE) as producer:
        assert producer.process.stdin is not None
        producer.process.stdin.write(b"before\n")
        producer.process.stdin.flush()
        _wait_file(report, b'"acked"')
        leader = kafka3.leader(topic)
        for node in kafka3.nodes:
            if node is not leader:
                node.pause()
        producer.process.stdin.write(b"a\nb\n")
        producer.process.stdin.close()
        begun = time.monotonic()
        code = producer.process.wait(30)
        took = time.monotonic() - begun
    kafka3.heal()
    assert code in (1, 4), producer.err
    assert 7 < took < 16, producer.err
    assert told(producer.err) == (3, 1, 0, 2, 0)  # the leader has them and cannot say for how long
    assert sum(json.loads(line)["count"] for line in report.read_text().splitlines()) == 3
    assert values(kafka3, topic) in ([b"before"], [b"before", b"a", b"b"])


def _wait_file(path: Path, text: bytes) -> None:
    deadline = time.monotonic() + 20
    while not path.exists() or text not in path.read_bytes():
        assert time.monotonic() < deadline, path
        time.sleep(0.05)


def test_F2_dead_bootstrap_addresses_are_passed_over(kafka3: Kafka, topic_name: Callable[[], str]) -> None:
    topic = create(kafka3, topic_name())
    dead, _, alive = kafka3.nodes
    dead.kill()
    _wait_isr(kafka3, topic, 2)
    for addresses in (
        f"127.0.0.1:{dead.client_port},127.0.0.1:{alive.client_port}",
        f"127.0.0.1:{alive.client_port},127.0.0.1:{dead.client_port}",
        kafka3.bootstrap,
    ):
        assert kcli("produce", topic, "-b", addresses, "--value", "x", timeout=20).code == 0
    read = kcli("consume", topic, "-b", kafka3.bootstrap, "-e", timeout=20)
    assert (read.code, read.out) == (0, b"x\nx\nx\n"), read.err


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_R2_R7_a_total_outage_ends_a_bounded_read_with_a_sentence(
    kafka3: Kafka, topic_name: Callable[[], str], tmp_path: Path, how: signal.Signals
) -> None:
    topic = create(kafka3, topic_name())
    lines = b"".join(b"%d %s\n" % (n, b"x" * 1000) for n in range(50_000))
    assert kcli("produce", topic, "-b", kafka3.bootstrap, stdin=lines).code == 0
    consume = [
        *KCLI, "consume", topic, "-b", kafka3.bootstrap, "-e", "--timeout-ms", "4000",
        "-X", "fetch.max.bytes=50000", "-X", "max.partition.fetch.bytes=20000", "-X", "queued.max.messages.kbytes=100",
    ]  # fmt: skip
    with Background(consume, stdout=tmp_path / "consume") as consumer:
        consumer.wait_for(100)
        consumer.process.send_signal(signal.SIGSTOP)  # or it may read the rest before the last node is gone
        try:
            assert consumer.process.poll() is None
            for node in kafka3.nodes:
                node.kill(how)
        finally:
            consumer.process.send_signal(signal.SIGCONT)
        code = consumer.process.wait(20)
    assert code in (4, 5), consumer.err
    assert consumer.err.startswith("kcli: "), consumer.err
    assert consumer.err.count("\n") <= 4, "the end, and at most a line for each broker: " + consumer.err
    assert "Traceback" not in consumer.err
    rows = consumer.out.split(b"\n")
    assert rows.pop() == b"", "whole records only (R3)"
    assert all(len(row.split()[1]) == 1000 for row in rows)


@pytest.mark.parametrize("command", [["topics", "list"], ["consume", "t", "-e"], ["produce", "t", "--value", "x"]])
def test_F2_nobody_there_is_exit_5_naming_the_addresses(command: list[str]) -> None:
    began = time.monotonic()
    shown = kcli(*command, "-b", "127.0.0.1:1,127.0.0.1:2", "-X", "default.api.timeout.ms=3000", timeout=20)
    assert shown.code == 5, shown
    assert time.monotonic() - began < 8
    assert "127.0.0.1:1" in shown.err
    assert shown.err.count("\n") <= 2


def test_R5_a_killed_leader_costs_no_record_no_duplicate_and_no_order(
    kafka3: Kafka, topic_name: Callable[[], str], tmp_path: Path
) -> None:
    lines = 300_000
    topic = create(kafka3, topic_name())
    produce = [*KCLI, "produce", topic, "-b", kafka3.bootstrap, "-K", "\t", "--acks", "all", "-v"]
    produce += ["-X", "batch.size=16384"]
    with Background(produce, stdout=tmp_path / "produce", stdin=subprocess.PIPE) as producer:
        assert producer.process.stdin is not None
        for start in range(0, lines, 1000):
            block = b"".join(b"k%d\t%d\n" % (n % 1000, n) for n in range(start, start + 1000))
            producer.process.stdin.write(block)
            producer.process.stdin.flush()
            if start == lines // 3:
                kafka3.leader(topic).kill()
            if start >= lines // 3:
                time.sleep(0.01)
        producer.process.stdin.close()
        assert producer.process.wait(90) == 0, producer.err
        assert told(producer.err) == (lines, lines, 0, 0, 0)
    kafka3.heal()
    read = kcli("consume", topic, "-b", kafka3.bootstrap, "-o", "beginning", "-e", "-f", "%k %s\\n", timeout=60)
    assert read.code == 0, read.err
    rows = [(row.split()[0], int(row.split()[1])) for row in read.out.splitlines()]
    assert sorted(n for _, n in rows) == list(range(lines))
    last: dict[bytes, int] = {}
    for key, n in rows:
        assert last.get(key, -1) < n, f"{key!r}: {n} after {last[key]}"
        last[key] = n
