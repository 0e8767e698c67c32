"""`consume --newest-first`: the newest N that match, whatever markers, gaps and filters lie between them."""

from __future__ import annotations

import random

import pytest

from tests.cli.conftest import Shell

BASE = 1_700_000_000_000


@pytest.mark.parametrize("seed", range(6))
def test_the_newest_that_match_are_those_of_a_sort(kcli: Shell, seed: int) -> None:
    """Against a sort in Python; times ascend in each partition, and are shared between partitions."""
    rng = random.Random(seed)
    topic = kcli.topic(partitions=3)
    rows: list[tuple[int, int, int]] = []  # time, partition, value
    for partition in range(3):
        times = sorted(rng.randrange(1000) for _ in range(rng.choice((0, 1, 40, 300))))
        rows += [(BASE + time, partition, rng.randrange(100)) for time in times]
        lines = [f'{{"partition":{at},"timestamp":{time},"value":"{value}"}}' for time, at, value in rows]
        mine = "\n".join(line for line in lines if f'"partition":{partition}' in line)
        if mine:
            more = ("--transactional-id", f"{topic}-{partition}", "--batch", "7") if rng.random() < 0.5 else ()
            kcli.ok("produce", topic, "--input", "envelope", *more, stdin=mine.encode())
    for most, below in ((1, 100), (5, 100), (4, 3), (50, 10), (1000, 100)):
        where = ["--where", f"value < {below}"] if below < 100 else []
        words = ["--newest-first", "-n", str(most), *where, "-f", "%T %p %s\n"]
        got = [tuple(map(int, line.split())) for line in kcli.ok("consume", topic, *words).splitlines()]
        wanted = sorted((row for row in rows if row[2] < below), key=lambda row: row[0], reverse=True)[:most]
        assert [time for time, *_ in got] == [time for time, *_ in wanted]
        assert set(got) <= {row for row in rows if row[2] < below}
        assert len(set(got)) == len({*wanted}) or len(wanted) == most


def test_a_range_and_a_topic_pattern_bound_it(kcli: Shell) -> None:
    first, second = kcli.topic(1), kcli.topic(1)
    for topic, times in ((first, range(10)), (second, range(5, 15))):
        lines = [f'{{"timestamp":{BASE + time * 1000},"value":"{topic} {time}"}}' for time in times]
        kcli.ok("produce", topic, "--input", "envelope", stdin="\n".join(lines).encode())
    end = f"@{BASE + 8000}"
    got = kcli.ok("consume", first, second, "--newest-first", "-n", "5", "--end", end).decode().splitlines()
    assert sorted(got[:2]) == sorted([f"{first} 7", f"{second} 7"])
    assert [line.split()[1] for line in got] == ["7", "7", "6", "6", "5"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "with -n N"),
        (["-n", "3", "-g", "g"], "--group cannot be combined with it"),
        (["-n", "3", "--order", "time"], "--order cannot be combined with it"),
        (["-n", "3", "--timeout", "3s"], "--timeout cannot be combined with it"),
        (
            ["-n", "3", "--share-group", "g"],
            "--newest-first cannot be combined with --share-group, which delivers records in its own order",
        ),
    ],
)
def test_what_does_not_go_with_it_is_refused(kcli: Shell, words: list[str], says: str) -> None:
    done = kcli("consume", "t", "--newest-first", *words)
    assert (done.returncode, says in done.stderr.decode()) == (2, True), done.stderr


def test_nothing_that_matches_is_exit_3_on_request(kcli: Shell) -> None:
    topic = kcli.topic(1)
    kcli.ok("produce", topic, "--value", "7")
    words = ["--newest-first", "-n", "3", "--where", "value > 8"]
    assert kcli.ok("consume", topic, *words) == b""
    assert kcli("consume", topic, *words, "--fail-if-none").returncode == 3
