"""kcat 1.7 (librdkafka) against the sandbox."""

from __future__ import annotations

import json
import subprocess
import time

import pytest

pytestmark = pytest.mark.needs("kcat")
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def kcat(bootstrap: str, *arguments: str, data: bytes = b"") -> bytes:
    command = ["kcat", "-b", bootstrap, "-q", *arguments]
    return subprocess.run(command, input=data, capture_output=True, check=True, timeout=30).stdout


@pytest.mark.parametrize("codec", CODECS)
def test_kcat_reads_back_what_it_wrote_in_every_codec(bootstrap: str, topic: str, codec: str) -> None:
    lines = b"".join(b"line %d of some text that compresses\n" % n for n in range(5000))
    kcat(bootstrap, "-P", "-t", topic, "-z", codec, data=lines)
    assert kcat(bootstrap, "-C", "-t", topic, "-e", "-p", "0") == lines


def test_kcat_writes_and_reads_keys_headers_and_nulls(bootstrap: str, topic: str) -> None:
    kcat(bootstrap, "-P", "-t", topic, "-K", ":", "-Z", "-H", "h=v", data=b"k:v\nonly-key:\n")
    rows = kcat(bootstrap, "-C", "-t", topic, "-e", "-J").splitlines()
    assert [(r["key"], r["payload"], r["headers"]) for r in map(json.loads, rows)] == [
        ("k", "v", ["h", "v"]),
        ("only-key", None, ["h", "v"]),
    ]


def test_kcat_finds_an_offset_by_time(bootstrap: str, topic: str) -> None:
    kcat(bootstrap, "-P", "-t", topic, data=b"old\n")
    time.sleep(0.02)
    now = int(time.time() * 1000)
    kcat(bootstrap, "-P", "-t", topic, data=b"new\n")
    assert kcat(bootstrap, "-C", "-t", topic, "-e", "-o", f"s@{now}") == b"new\n"


def test_kcat_produces_idempotently_and_lists_the_topic(bootstrap: str, topic: str) -> None:
    kcat(bootstrap, "-P", "-t", topic, "-X", "enable.idempotence=true", data=b"a\nb\n")
    listed = json.loads(kcat(bootstrap, "-L", "-J", "-t", topic))
    assert [len(found["partitions"]) for found in listed["topics"]] == [1]
    assert len(listed["brokers"]) == 2


def test_kcat_works_in_a_group_and_resumes_after_its_commit(bootstrap: str, topic: str) -> None:
    kcat(bootstrap, "-P", "-t", topic, data=b"1\n2\n3\n")
    group = ["-G", f"group-{topic}", "-X", "auto.offset.reset=earliest", topic]
    assert kcat(bootstrap, "-c", "3", *group) == b"1\n2\n3\n"
    kcat(bootstrap, "-P", "-t", topic, data=b"4\n")
    assert kcat(bootstrap, "-c", "1", *group) == b"4\n"
