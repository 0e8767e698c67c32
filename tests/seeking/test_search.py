"""The search over logs made up at random: never past a wanted record, and in few looks where the log is in order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcli.seeking.search import NARROW, Search, back
from tests.effort import tries

GAPS, NOTHING = st.integers(1, 5), st.none()


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[tuple[int, int | None]], int]:
    """(offset, time or None) with gaps, and a jitter that its times keep to."""
    jitter = draw(st.integers(0, 8))
    size = draw(st.integers(0, 60))
    rows, offset, base = [], draw(st.integers(0, 5)), 20
    for _ in range(size):
        offset += draw(GAPS)
        base += draw(st.integers(0, 3))
        time = base - draw(st.integers(0, jitter))
        rows.append((offset, draw(NOTHING) if draw(st.integers(0, 4)) == 0 else time))
    return rows, jitter


def run(rows: list[tuple[int, int | None]], low: int, high: int, before, step: int) -> tuple[Search, int]:
    """A search fed with stretches of `step` records; how many it took."""
    search, looks = Search(low, high, before), 0
    while not search.done:
        part = [row for row in rows if row[0] >= search.probe][:step]
        more = [row for row in rows if row[0] >= search.probe][step : step + 1]
        following = more[0][0] if more else max(high, search.probe + 1)
        search.learn([offset for offset, _ in part], lambda at, part=part: part[at][1], following)
        looks += 1
        assert looks < 500
    return search, looks


@pytest.mark.slow
@given(logs(), st.integers(0, 120), st.integers(1, 9))
@settings(max_examples=tries(400), deadline=None)
def test_no_wanted_record_is_before_the_start_or_behind_the_stop(log, time: int, step: int) -> None:
    rows, jitter = log
    low, high = (rows[0][0], rows[-1][0] + 1) if rows else (3, 3)
    start, _ = run(rows, low, high, lambda seen: seen < time - jitter, step)
    wanted = [offset for offset, at in rows if at is not None and at >= time]
    assert low <= start.low <= min([*wanted, high])
    stop, _ = run(rows, start.low, high, lambda seen: seen < time + jitter, step)
    wanted = [offset for offset, at in rows if at is not None and at < time]
    assert all(offset < stop.high for offset in wanted)
    again = Search(low, high, lambda seen: seen < time - jitter)
    again.recall(start.witnesses)
    assert again.low <= min([*(offset for offset, at in rows if at is not None and at >= time), high])


@given(logs(), st.integers(1, 9))
@settings(max_examples=tries(100), deadline=None)
def test_times_that_keep_to_the_jitter_are_never_seen_going_back_further(log, step: int) -> None:
    rows, jitter = log
    search, _ = run(rows, 0, rows[-1][0] + 1 if rows else 0, lambda seen: seen < 50, step)
    assert back(search.seen) <= jitter


def test_a_long_log_takes_its_logarithm_and_one_without_times_a_single_pass() -> None:
    rows = [(offset, offset * 10) for offset in range(100_000)]
    search, looks = run_dense(rows, lambda seen: seen < 777_770)
    assert search.low <= 77_777 <= search.high <= search.low + NARROW
    assert looks <= 12  # 100,000 records in stretches of 50
    _, looks = run_dense([(offset, None) for offset, _ in rows], lambda seen: seen < 5)
    assert looks <= 100_000 // 50 + 20


def run_dense(rows, before) -> tuple[Search, int]:
    search, looks = Search(0, len(rows), before), 0
    while not search.done:
        part = rows[search.probe : search.probe + 50]
        search.learn([one for one, _ in part], lambda at, part=part: part[at][1], part[-1][0] + 1)
        looks += 1
    return search, looks


@given(st.randoms(use_true_random=False), st.integers(0, 4000), st.integers(20, 90))
@settings(max_examples=tries(150), deadline=None)
def test_a_clock_that_is_wrong_now_and_then_hides_no_other_record(rng, time: int, step: int) -> None:
    wrong = set(rng.sample(range(400), 20))
    wrong = {offset for offset in wrong if not wrong.intersection(range(offset - 4, offset))}
    rows = [(at, rng.choice([1, 10**6]) if at in wrong else 10 * at) for at in range(400)]
    right = [(at, seen) for at, seen in rows if at not in wrong]
    start, _ = run(rows, 0, 400, lambda seen: seen < time, step)
    stop, _ = run(rows, start.low, 400, lambda seen: seen < time + 300, step)
    wanted = [at for at, seen in right if time <= seen < time + 300]
    assert all(start.low <= at < stop.high for at in wanted)


def test_back_is_the_worst_step_back() -> None:
    assert back([]) == 0
    assert back([(3, 10), (1, 30), (2, 25)]) == 20
