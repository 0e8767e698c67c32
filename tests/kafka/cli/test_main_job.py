"""The main job against a real Apache Kafka: a million lines in, the same bytes out, per codec and per stranger."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kafka.cluster import Kafka
from tests.programs import kcat, kcli

LINES = 1_000_000


@pytest.fixture(scope="session")
def million(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A million lines of 0 to 200 bytes, every byte value but the newline."""
    rng = random.Random(1)
    path = tmp_path_factory.mktemp("million") / "lines"
    noise = rng.randbytes(1 << 20).replace(b"\n", b" ")
    with path.open("wb") as out:
        for _ in range(LINES // 1000):
            lines = []
            for _ in range(1000):
                at = rng.randrange(len(noise) - 200)
                lines.append(noise[at : at + rng.randrange(200)])
            out.write(b"\n".join(lines) + b"\n")
    return path


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def topic(kafka: Kafka, topic_name: Callable[[], str]) -> str:
    name = topic_name()
    made = kcli("topics", "create", name, "-p", "1", "-b", kafka.bootstrap, "--wait")
    assert made.code == 0, made.err
    return name


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_a_million_lines_in_the_same_bytes_out(kafka: Kafka, topic: str, million: Path, codec: str) -> None:
    sent = kcli("produce", topic, "-b", kafka.bootstrap, "-z", codec, stdin=million, timeout=120)
    assert sent.code == 0, sent.err
    read = kcli("consume", topic, "-b", kafka.bootstrap, "-o", "beginning", "-e", timeout=120)
    assert read.code == 0, read.err
    assert digest(read.out) == digest(million.read_bytes())
    counted = kcli("count", topic, "-b", kafka.bootstrap)
    assert counted.out.split()[-1] == str(LINES).encode()


@pytest.mark.needs("kcat")
@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_kcat_reads_what_kcli_wrote_and_the_reverse(kafka: Kafka, topic: str, codec: str) -> None:
    lines = b"".join(b"key-%d\tvalue %d %s\n" % (n, n, b"x" * (n % 300)) for n in range(20_000))
    assert kcli("produce", topic, "-b", kafka.bootstrap, "-z", codec, "-K", "\t", stdin=lines).code == 0
    theirs = kcat("-C", "-b", kafka.bootstrap, "-t", topic, "-o", "beginning", "-e", "-q", "-f", "%k\t%s\n")
    assert digest(theirs.out) == digest(lines)
    assert kcat("-P", "-b", kafka.bootstrap, "-t", topic, "-z", codec, "-K", "\t", stdin=lines).code == 0
    mine = kcli("consume", topic, "-b", kafka.bootstrap, "-o", "20000", "-e", "-f", "%k\\t%s\\n")
    assert mine.code == 0, mine.err
    assert digest(mine.out) == digest(lines)


def test_json_envelopes_reproduce_the_log(kafka: Kafka, topic: str, topic_name: Callable[[], str]) -> None:
    rows = [
        {"key": None, "value": "a", "headers": [["h", "1"], ["h", "2"], ["n", None]]},
        {"key": "", "value": None},
        {"key": {"base64": "/w=="}, "value": {"base64": "AAECAw=="}, "timestamp": 1_700_000_000_123},
        {"key": "größe", "value": 'quote " and \\ and \u2028'},
    ]
    given = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    made = kcli("produce", topic, "-b", kafka.bootstrap, "--input", "json", stdin=given)
    assert made.code == 0, made.err
    first = kcli("consume", topic, "-b", kafka.bootstrap, "-o", "beginning", "-e", "--envelope")
    other = topic_name()
    assert kcli("topics", "create", other, "-p", "1", "-b", kafka.bootstrap, "--wait").code == 0
    again = kcli("produce", other, "-b", kafka.bootstrap, "--input", "json", stdin=first.out)
    assert again.code == 0, again.err
    second = kcli("consume", other, "-b", kafka.bootstrap, "-o", "beginning", "-e", "--envelope")
    assert second.out.replace(other.encode(), topic.encode()) == first.out
    back = [json.loads(line) for line in first.out.splitlines()]
    assert [row["value"] for row in back] == ["a", None, {"base64": "AAECAw=="}, 'quote " and \\ and \u2028'] or (
        back[2]["value"] == "\x00\x01\x02\x03"
    )
    assert back[0]["headers"] == [["h", "1"], ["h", "2"], ["n", None]]
    assert (back[1]["key"], back[2]["timestamp"]) == ("", 1_700_000_000_123)


def test_tail_shows_the_last_records_by_time_over_partitions(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    name = topic_name()
    assert kcli("topics", "create", name, "-p", "3", "-b", kafka.bootstrap, "--wait").code == 0
    base = int(time.time() - 60) * 1000  # not older than retention.ms
    rows = [{"partition": n % 3, "value": f"v{n}", "timestamp": base + n} for n in range(90)]
    given = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    assert kcli("produce", name, "-b", kafka.bootstrap, "--input", "json", stdin=given).code == 0
    shown = kcli("tail", name, "-b", kafka.bootstrap, "-n", "10", "--no-follow")
    assert shown.code == 0, shown.err
    assert shown.out.split() == [b"v%d" % n for n in range(80, 90)]


@pytest.mark.needs("kcat")
def test_E18_exact_end_with_transaction_markers_and_deleted_records(kafka: Kafka, topic: str) -> None:
    lines = b"".join(b"%d\n" % n for n in range(1000))
    transactional = ["-X", f"transactional.id={topic}"]
    assert kcat("-P", "-b", kafka.bootstrap, "-t", topic, *transactional, stdin=lines).code == 0
    read = kcli(
        "consume", topic, "-b", kafka.bootstrap, "-o", "beginning", "-e", "--isolation", "read_committed", timeout=20
    )
    assert read.code == 0, read.err
    assert read.out == lines
    counted = kcli("count", topic, "-b", kafka.bootstrap)
    assert counted.out.split()[-1] == b"1000"
