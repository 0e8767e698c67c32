"""What a group's position means: past markers and gaps, behind in offsets and in records, blocked, or lost."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from kcli.admin.groups.rows import Described
from kcli.cli.commands.lag import records
from kcli.cli.commands.lag.lag import SHAPES
from kcli.cli.commands.lag.measured import measure
from kcli.cli.output.tables.document import Document
from kcli.lag.figures import Sample
from kcli.lag.snapshot import GroupSnapshot
from kcli.model import TopicPartition
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell


@pytest.fixture
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread(topics={"t": 1}, rebalance_delay=0) as running:
        yield running
        assert running.call(lambda inside: list(inside.violations)) == []


@pytest.fixture
def shell(sandbox: SandboxThread) -> Shell:
    return Shell(sandbox.bootstrap)


def row_of(shell: Shell, *words: str) -> dict[str, Any]:
    rows = json.loads(shell.ok("lag", "g", "--by", "partition", "-J", *words))["partitions"]
    assert len(rows) == 1
    found: dict[str, Any] = rows[0]
    return found


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_E37_a_group_that_read_a_log_that_ends_in_a_marker_has_no_lag(shell: Shell, protocol: str) -> None:
    shell.ok("produce", "t", "--transactional-id", "x", stdin=b"a\nb\n")
    words = ["consume", "t", "-g", "g", "--from-beginning", "-e", "-X", f"group.protocol={protocol}"]
    assert shell.ok(*words) == b"a\nb\n"
    row = row_of(shell)
    assert (row["committed"], row["end"], row["lag"]) == (3, 3, 0)
    assert shell.ok(*words) == b"", "and the next one starts after it"


def test_E37_the_position_of_filtered_records_is_committed_too(shell: Shell) -> None:
    shell.ok("produce", "t", stdin=b"".join(b"%d\n" % n for n in range(100)))
    words = ["consume", "t", "-g", "g", "--from-beginning"]
    assert shell.ok(*words, "-e", "--grep", "^5$") == b"5\n"
    assert row_of(shell)["committed"] == 100
    shell.ok("produce", "t", stdin=b"".join(b"%d\n" % n for n in range(100)))
    assert shell.ok(*words, "--grep", "^7$", "-c", "1") == b"7\n", "it stops at the first match"
    assert row_of(shell)["committed"] == 108, "and the next one goes on after it"
    assert shell.ok(*words, "-e", "--grep", "^9$") == b"9\n"


def test_E70_who_has_only_markers_to_read_is_not_late(shell: Shell) -> None:
    """What commits the offset after its last record (librdkafka, Spark, Flink) stays one behind after each
    transaction."""
    shell.ok("produce", "t", "--transactional-id", "x", "--timestamp", "-1h", stdin=b"a\nb\n")
    shell.ok("consume", "t", "-g", "g", "--from-beginning", "-n", "2")
    row = row_of(shell)
    assert (row["committed"], row["end"], row["lag"]) == (2, 3, 1)
    done = shell("lag", "g", "--max-time", "5m")
    assert (done.returncode, done.stderr) == (0, b"")
    shell.ok("produce", "t", "--timestamp", "-1h", stdin=b"late\n")
    done = shell("lag", "g", "--max-time", "5m")
    assert (done.returncode, b"s behind, over 300 s" in done.stderr) == (3, True), done.stderr


def test_E70_who_has_only_markers_to_read_is_ok_in_every_output(shell: Shell) -> None:
    shell.ok("produce", "t", "--transactional-id", "x", stdin=b"a\nb\n")
    shell.ok("consume", "t", "-g", "g", "--from-beginning", "-n", "2")

    def statuses() -> list[str]:
        found = [row_of(shell)["status"], row_of(shell, "--max-lag", "5", "--timeout", "9s")["status"]]
        for words in (
            ["lag", "g", "--by", "group"],
            ["groups", "describe", "g"],
            ["groups", "why", "g", "--over", "0"],
        ):
            found += [row["status"] for row in json.loads(shell.ok(*words, "-J"))["groups"]]
        return found

    assert row_of(shell)["lag"] == 1
    assert statuses() == ["OK"] * 5
    assert b" OK " in shell.ok("lag", "g", "--by", "group", "--format", "table")
    shell.ok("produce", "t", "--value", "x" * 5000)  # more than is read to find markers
    assert statuses()[0] == "ORPHANED"
    shell.ok("produce", "t", "--value", "y")
    assert statuses() == ["ORPHANED"] * 5


def test_E70_offsets_behind_and_records_behind_are_two_figures_with_two_names(
    sandbox: SandboxThread, shell: Shell
) -> None:
    shell.ok("consume", "t", "-g", "g", "--from-beginning", "-e")
    shell.ok("produce", "t", stdin=b"".join(b"%d\n" % n for n in range(1000)))
    sandbox.call(lambda inside: inside.faults.logs.compact("t", 0, lambda offset: offset % 90 == 9))
    row = row_of(shell, "--records")
    assert (row["lag"], row["records"]) == (1000, 12)
    table = shell.ok("lag", "g", "--by", "partition", "--records", "--format", "table").decode().splitlines()
    assert table[0].split()[5:7] == ["LAG", "RECORDS"]
    assert table[1].split()[5:7] == ["1000", "12"]
    assert row_of(shell)["records"] is None, "reading costs, so only on request"
    assert b"RECORDS" not in shell.ok("lag", "g", "--by", "partition", "--format", "table")
    topics = json.loads(shell.ok("lag", "g", "--records", "-J"))
    assert topics["topics"][0]["records"] == topics["groups"][0]["records"] == 12
    assert shell("lag", "g", "--records", "--watch").returncode == 2


def test_max_lag_with_records_is_about_records(shell: Shell) -> None:
    shell.ok("produce", "t", "--transactional-id", "x", stdin=b"a\nb\n")
    shell.ok("consume", "t", "-g", "g", "--from-beginning", "-n", "2")
    done = shell("lag", "g", "--max-lag", "0")
    assert (done.returncode, done.stderr) == (3, b"kcli: g is 1 offset behind, over 0\n"), "the marker"
    assert shell("lag", "g", "--max-lag", "0", "--records").returncode == 0
    shell.ok("produce", "t", "--value", "c")
    done = shell("lag", "g", "--max-lag", "0", "--records", "-J")
    (error,) = json.loads(done.stdout)["errors"]
    assert (done.returncode, error["message"]) == (3, "g is 1 record behind, over 0")
    assert (error["topic"], error["partition"]) == ("t", 0)
    assert shell("lag", "g", "--max-lag", "1", "--records").returncode == 0


async def test_records_of_a_share_group_are_counted_from_where_it_starts_and_no_more_than_it_has_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def count(_: object, spans: dict[TopicPartition, tuple[int, int]], *__: object) -> dict[TopicPartition, int]:
        return {at: end - start for at, (start, end) in spans.items()}

    monkeypatch.setattr(records, "_count", count)
    samples = [
        Sample(topic="t", partition=0, committed=10, counted=3, end=100, start=0),
        Sample(topic="t", partition=1, begins=100, end=100, start=0),
        Sample(topic="t", partition=2, begins=60, end=100, start=0),
        Sample(topic="t", partition=3, committed=98, counted=3, end=100, start=0),
    ]
    group = GroupSnapshot(described=Described(group="s", type="share"), samples=samples)
    document = Document(shape=SHAPES["group"])
    ((total, parts),) = await records.add_records(None, [measure(group)], document, None, uncommitted=True)  # type: ignore[arg-type]
    assert [(part.lag, part.unread) for part in parts] == [(3, None), (0, 0), (None, 40), (2, None)]
    assert (total.lag, total.unread) == (5, 40)


@pytest.mark.process
def test_a_group_that_waits_for_an_open_transaction_is_told_whose_it_is(sandbox: SandboxThread, shell: Shell) -> None:
    shell.ok("produce", "t", stdin=b"before\n")
    writer = shell.start("produce", "t", "--transactional-id", "slow")
    words = ["consume", "t", "-g", "g", "--from-beginning", "-u", "--isolation", "read_committed"]
    reader = shell.start(*words)
    try:
        assert writer.stdin is not None
        assert reader.stdout is not None
        writer.stdin.write(b"undecided\n")
        writer.stdin.flush()
        assert reader.stdout.readline() == b"before\n"
        until = time.monotonic() + 15  # the reader commits every 5 s
        while (row := row_of(shell, "--watch", "--refreshes", "1"))["status"] != "TXN-BLOCKED":
            assert time.monotonic() < until, row
            time.sleep(0.1)
        assert (row["committed"], row["lag"]) == (1, 1)
        known = sandbox.call(lambda inside: inside.cluster.transactions._existing("slow").producer_id)
        assert row["note"].startswith(f"waits at 1 for the transaction of producer id {known}, epoch 0, ")
        assert row["note"].endswith("kcli txn find-hanging t:0 --older-than 0s")
        judged = shell("txn", "find-hanging", "t:0", "--older-than", "0s")
        assert judged.returncode == 0, "its coordinator knows it: it does not hang"
        assert b"kcli txn fence slow --execute" in judged.stderr
        writer.communicate(timeout=10)
        assert reader.stdout.readline() == b"undecided\n"
    finally:
        for one in (writer, reader):
            one.kill()
            one.communicate(timeout=10)


def test_a_group_that_retention_overtook_is_losing_data(sandbox: SandboxThread, shell: Shell) -> None:
    shell.ok("produce", "t", stdin=b"a\n")
    shell.ok("consume", "t", "-g", "g", "--from-beginning", "-e")
    shell.ok("produce", "t", stdin=b"".join(b"%d\n" % n for n in range(99)))
    sandbox.call(lambda inside: inside.topics.delete_records(inside.topics.partition("t", 0), 41))
    for words in ([], ["--watch", "--refreshes", "1"]):
        row = row_of(shell, *words)
        assert (row["status"], row["lost"], row["lag"]) == ("LOSING DATA", 40, 99)
    assert row_of(shell, "--records")["records"] == 59, "what is gone cannot be read any more"
