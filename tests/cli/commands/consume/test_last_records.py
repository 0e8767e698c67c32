"""-N means records, whatever offsets transaction markers and compaction leave without one."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell


@pytest.fixture
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread(topics={"t": 1, "copy": 1, "wide": 60}, rebalance_delay=0) as running:
        yield running


@pytest.fixture
def shell(sandbox: SandboxThread) -> Shell:
    return Shell(sandbox.bootstrap)


@pytest.fixture
def marked(shell: Shell) -> Shell:
    """Three transactions of one record: offsets 0, 2 and 4 are records, the others are markers."""
    for value in (b"a\n", b"b\n", b"c\n"):
        shell.ok("produce", "t", "--transactional-id", "x", stdin=value)
    return shell


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (("-o", "-1"), "c"), (("-o", "-2"), "b c"), (("-o", "-9"), "a b c"), (("-o", "-0"), ""),
        (("-o", "-3:-1"), "a b"), (("-o", "0=-2"), "b c"),
    ],
    ids=str,
)  # fmt: skip
def test_markers_are_no_records(marked: Shell, words: tuple[str, ...], values: str) -> None:
    wanted = values.split()
    assert marked.ok("consume", "t", "-e", *words).decode().split() == wanted
    assert marked.ok("consume", "t", *words, "-n", str(len(wanted))).decode().split() == wanted, "and follows"
    assert int(marked.ok("count", "t", *words)) == len(wanted)
    marked.ok("copy", "t", "copy", *words)
    assert marked.ok("consume", "copy", "-e").decode().split() == wanted


def test_a_trim_keeps_the_last_records(marked: Shell) -> None:
    marked("topics", "trim", "t", "--before", "-1", "--execute")
    assert marked.ok("consume", "t", "-e") == b"c\n"
    [row] = json.loads(marked("topics", "trim", "t", "--before", "-5", "--dry-run", "-J").stdout)["partitions"]
    assert row["result"] == "unchanged"


def test_a_reset_leaves_the_last_records_to_be_read(marked: Shell) -> None:
    marked("groups", "reset", "--create", "g", "-t", "t", "--to", "-2", "--execute", "--no-undo")
    assert marked.ok("consume", "t", "-g", "g", "-e") == b"b\nc\n"


def test_aborted_records_are_records_of_who_reads_them(shell: Shell) -> None:
    shell.ok("produce", "t", stdin=b"a\nb\n")
    shell("produce", "t", "--transactional-id", "x", "--input", "json", stdin=b'{"value": "no"}\nbroken\n')
    assert shell.ok("consume", "t", "-o", "-1", "-e") == b"b\n"
    raw = shell.ok("consume", "t", "-o", "-2", "-e", "--isolation", "read_uncommitted")
    assert raw.split()[-1] in (b"no", b"b")


def compact(sandbox: SandboxThread, partition: int, kept: set[int]) -> None:
    sandbox.call(lambda inside: inside.faults.logs.compact("wide", partition, lambda offset: offset in kept))


def test_sixty_compacted_logs_beside_a_list_in_python(sandbox: SandboxThread, shell: Shell) -> None:
    chance = random.Random(5)
    rows, kept = [], {partition: set[int]() for partition in range(60)}
    for partition, offsets in kept.items():
        size = chance.randint(0, 40)
        offsets.update(n for n in range(size) if chance.random() < chance.choice((0.05, 0.5)))
        rows += [{"value": str(n), "partition": partition} for n in range(size)]
    shell.ok("produce", "wide", "--input", "json", stdin=b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    for partition, offsets in kept.items():
        compact(sandbox, partition, offsets)
    for count in (1, 3, 10):
        told = shell.ok("consume", "wide", "-o", f"-{count}", "-e", "-f", "%p %o\\n").decode().split("\n")[:-1]
        wanted = [f"{partition} {n}" for partition, offsets in kept.items() for n in sorted(offsets)[-count:]]
        assert sorted(told) == sorted(wanted)
