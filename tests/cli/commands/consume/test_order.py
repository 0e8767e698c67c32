"""`consume --order`: a bounded read is merged exactly, whatever the sizes; following is in order within a window."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from itertools import pairwise
from operator import itemgetter
from typing import Any

import pytest

from kcli.cli.commands.consume.order.ordered import OrderedReading
from kcli.model import TopicPartition
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell
from tests.programs import requests, until

BEGIN = 1_700_000_000_000
PLACES = [(topic, n) for topic in ("a", "b") for n in range(3)]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread(topics={"a": 3, "b": 3, "c": 2}, rebalance_delay=0) as running:
        yield running
        assert running.call(lambda inside: list(inside.violations)) == []


@pytest.fixture(scope="module")
def shell(sandbox: SandboxThread) -> Shell:
    return Shell(sandbox.bootstrap)


@pytest.fixture(scope="module")
def records(shell: Shell) -> list[dict[str, Any]]:
    """In 6 partitions of 2 topics; clocks run back now and then, some times are equal, one partition is all late."""
    dice = random.Random(4)
    made: list[dict[str, Any]] = []
    for topic, partition in PLACES:
        now = BEGIN + (5_000_000 if (topic, partition) == ("b", 2) else 0)
        lines = []
        for n in range(dice.choice([40, 700, 1500])):
            now += dice.choice([0, 0, 1, 5, 50, -3])
            made.append({"topic": topic, "partition": partition, "offset": n, "timestamp": now})
            lines.append({"timestamp": now, "partition": partition, "value": f"{topic} {partition} {n}"})
        codec = dice.choice(["none", "zstd"])
        given = "".join(json.dumps(line) + "\n" for line in lines).encode()
        shell.ok("produce", topic, "--input", "json", "-z", codec, "-X", "batch.size=3000", stdin=given)
    return made


def merged(records: list[dict[str, Any]]) -> list[str]:
    """What `--order time` means, the slow way."""
    latest: dict[tuple[str, int], int] = {}
    rows = []
    for one in records:
        at = (one["topic"], one["partition"])
        latest[at] = max(latest.get(at, -1), one["timestamp"])
        rows.append((latest[at], *at, one["offset"]))
    return [f"{topic} {partition} {offset}" for _, topic, partition, offset in sorted(rows)]


@pytest.mark.parametrize("room", [32 << 20, 1])
def test_a_bounded_read_is_merged_by_time_exactly_and_with_little_memory(
    shell: Shell, records: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setattr("kcli.cli.commands.consume.order.ordered.ROOM", room)
    monkeypatch.setattr("kcli.cli.commands.consume.order.ordered.LEAST", 2000)
    done = shell.ok("consume", "a", "b", "-e", "--order", "time").decode().splitlines()
    assert done == merged(records)


def test_the_order_of_each_partition_is_kept_and_times_do_not_fall_but_by_a_clock(
    shell: Shell, records: list[dict[str, Any]]
) -> None:
    rows = [json.loads(line) for line in shell.ok("consume", "^[ab]", "-e", "--order", "time", "-J").splitlines()]
    assert len(rows) == len(records)
    for at in PLACES:
        own = [one["offset"] for one in rows if (one["topic"], one["partition"]) == at]
        assert own == list(range(len(own)))


def test_by_offset_is_one_partition_after_another(shell: Shell, records: list[dict[str, Any]]) -> None:
    done = shell.ok("consume", "b", "a", "-e", "--order", "offset").decode().splitlines()
    wanted = sorted(records, key=lambda one: (one["topic"] == "a", one["partition"], one["offset"]))
    assert done == [f"{one['topic']} {one['partition']} {one['offset']}" for one in wanted]


@pytest.mark.parametrize("count", [0, 1, 17, 400])
def test_the_first_n_of_an_order_are_its_first_n(shell: Shell, records: list[dict[str, Any]], count: int) -> None:
    words = ["consume", "a", "b", "--order", "time", "-c", str(count)]
    assert shell.ok(*words).decode().splitlines() == merged(records)[:count], "without an end, too"
    assert shell.ok(*words, "-e", "-u").decode().splitlines() == merged(records)[:count]


def test_filters_ranges_and_formats_go_with_an_order(shell: Shell, records: list[dict[str, Any]]) -> None:
    done = shell.ok("consume", "a", "b", "-e", "--order", "time", "--grep", " 1[0-9]$", "-f", "%s;")
    assert done.decode().split(";")[:-1] == merged([one for one in records if one["offset"] in range(10, 20)])
    done = shell.ok("consume", "a", "b", "-o", "10:20", "--order", "time")
    assert done.decode().splitlines() == merged([one for one in records if one["offset"] in range(10, 20)])
    done = shell.ok("consume", "a", "b", "-e", "--order", "time", "--where", "partition == 1", "-c", "3")
    assert done.decode().splitlines() == merged([one for one in records if one["partition"] == 1])[:3]
    assert shell.ok("consume", "a", "-p", "1", "-e", "--order", "time").count(b"\n") == sum(
        one["topic"] == "a" and one["partition"] == 1 for one in records
    )


@pytest.mark.process
def test_what_comes_while_following_is_put_in_order_as_far_as_it_comes_together(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    follower = shell.start("consume", "c", "--order", "time", "-f", "%T %s\\n", "-u")
    try:
        assert follower.stdout is not None
        for second in range(3):
            stamps = {1: BEGIN + second * 1000, 0: BEGIN + second * 1000 + 1}
            lines = [
                json.dumps({"timestamp": when + 10 * n, "partition": partition, "value": f"{partition}"})
                for partition, when in stamps.items()
                for n in range(3)
            ]
            shell.ok("produce", "c", "--input", "json", stdin="\n".join(lines).encode())
            got = [follower.stdout.readline() for _ in range(6)]
            assert [int(line.split()[0]) for line in got] == sorted(int(line.split()[0]) for line in got)
            assert [line.split()[1] for line in got] == [b"1", b"0"] * 3
    finally:
        follower.kill()
        follower.communicate(timeout=10)


@pytest.mark.process
def test_a_record_of_one_partition_does_not_wait_for_ever_for_the_others(sandbox: SandboxThread, shell: Shell) -> None:
    topic = shell.topic(4)
    before = requests(sandbox, "Fetch")
    follower = shell.start("consume", topic, "--order", "time", "-u")
    try:
        until(lambda: requests(sandbox, "Fetch") > before)
        assert follower.stdout is not None
        for n in range(2):
            shell.ok("produce", topic, "-p", "3", stdin=b"%d\n" % n)
            begun = time.monotonic()
            assert follower.stdout.readline() == b"%d\n" % n
            assert time.monotonic() - begun < 5
    finally:
        follower.kill()
        follower.communicate(timeout=10)


@pytest.mark.process
@pytest.mark.parametrize("count", [(), ("-c", "1")])
def test_a_record_that_waits_for_its_turn_is_written_when_the_time_is_up(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, count: tuple[str, ...]
) -> None:
    topic = shell.topic(2)
    expect = OrderedReading.expect

    def and_then_one_comes(self: OrderedReading, span: dict[TopicPartition, tuple[int, int]]) -> None:
        expect(self, span)
        assert shell.process("produce", topic, "-p", "1", stdin=b"late\n").returncode == 0
        self._silence.broken()

    monkeypatch.setattr(OrderedReading, "expect", and_then_one_comes)
    monkeypatch.setattr("kcli.cli.commands.consume.order.ordered.WINDOW", 60)
    done = shell("consume", topic, "--order", "time", "--timeout-ms", "2000", *count)
    assert (done.stdout, done.returncode) == (b"late\n", 0 if count else 4), done.stderr


def test_an_order_that_cannot_be_is_refused(shell: Shell) -> None:
    done = shell("consume", "a", "--order", "offset")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"needs an end" in done.stderr
    done = shell("consume", "a", "--order", "time", "-g", "g")
    assert (done.returncode, done.stdout) == (2, b"")
    assert shell("consume", "a", "--order", "key").returncode == 2


@pytest.mark.process
def test_tail_goes_on_in_the_same_order(sandbox: SandboxThread, shell: Shell) -> None:
    topic = shell.topic(2)
    before = requests(sandbox, "Fetch")
    follower = shell.start("tail", topic, "-n", "0", "-f", "%T\\n", "-u")
    try:
        until(lambda: requests(sandbox, "Fetch") > before)  # it knows now where the ends were
        lines = [
            json.dumps({"timestamp": BEGIN + n, "partition": (n + 1) % 2, "value": "x"}) for n in (1, 3, 5, 0, 2, 4)
        ]
        shell.ok("produce", topic, "--input", "json", stdin="\n".join(lines).encode())
        assert follower.stdout is not None
        got = [int(follower.stdout.readline()) for _ in range(6)]
        assert all(one < two for one, two in pairwise(got)), got
    finally:
        follower.kill()
        follower.communicate(timeout=10)


def test_key_of_a_time_is_the_latest_of_its_partition() -> None:
    """The slow way itself, on a case that can be read."""
    rows = [(0, 5), (0, 3), (1, 4)]
    made = [{"topic": "t", "partition": p, "offset": n, "timestamp": t} for n, (p, t) in enumerate(rows)]
    assert merged(made) == ["t 1 2", "t 0 0", "t 0 1"]
    assert sorted(made, key=itemgetter("timestamp"))[0]["offset"] == 1
