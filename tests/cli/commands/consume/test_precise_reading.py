"""A start for each partition, N records of each, and times of day: consume, tail, count, copy and groups reset."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Shell


@pytest.fixture
def topic(kcli: Shell) -> str:
    """Three partitions of ten records: `0-0` … `2-9`."""
    name = kcli.topic(3)
    for partition in range(3):
        lines = "".join(f"{partition}-{n}\n" for n in range(10)).encode()
        kcli.ok("produce", name, "-p", str(partition), stdin=lines)
    return name


def read(kcli: Shell, *words: str) -> list[str]:
    return sorted(kcli.ok(*words).decode().split())


def test_only_partitions_that_have_a_start_are_read(kcli: Shell, topic: str) -> None:
    assert read(kcli, "consume", topic, "-e", "-o", "0=8,1=-1") == ["0-8", "0-9", "1-9"]
    assert kcli.ok("count", topic, "-o", "0=8,2=+9") == b"3\n"
    assert read(kcli, "tail", topic, "--no-follow", "-o", "0=8,1=9") == ["0-8", "0-9", "1-9"]


def test_a_start_for_the_others_and_an_end_for_all(kcli: Shell, topic: str) -> None:
    assert read(kcli, "consume", topic, "-o", "0=8", "-o", "-1", "-e") == ["0-8", "0-9", "1-9", "2-9"]
    assert read(kcli, "consume", topic, "-o", "0=8,1=@-1h,2=end", "-o", ":9") == ["0-8", *[f"1-{n}" for n in range(9)]]
    assert kcli.ok("count", topic, "-o", "0=5", "-p", "0-1") == b"15\n"


def test_offsets_out_of_the_log_are_clamped(kcli: Shell, topic: str) -> None:
    assert read(kcli, "consume", topic, "-e", "-q", "-o", "0=99,1=9") == ["1-9"]
    done = kcli("consume", topic, "-e", "-o", "0=99,1=10")
    assert done.returncode == 0
    assert done.stderr.decode() == f"kcli: {topic}[0] ends at offset 10, before 99\n"


def test_following_begins_at_each_start(kcli: Shell, topic: str) -> None:
    assert read(kcli, "consume", topic, "-o", "0=8,1=-1", "-n", "3") == ["0-8", "0-9", "1-9"]
    assert read(kcli, "consume", topic, "-o", "0=-2,1=-1", "-n", "3") == ["0-8", "0-9", "1-9"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("consume", "-o", "7=1", "-e"), "-o: {} has no partition 7: its partitions are 0-2"),
        (("consume", "-o", "0=1", "-p", "1", "-e"), "-o 0=…: -p does not select partition 0"),
        (("consume", "-o", "0=stored", "-e"), "-o stored needs --group"),
        (("consume", "-o", "0=1", "-g", "g"), "--group starts at its committed offsets"),
        (("count", "-o", "0=stored"), "-o stored: count does not use the offsets of a group"),
        (("consume", "-e", "--per-partition", "2", "--order", "time"), "--per-partition cannot be combined"),
        (("consume", "-e", "--per-partition", "2", "-g", "g"), "--per-partition cannot be combined"),
    ],
)
def test_what_does_not_go_together(kcli: Shell, topic: str, words: tuple[str, ...], sentence: str) -> None:
    done = kcli(words[0], topic, *words[1:])
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"kcli: {sentence.format(topic)}")


def test_a_copy_begins_at_each_start(kcli: Shell, topic: str) -> None:
    other = kcli.topic(3)
    kcli.ok("copy", topic, other, "-o", "0=8,1=-1")
    assert read(kcli, "consume", other, "-e") == ["0-8", "0-9", "1-9"]


def test_a_reset_has_a_place_for_each_partition(kcli: Shell, topic: str) -> None:
    kcli.ok("groups", "reset", "--create", f"of-{topic}", "-t", topic, "--to-earliest", "--execute", "-q")
    done = kcli("groups", "reset", "--create", f"of-{topic}", "-t", topic, "--to", "0=5,2=end", "--execute", "-J")
    rows = json.loads(done.stdout)["partitions"]
    assert [(row["new"], row["result"]) for row in rows] == [(5, "reset"), (0, "skipped"), (10, "reset")]
    wrong = kcli("groups", "reset", "--create", f"of-{topic}", "-t", topic, "--to", "7=5", "--execute")
    assert (wrong.returncode, wrong.stdout) == (2, b"")
    assert wrong.stderr == b"kcli: --to 7=\xe2\x80\xa6: partition 7 is not among the partitions to reset\n"


def test_n_records_of_each_partition(kcli: Shell, topic: str) -> None:
    two = ["0-0", "0-1", "1-0", "1-1", "2-0", "2-1"]
    assert read(kcli, "consume", topic, "-e", "--per-partition", "2") == two
    assert read(kcli, "consume", topic, "--per-partition", "2") == two, "that is an end"
    assert read(kcli, "consume", topic, "-e", "--per-partition", "99") == sorted(
        f"{partition}-{n}" for partition in range(3) for n in range(10)
    )
    assert read(kcli, "consume", topic, "-o", "0=9,1=2", "-e", "--per-partition", "2") == ["0-9", "1-2", "1-3"]
    assert len(read(kcli, "consume", topic, "-e", "--per-partition", "2", "-n", "3")) == 3
    kept = read(kcli, "consume", topic, "-e", "--per-partition", "1", "--grep", "[5-9]$")
    assert kept == ["0-5", "1-5", "2-5"], "those that the filters keep count"
