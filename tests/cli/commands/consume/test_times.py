"""Ranges of time select records by their own timestamps, in whatever order these are in the log."""

from __future__ import annotations

import json
import random

import pytest

from tests.cli.conftest import Shell

MINUTE = 60_000
TEN = 1_700_042_400_000  # 10:00 UTC
BACKFILL = [TEN + minutes * MINUTE for minutes in (0, 120, 30, 180, 45)]  # 10:00 12:00 10:30 13:00 10:45
PARTITIONS = 250
RANGES = [(3, 8), (None, 5), (6, None), (9, 20)]
"""With these, a thousand orders are compared with a filter in Python."""


def clock(hour: int, minute: int = 0) -> str:
    return f"2023-11-15T{hour}:{minute:02}Z"


def lines(rows: list[dict[str, object]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.fixture
def topic(kcli: Shell) -> str:
    name = kcli.topic()
    rows: list[dict[str, object]] = [{"value": str(n), "timestamp": time} for n, time in enumerate(BACKFILL)]
    for row in rows:  # a batch for each
        kcli.ok("produce", name, "--input", "json", stdin=lines([row]))
    return name


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (("--start", clock(10), "--end", clock(11)), "0 2 4"),
        (("--start", clock(12), "--end", clock(14)), "1 3"),
        (("--start", clock(10, 30)), "1 2 3 4"),
        (("--end", clock(10, 45)), "0 2"),
        (("-o", f"@{clock(10, 30)}:@{clock(12)}"), "2 4"),
        (("-o", f":@{clock(12)}"), "0 2 4"),
        (("-o", f"0=@{clock(12)}"), "1 3"),
        (("-o", "2", "--end", clock(11)), "2 4"),
        (("--start", clock(14)), ""),
        (("--start", clock(10), "--end", clock(11), "--ordered"), "0"),
        (("-o", f"s@{TEN + 120 * MINUTE}", "-o", f"e@{TEN + 180 * MINUTE}"), "1 2"),  # as kcat does
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else "",
)
def test_records_out_of_order_are_selected_by_their_timestamps(
    kcli: Shell, topic: str, words: tuple[str, ...], values: str
) -> None:
    wanted = values.split()
    assert kcli.ok("consume", topic, "-e", *words).decode().split() == wanted
    assert kcli.ok("count", topic, *words).decode().split() == [str(len(wanted))]
    if "--start" not in words and "--end" not in words:
        assert sorted(kcli.ok("tail", topic, "-e", "-f", "%s\n", *words).decode().split()) == wanted
        copy = kcli.topic()
        kcli.ok("copy", topic, copy, *words)
        assert kcli.ok("consume", copy, "-e").decode().split() == wanted


def test_ordered_needs_an_end_by_timestamp(kcli: Shell, topic: str) -> None:
    done = kcli("consume", topic, "--start", clock(10), "--ordered")
    assert (done.returncode, b"--ordered needs an end time" in done.stderr) == (2, True)


def test_a_reset_to_a_time_is_the_first_record_of_that_time_or_later(kcli: Shell, topic: str) -> None:
    for hour, minute, offset in ((10, 15, 1), (12, 30, 3), (14, 0, 5)):
        words = [
            "groups",
            "reset",
            "--create",
            "g",
            "-t",
            topic,
            "--to",
            f"@{clock(hour, minute)}",
            "--dry-run",
            "--format",
            "json",
        ]
        [row] = json.loads(kcli(*words).stdout)["partitions"]
        assert row["new"] == offset


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_a_thousand_orders_beside_a_filter_in_python(kcli: Shell, codec: str) -> None:
    chance = random.Random(codec)
    name = kcli.topic(PARTITIONS)
    times: dict[int, list[int]] = {partition: [] for partition in range(PARTITIONS)}
    for _ in range(3):  # batches of a partition
        rows: list[dict[str, object]] = []
        for partition, known in times.items():
            for _ in range(chance.randint(0, 4)):
                known.append(chance.randint(0, 10))
                rows.append({"value": "v", "partition": partition, "timestamp": TEN + known[-1]})
        kcli.ok("produce", name, "--input", "json", "-z", codec, stdin=lines(rows))
    for low, high in RANGES:
        words = [] if low is None else ["--start", str(TEN + low)]
        words += [] if high is None else ["--end", str(TEN + high)]
        wanted = {
            (partition, offset)
            for partition, known in times.items()
            for offset, time in enumerate(known)
            if (low is None or time >= low) and (high is None or time < high)
        }
        told = kcli.ok("consume", name, "-e", "-f", "%p %o\n", *words).decode().splitlines()
        assert len(told) == len(wanted)
        assert {tuple(map(int, line.split())) for line in told} == wanted
        counts = json.loads(kcli.ok("count", name, "-J", *words))["partitions"]
        assert sum(row["count"] for row in counts) == len(wanted)
