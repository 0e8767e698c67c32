"""`kcli groups peek`: the records around committed offsets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import Shell


@pytest.fixture
def topic(kcli: Shell) -> str:
    """Two partitions with ten records each, and a group named like the topic that has read to 0:4 and 1:10."""
    name = kcli.topic(2)
    for partition in range(2):
        lines = "".join(f"k{n}:{partition}-{n}\n" for n in range(10)).encode()
        kcli.ok("produce", name, "-p", str(partition), "-K", ":", stdin=lines)
    kcli.ok("groups", "reset", "--create", name, "-t", name, "--to", "0=4,1=end", "--execute", "-q", "--no-undo")
    return name


def peek(kcli: Shell, *words: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(kcli.ok("groups", "peek", *words, "-q", "-J"))["records"]
    return rows


def test_records_on_both_sides_and_the_next_one_is_marked(kcli: Shell, topic: str) -> None:
    rows = peek(kcli, topic, "-n", "2")
    assert [(row["partition"], row["offset"], row["place"], row["key"], row["value"]) for row in rows] == [
        (0, 2, "read", "k2", "0-2"),
        (0, 3, "read", "k3", "0-3"),
        (0, 4, "next", "k4", "0-4"),
        (0, 5, "waiting", "k5", "0-5"),
        (0, 6, "waiting", "k6", "0-6"),
        (1, 8, "read", "k8", "1-8"),
        (1, 9, "read", "k9", "1-9"),
    ]
    assert {row["committed"] for row in rows} == {4, 10}
    assert kcli("groups", "peek", topic).stderr.decode() == (
        f"kcli: {topic}: {topic} [1]: no record to read at 10: this is the end of the log\n"
    )


def test_each_side_has_a_number_of_its_own_and_partitions_are_chosen(kcli: Shell, topic: str) -> None:
    assert [row["value"] for row in peek(kcli, topic, "--before", "0", "--after", "1")] == ["0-4", "0-5"]
    assert [row["value"] for row in peek(kcli, topic, "-t", f"{topic}:1", "-n", "1")] == ["1-9"]
    assert [row["value"] for row in peek(kcli, f"^{topic}$", "-t", "t-*:0", "-n", "0")] == ["0-4"]
    assert len(peek(kcli, topic, "-n", "99")) == 20


def test_gaps_are_read_over(kcli: Shell) -> None:
    name = kcli.topic()
    for number in range(4):  # each transaction ends with a marker, which has an offset and is no record
        kcli.ok("produce", name, "--transactional-id", name, stdin=f"{number}\n".encode())
    kcli.ok("groups", "reset", "--create", name, "-t", name, "--to", "6", "--execute", "-q", "--no-undo")
    assert [(row["value"], row["place"]) for row in peek(kcli, name, "-n", "3")] == [
        ("0", "read"),
        ("1", "read"),
        ("2", "read"),
        ("3", "next"),
    ]


def test_offsets_beside_the_log_are_said(kcli: Shell, topic: str) -> None:
    kcli.ok("topics", "trim", topic, "--before", "7", "--execute", "-q")
    done = kcli("groups", "peek", topic, "-n", "1", "-J")
    assert done.stderr.decode() == (
        f"kcli: {topic}: {topic} [0]: 3 offsets from 4 on were deleted before they were read; "
        f"{topic} [1]: no record to read at 10: this is the end of the log\n"
    )
    first = json.loads(done.stdout)["records"][0]
    assert (first["offset"], first["place"]) == (7, "next")


def test_a_table_cuts_long_values_and_other_formats_do_not(kcli: Shell) -> None:
    name = kcli.topic()
    kcli.ok("produce", name, stdin=b"x" * 500 + b"\n")
    kcli.ok("groups", "reset", "--create", name, "-t", name, "--to-earliest", "--execute", "-q", "--no-undo")
    assert b"x" * 59 + "…".encode() in kcli.ok("groups", "peek", name)
    assert b"x" * 500 in kcli.ok("groups", "peek", name, "--format", "csv")


def test_groups_without_commits_and_without_names(kcli: Shell, topic: str) -> None:
    done = kcli("groups", "peek", topic, "-t", "elsewhere")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.decode() == f"kcli: {topic}: the group has committed nothing there\n"
    assert kcli("groups", "peek", "no-such-group").returncode == 1
    assert kcli("groups", "peek").returncode == 2


def test_what_is_beside_the_log_is_one_line_whatever_the_number_of_partitions(kcli: Shell) -> None:
    topic = kcli.topic(6)
    for partition in range(4):
        kcli.ok("produce", topic, "-p", str(partition), stdin=b"a\nb\nc\n")
    kcli.ok("groups", "reset", "--create", topic, "-t", f"{topic}:0,1,4,5", "--to", "end", "--execute", "-q")
    kcli.ok(
        "groups", "reset", "--create", topic, "-t", f"{topic}:2,3", "--to", "beginning", "--execute", "-q", "--no-undo"
    )
    kcli.ok("topics", "trim", f"{topic}:2,3", "--before", "2", "--execute", "-q")
    done = kcli("groups", "peek", topic, "-J")
    assert done.stderr.decode() == (
        f"kcli: {topic}: 4 offsets of 2 partitions were deleted before they were read; "
        "in 4 of 6 partitions there is no record to read: this is the end of the log\n"
    )
    assert kcli("groups", "peek", topic, "-q").stderr == b""
