"""`kcli copy` against a real Apache Kafka: a million records, and exactly once though both sides are killed."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kafka.cluster import Kafka
from tests.kafka.transactions import decided
from tests.programs import KCLI, kcat, kcli

LINES = 1_000_000


def made(kafka: Kafka, name: str, partitions: int) -> str:
    done = kcli("topics", "create", name, "-p", str(partitions), "-b", kafka.bootstrap)
    assert done.code == 0, done.err
    return name


@pytest.mark.needs("kcat")
@pytest.mark.long
@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_a_million_records_are_copied_untouched(
    kafka: Kafka, topic_name: Callable[[], str], tmp_path: Path, codec: str
) -> None:
    source, target = made(kafka, topic_name(), 3), made(kafka, topic_name(), 3)
    lines = tmp_path / "lines"
    lines.write_bytes(b"".join(b"key%d\trecord number %d\n" % (n % 1000, n) for n in range(LINES)))
    sent = kcli("produce", source, "-K", "\t", "-z", codec, "-b", kafka.bootstrap, stdin=lines, timeout=120)
    assert sent.code == 0, sent.err
    done = kcli("copy", source, target, "-b", kafka.bootstrap, "-J", timeout=120)
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)["copies"]
    assert (row["copied"], row["untouched"], row["failed"], row["unknown"]) == (LINES, LINES, 0, 0)
    for partition in range(3):
        both = [
            kcat("-b", kafka.bootstrap, "-C", "-t", one, "-p", str(partition), "-e", "-q", "-f", "%o %T %k %s\\n").out
            for one in (source, target)
        ]
        assert hashlib.sha256(both[0]).hexdigest() == hashlib.sha256(both[1]).hexdigest()
        assert both[0]


@pytest.mark.needs("kcat")
@pytest.mark.long
def test_exactly_once_though_kcli_and_a_leader_are_killed(kafka3: Kafka, topic_name: Callable[[], str]) -> None:
    source, target = made(kafka3, topic_name(), 3), made(kafka3, topic_name(), 3)
    given = b"".join(b"k%d\t%d\n" % (n % 50, n) for n in range(20_000))
    sent = kcli("produce", source, "-K", "\t", "-b", kafka3.bootstrap, stdin=given, timeout=60)
    assert sent.code == 0, sent.err
    words = [
        *KCLI, "copy", source, target, "-b", kafka3.bootstrap, "--exactly-once", "--rate", "8000",
        "--commit-interval-ms", "200", "-q",
    ]  # fmt: skip
    rng = random.Random(11)
    for round_ in range(3):
        with subprocess.Popen(words) as copying:
            time.sleep(rng.uniform(0.7, 1.3))
            if round_ == 1:
                kafka3.leader(target).kill()
                time.sleep(0.3)
            copying.kill()
    kafka3.heal()
    deadline = time.monotonic() + 90
    while True:
        done = kcli("copy", source, target, "-b", kafka3.bootstrap, "--exactly-once", "-q", timeout=120)
        if done.code == 0:
            break
        assert time.monotonic() < deadline, done.err
    decided(kafka3, target)  # a commit is decided before its markers are written everywhere
    read = [
        kcat(
            "-b", kafka3.bootstrap, "-C", "-t", one, "-e", "-q", "-X", "isolation.level=read_committed",
            "-f", "%p %T %k %s\\n", timeout=60,
        ).out.splitlines()
        for one in (source, target)
    ]  # fmt: skip
    assert len(read[1]) == 20_000
    for partition in range(3):
        mine = [[line for line in lines if line.startswith(b"%d " % partition)] for lines in read]
        assert mine[1] == mine[0]  # the same records, each once, in the same order
    tool = kafka3.tool(
        "org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", kafka3.bootstrap, "--topic", target,
        "--from-beginning", "--max-messages", "20000", "--timeout-ms", "20000", "--isolation-level", "read_committed",
    )  # fmt: skip
    assert sorted(line for line in tool.splitlines() if line.isdecimal()) == sorted(str(n) for n in range(20_000))
