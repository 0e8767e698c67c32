"""A degraded cluster: partitions without a leader hide no records of the others, and each of them is named."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from kcli.cli.commands.consume.selection import finished
from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell

OTHERS = [f"{n}" for n in range(30) if n % 6 != 3]


@pytest.fixture
def six() -> Iterator[tuple[SandboxThread, Shell]]:
    """Topic t with five records in each of six partitions; partitions are led by brokers 1, 2 and 3 in turn."""
    with SandboxThread(topics={"t": 6, "copies": 6}, brokers=3) as sandbox:
        shell = Shell(sandbox.bootstrap)
        for partition in range(6):
            lines = "".join(f"{n}\n" for n in range(30) if n % 6 == partition)
            shell.ok("produce", "t", "-p", str(partition), stdin=lines.encode())
        yield sandbox, shell


def test_P7_the_records_of_the_others_are_printed_in_time(six: tuple[SandboxThread, Shell]) -> None:
    sandbox, shell = six
    sandbox.faults.cluster.no_leader("t", 3)
    begun = time.monotonic()
    done = shell("consume", "t", "-e", "--timeout", "3s")
    assert time.monotonic() - begun < 3
    assert sorted(done.stdout.decode().split(), key=int) == OTHERS
    assert done.returncode == 1
    assert done.stderr == b"kcli: t[3] has no leader; its records are not read\n"


@pytest.mark.parametrize(
    "words",
    [["consume", "-e"], ["consume", "-e", "--order", "time"], ["consume", "-e", "--order", "offset"],
     ["consume", "-e", "-o", "0"], ["consume", "-e", "-o", "-50"], ["consume", "-o", "0:100"],
     ["consume", "-n", "30", "--newest-first"], ["consume", "-e", "-g", "g"], ["tail", "-n", "100", "-e"]],
    ids=" ".join,
)  # fmt: skip
def test_every_way_to_read_names_each_of_them(six: tuple[SandboxThread, Shell], words: list[str]) -> None:
    sandbox, shell = six
    for partition in (3, 5):
        sandbox.faults.cluster.no_leader("t", partition)
    more = ["--timeout", "10s"] if words[0] == "consume" and "--newest-first" not in words else []
    done = shell(words[0], "t", *words[1:], *more)
    assert sorted(done.stdout.decode().split(), key=int) == [n for n in OTHERS if int(n) % 6 != 5], done.stderr
    assert done.returncode == 1
    assert done.stderr == b"kcli: t[3], t[5] have no leader; their records are not read\n"


def test_count_does_not_know_the_total(six: tuple[SandboxThread, Shell]) -> None:
    sandbox, shell = six
    for partition in (3, 5):
        sandbox.faults.cluster.no_leader("t", partition)
    done = shell("count", "t", "-J")
    document = json.loads(done.stdout)
    assert (done.returncode, document["ok"], document["total"]) == (1, False, None)
    assert [(row["partition"], row["count"]) for row in document["partitions"]] == [(0, 5), (1, 5), (2, 5), (4, 5)]
    assert [error["about"] for error in document["errors"]] == ["t [3]", "t [5]"]
    done = shell("count", "t")
    assert (done.returncode, done.stdout) == (1, b"20\n")


def test_where_none_has_a_leader_all_are_named(six: tuple[SandboxThread, Shell]) -> None:
    sandbox, shell = six
    for partition in range(6):
        sandbox.faults.cluster.no_leader("t", partition)
    for words in (["consume", "-e"], ["count", "-J"], ["tail", "-e"], ["consume", "-e", "--order", "time"]):
        done = shell(words[0], "t", *words[1:])
        assert done.returncode == 1, words
        assert b"t[0], t[1], t[2], t[3], t[4], t[5] have no leader; their records are not read" in done.stderr
    assert len(json.loads(shell("count", "t", "-J").stdout)["errors"]) == 6


def test_json_lines_end_with_the_errors(six: tuple[SandboxThread, Shell]) -> None:
    sandbox, shell = six
    sandbox.faults.cluster.no_leader("t", 3)
    lines = [json.loads(line) for line in shell("consume", "t", "-e", "-J").stdout.splitlines()]
    assert len(lines) == 26
    assert "t [3]" in json.dumps(lines[-1]["error"])


def test_a_copy_takes_the_others_and_resumes_with_the_rest(six: tuple[SandboxThread, Shell]) -> None:
    sandbox, shell = six
    sandbox.faults.cluster.no_leader("t", 3)
    done = shell("copy", "t", "copies", "-J")
    document = json.loads(done.stdout)
    assert (done.returncode, document["ok"], document["copies"][0]["copied"]) == (1, False, 25)
    assert b"t[3] has no leader; its records are not read" in done.stderr
    sandbox.faults.cluster.move_leader("t", 3, 1)
    assert shell("copy", "t", "copies").returncode == 0
    assert sorted(map(int, shell.ok("consume", "copies", "-e").split())) == list(range(30))


def test_a_tail_that_follows_waits_for_the_leader(six: tuple[SandboxThread, Shell]) -> None:
    sandbox, shell = six
    sandbox.faults.cluster.no_leader("t", 3)
    done = shell("consume", "t", "-o", "3", "--timeout", "2s")
    assert done.returncode == 4
    assert len(done.stdout.split()) == 10
    assert b"kcli: t[3] has no leader; waiting for one" in done.stderr


def test_a_leader_that_cannot_be_reached_hides_no_records(six: tuple[SandboxThread, Shell]) -> None:
    sandbox, shell = six
    sandbox.faults.wire.refuse(broker=2, times=1_000)
    sandbox.faults.wire.drop_connections(2)
    done = shell("consume", "t", "-e", "--timeout", "3s")
    assert done.returncode == 1, done.stderr
    assert len(done.stdout.split()) == 20
    [line] = done.stderr.decode().splitlines()
    assert line.count("t[") == 2
    assert line.endswith("; their records are not read")


def test_a_deadline_holds_when_a_broker_does_not_answer(six: tuple[SandboxThread, Shell]) -> None:
    sandbox, shell = six
    sandbox.faults.wire.never_answer("ListOffsets", times=100)
    begun = time.monotonic()
    done = shell("consume", "t", "-e", "--timeout", "1s")
    assert time.monotonic() - begun < 2
    assert (done.returncode, done.stderr) == (4, b"kcli: no record arrived for 1000 ms\n")


def test_no_sentence_has_an_offset_that_there_is_not() -> None:
    at = TopicPartition("t", 3)
    assert str(finished(KcliError("no leader"), at, -1)) == "t[3]: no leader"
    assert str(finished(KcliError("no leader"), at, 0)) == "t[3]: no leader; written up to offset 0"
