"""Records again at their pace: what stays, how exact the pace is, what windows and gaps do."""

from __future__ import annotations

import json
import time

import pytest

from kcli.cli.main import main

BASE = 1_700_000_000_000


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.fixture
def kcli(topics, capsys, monkeypatch):
    """Run a replay; (exit code, its row, stderr)."""
    monkeypatch.setenv("KCLI_BOOTSTRAP", topics.bootstrap)

    def run(*words):
        code = main(["pipeline", "replay", *words, "-J"])
        shown = capsys.readouterr()
        return code, json.loads(shown.out)["replays"][0] if shown.out else None, shown.err

    return run


def rows(count, partitions, step):
    return [
        (
            n % partitions,
            BASE + n * step,
            b"k%d" % n if n % 3 else None,
            b"v%d" % n,
            [("h", b"%d" % n)] if n % 2 else (),
        )
        for n in range(count)
    ]


def facts(found):
    return sorted(
        (partition, one.timestamp, one.key, one.value, [(h[0], h[1]) for h in one.headers]) for partition, one in found
    )


@pytest.mark.parametrize("speed", [10, 40])
def test_the_pace_is_kept_and_so_is_everything_of_a_record(topics, kcli, speed):
    source, target = topics.make(3), topics.make(3)
    topics.fill(source, rows(200, 3, 40))  # 8 s
    begun = time.monotonic()
    code, row, _ = kcli(source, target, "--speed", str(speed))
    took = time.monotonic() - begun
    assert code == 0
    assert row["acked"] == row["records"] == 200
    assert row["span"] == pytest.approx(7.96)
    assert 7.96 / speed <= row["seconds"] < 7.96 / speed + 2, "never early, and hardly late"
    assert row["late"] < 1.5
    assert took < 7.96 / speed + 5
    assert facts(topics.read(target)) == facts(topics.read(source))


def test_the_time_of_arrival_follows_the_time_of_writing(topics, kcli):
    """With --now the target's timestamps are when records were sent: the plot of one against the other is a line."""
    source, target = topics.make(2), topics.make(2)
    topics.fill(source, rows(100, 2, 100))  # 10 s
    code, _, _ = kcli(source, target, "--speed", "10", "--now")
    assert code == 0
    old = {one.value: one.timestamp for _, one in topics.read(source)}
    sent = sorted((old[one.value], one.timestamp) for _, one in topics.read(target))
    first = sent[0][1]
    off = [moment - first - (before - BASE) / 10 for before, moment in sent]
    assert min(off) > -30, "milliseconds"
    assert sorted(off)[len(off) // 2] < 100
    assert max(off) < 1500


def test_a_window_of_time_and_max_speed(topics, kcli):
    source, target = topics.make(1), topics.make(1)
    topics.fill(source, rows(100, 1, 60_000))
    code, row, _ = kcli(source, target, "--speed", "max", "-o", f"s@{BASE + 600_000}", "-o", f"e@{BASE + 1_200_000}")
    assert (code, row["records"], row["speed"], row["late"]) == (0, 10, None, None)
    assert [one.value for _, one in topics.read(target)] == [b"v%d" % n for n in range(10, 20)]


def test_a_long_silence_is_shortened(topics, kcli):
    source, target = topics.make(1), topics.make(1)
    late = BASE + 3_600_000
    topics.fill(source, [(0, at, None, b"x", ()) for at in (BASE, BASE + 100, late, late + 100)])
    code, row, _ = kcli(source, target, "--max-gap", "200ms")
    assert (code, row["records"]) == (0, 4)
    assert row["skipped"] == pytest.approx(3599.7)
    assert 0.4 <= row["seconds"] < 2


def test_clocks_that_run_back_keep_the_order_of_a_partition(topics, kcli):
    source, target = topics.make(1), topics.make(1)
    topics.fill(source, [(0, BASE + at, None, b"%d" % at, ()) for at in (300, 100, 200, 400)])
    code, _, _ = kcli(source, target)
    assert code == 0
    assert [one.value for _, one in topics.read(target)] == [b"300", b"100", b"200", b"400"]


def test_what_cannot_be_is_told_before_anything_is_sent(topics, kcli):
    source, target = topics.make(2), topics.make(1)
    topics.fill(source, rows(4, 2, 1))
    code, _, said = kcli(source, target)
    assert code == 2
    assert "has no partition 1" in said
    assert topics.read(target) == []
    assert kcli(source, source)[0] == 2
    assert kcli(source, target, "--speed", "0")[0] == 2
    assert kcli(source, target, "--max-gap", "long")[0] == 2
    assert kcli(source, "not-there")[0] == 1
    code, row, _ = kcli(source, target, "--repartition")
    assert (code, row["acked"]) == (0, 4)


def test_the_target_is_made_like_the_source(topics, kcli):
    source = topics.make(3)
    topics.fill(source, rows(9, 3, 1))
    code, row, said = kcli(source, f"{source}-copy", "--create")
    assert (code, row["acked"]) == (0, 9)
    assert "3 partitions" in said
    assert facts(topics.read(f"{source}-copy")) == facts(topics.read(source))
