"""Three nodes, the leader killed with SIGKILL while producing with acks=all: nothing lost, nothing twice, in order."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.kafka.cluster import Kafka
from tests.programs import KCLI, Background, kcli

PARTITIONS = 3
LINES = 300_000


def leader_of(kafka: Kafka, topic: str, partition: int) -> int:
    shown = kcli("topics", "describe", topic, "-b", kafka.bootstrap, "--format", "json")
    assert shown.code == 0, shown.err
    found = json.loads(shown.out)
    text = json.dumps(found)
    for row in _partitions(found):
        if row.get("partition") == partition:
            return int(row["leader"])
    raise AssertionError(text)


def _partitions(value: object) -> list[dict[str, int]]:
    """Every object with a partition and a leader, wherever the document has it."""
    if isinstance(value, dict):
        own = [value] if "leader" in value and "partition" in value else []
        return own + [row for one in value.values() for row in _partitions(one)]
    if isinstance(value, list):
        return [row for one in value for row in _partitions(one)]
    return []


def test_R5_a_killed_leader_costs_no_record_no_duplicate_and_no_order(
    kafka3: Kafka, topic_name: Callable[[], str], tmp_path: Path
) -> None:
    topic = topic_name()
    made = kcli("topics", "create", topic, "-p", str(PARTITIONS), "-r", "3", "-b", kafka3.bootstrap, "--wait")
    assert made.code == 0, made.err
    produce = [
        *KCLI,
        "produce",
        topic,
        "-b",
        kafka3.bootstrap,
        "-K",
        "\t",
        "--acks",
        "all",
        "-v",
        "-X",
        "batch.size=16384",
    ]
    with Background(produce, stdout=tmp_path / "produce", stdin=subprocess.PIPE) as producer:
        assert producer.process.stdin is not None
        killed = None
        for start in range(0, LINES, 1000):
            block = b"".join(b"k%d\t%d\n" % (n % 1000, n) for n in range(start, start + 1000))
            producer.process.stdin.write(block)
            producer.process.stdin.flush()
            if start == LINES // 3:
                killed = kafka3.nodes[leader_of(kafka3, topic, 0) - 1]
                killed.kill()
            if start >= LINES // 3:
                time.sleep(0.01)
        producer.process.stdin.close()
        assert producer.process.wait(90) == 0, producer.err
    assert killed is not None
    killed.start()
    kafka3.wait_ready()
    read = kcli("consume", topic, "-b", kafka3.bootstrap, "-o", "beginning", "-e", "-f", "%k %s\\n", timeout=60)
    assert read.code == 0, read.err
    rows = [(row.split()[0], int(row.split()[1])) for row in read.out.splitlines()]
    assert sorted(n for _, n in rows) == list(range(LINES))
    last: dict[bytes, int] = {}
    for key, n in rows:
        assert last.get(key, -1) < n, f"{key!r}: {n} after {last[key]}"
        last[key] = n
