"""`kcli produce --transactional-id`: whole or not at all, and nothing uncommitted is reported as sent."""

from __future__ import annotations

import json
import random
import re
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from kcli.cli.commands.produce.input.source import after_lines
from tests.cli.conftest import Shell
from tests.cli.test_end_to_end import end
from tests.programs import until


def committed(kcli: Shell, topic: str) -> list[bytes]:
    return kcli.ok("consume", topic, "-e", "--isolation", "read_committed").split()


def numbers(count: int) -> bytes:
    return b"".join(b"%d\n" % n for n in range(count))


@pytest.mark.parametrize("more", [[], ["-H", "a=b"], ["-K", ":", "-k", "k"], ["-D", r"\n"]], ids=str)
@pytest.mark.parametrize(("batch", "transactions"), [(None, 1), (7, 15), (100, 1), (1000, 1), (1, 100)])
def test_all_input_is_committed_in_transactions_of_the_size_asked_for(
    kcli: Shell, batch: int | None, transactions: int, more: list[str], tmp_path: Path
) -> None:
    topic = kcli.topic()
    report = tmp_path / "report"
    size = [] if batch is None else ["--batch", str(batch)]
    words = ["produce", topic, "--transactional-id", topic, "-v", "--report", str(report), *size, *more]
    sent = kcli(*words, stdin=numbers(100))
    assert sent.returncode == 0, sent.stderr
    assert b"100 records read: 100 committed" in sent.stderr
    told = re.search(rb"in (\d+) transactions", sent.stderr)
    assert int(told[1] if told else 1) == transactions
    assert committed(kcli, topic) == numbers(100).split()
    rows = [json.loads(line) for line in report.read_text().splitlines()]
    assert sum(row["count"] for row in rows) == 100
    assert {row["status"] for row in rows} == {"acked"}


def test_an_error_aborts_and_says_so(kcli: Shell, tmp_path: Path) -> None:
    topic = kcli.topic()
    report = tmp_path / "report"
    row = b'{"value": "%d"}\n'
    given = row % 1 + row % 2 + row % 3 + b"no json\n"
    sent = kcli("produce", topic, "--transactional-id", topic, "--input", "json", "--batch", "2", stdin=given)
    assert sent.returncode == 1
    assert b"3 records read: 2 committed, 1 aborted, 0 unknown, 0 not sent" in sent.stderr
    assert committed(kcli, topic) == [b"1", b"2"]
    words = ["produce", topic, "--transactional-id", topic, "--input", "json", "--report", str(report)]
    assert kcli(*words, stdin=given).returncode == 1
    assert committed(kcli, topic) == [b"1", b"2"]
    assert {json.loads(line)["status"] for line in report.read_text().splitlines()} == {"failed"}


def test_properties_name_the_transaction_too(kcli: Shell) -> None:
    topic = kcli.topic()
    words = ["-X", f"transactional.id={topic}", "-X", "transaction.timeout.ms=5000"]
    sent = kcli("produce", topic, *words, "-v", stdin=b"a\n")
    assert (sent.returncode, committed(kcli, topic)) == (0, [b"a"])
    assert b"1 committed" in sent.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--batch", "3"], b"--transactional-id"), (["--transactional-id", "x", "--acks", "1"], b"acks=all")],
)
def test_what_makes_no_sense_is_refused(kcli: Shell, words: list[str], said: bytes) -> None:
    sent = kcli("produce", kcli.topic(), *words, stdin=b"a\n")
    assert sent.returncode == 2
    assert said in sent.stderr


def test_no_input_is_no_transaction(kcli: Shell) -> None:
    topic = kcli.topic()
    assert kcli("produce", topic, "--transactional-id", topic).returncode == 0
    wrong = kcli("produce", topic + "x", "--transactional-id", topic, stdin=b"a\n")
    assert (wrong.returncode, b"did you mean" in wrong.stderr) == (1, True)


@pytest.mark.process
@pytest.mark.parametrize("batch", [[], ["--batch", "40"]])
def test_D45_ctrl_c_aborts_what_is_open_and_the_counts_add_up(kcli: Shell, batch: list[str]) -> None:
    rng = random.Random(3)
    for _ in range(3):
        topic = kcli.topic()
        process = kcli.start("produce", topic, "--transactional-id", topic, *batch)
        assert process.stdin is not None
        process.stdin.write(numbers(100))
        process.stdin.flush()
        until(partial(lambda name: kcli.ok("count", name, "--isolation", "read_uncommitted").strip() != b"0", topic))
        time.sleep(0.1 * rng.random())
        process.send_signal(signal.SIGINT)
        code, said = end(process)
        assert code == 130, said
        told = re.search(
            rb"(\d+) records? read: (\d+) committed(?: in \d+ transactions)?, (\d+) aborted, (\d+) unknown, (\d+) not",
            said,
        )
        assert told is not None, said
        read, kept, aborted, unknown, unsent = map(int, told.groups())
        assert read == kept + aborted + unknown + unsent
        assert unknown == 0
        assert len(committed(kcli, topic)) == kept
        assert kept % 40 == 0


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 100])
def test_lines_are_counted_by_halving(count: int) -> None:
    buffer = bytearray(b"junk\na\n\nbcd\ne\nrest")
    start, stop = 5, 15
    assert stop == len(b"junk\na\n\nbcd\ne\nr")
    lines = bytes(buffer[start : stop - 1]).splitlines(keepends=True)
    assert after_lines(buffer, start, stop - 1, b"\n", count) == start + sum(map(len, lines[:count]))
