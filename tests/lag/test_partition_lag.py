"""Figures out of samples: scripted workloads with a known truth, no clock."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from kcli.lag import partition_lag
from kcli.lag.figures import Sample
from kcli.lag.partition_lag import Log, PartitionFigures, Track, stand
from kcli.lag.series import Series, rising, robust_slope, slope, step_rate
from kcli.lag.status import GROWING, IDLE, OK, REWOUND, STUCK, UNKNOWN
from kcli.model import TopicPartition


class Workload:
    """A producer at `rate`, a consumer at `speed` that commits every `every` seconds, looked at every `step`."""

    def __init__(self, rate: float = 100.0, speed: float = 100.0, every: float = 5.0, backlog: int = 0) -> None:
        self.rate, self.speed, self.every, self.backlog = rate, speed, every, backlog
        self.track, self.log = Track(), Log(TopicPartition("t", 0))
        self.now = 1_700_000_000.0
        self.began = self.now

    def end(self, at: float) -> int:
        return self.backlog + int(self.rate * (at - self.began))

    def committed(self, at: float) -> int:
        done = at - self.began
        moment = done - done % self.every
        return min(int(self.speed * moment), self.end(self.began + moment))

    def run(self, seconds: float, step: float = 5.0, **changes: object) -> PartitionFigures:
        rng = random.Random(7)
        until = self.now + seconds
        while self.now < until:
            self.now += step * rng.uniform(0.9, 1.1)
            given: dict[str, Any] = {
                "committed": self.committed(self.now),
                "end": self.end(self.now),
                "start": 0,
                "owned": True,
            }
            given |= {key: value(self) if callable(value) else value for key, value in changes.items()}
            sample = Sample(group="g", topic="t", **given)
            self.log.add(self.now, sample)
            self.track.add(self.now, sample)
        return self.stand()

    def stand(self) -> PartitionFigures:
        return stand(self.track, self.log, self.now)


@pytest.mark.parametrize("every", [1.0, 5.0, 20.0, 45.0])
@pytest.mark.parametrize("speed", [40.0, 300.0])
def test_rates_are_within_five_percent_whatever_the_commit_interval(every: float, speed: float) -> None:
    found = Workload(rate=100.0, speed=speed, every=every, backlog=1_000_000).run(400)
    assert found.in_rate == pytest.approx(100.0, rel=0.05)
    assert found.out_rate == pytest.approx(speed, rel=0.05)


@pytest.mark.parametrize("every", [1.0, 5.0, 20.0])
def test_the_eta_is_within_twenty_percent(every: float) -> None:
    work = Workload(rate=100.0, speed=300.0, every=every, backlog=200_000)
    found = work.run(300)
    assert found.eta == pytest.approx((work.end(work.now) - 300.0 * 300) / 200.0, rel=0.2)
    assert found.falling is None


def test_who_falls_behind_is_told_by_how_much() -> None:
    found = Workload(rate=100.0, speed=60.0).run(120)
    assert found.eta is None
    assert found.falling == pytest.approx(40.0, rel=0.1)
    assert found.status == GROWING


def test_one_dip_does_not_hide_steady_growth() -> None:
    """Burrow's known fault: a single sample without growth makes it say OK."""
    work = Workload(rate=100.0, speed=60.0)
    work.run(60)
    work.backlog -= 400
    work.log.end = Series()
    found = work.run(60)
    assert found.status == GROWING


def test_a_healthy_consumer_is_ok_between_its_commits() -> None:
    work = Workload(rate=100.0, speed=1000.0, every=20.0)
    work.run(100)
    assert {work.run(1).status for _ in range(40)} == {OK}


def test_a_consumer_that_commits_every_ten_minutes_is_ok_between_its_commits_and_stuck_after_three() -> None:
    work = Workload(rate=1.0, speed=1000.0, every=600.0)
    work.run(1900)
    assert {work.run(60).status for _ in range(20)} == {OK}
    where = work.committed(work.now)
    states = [work.run(60, committed=where).status for _ in range(40)]
    assert STUCK not in states[:15]
    assert states[-1] == STUCK


def test_noise_around_a_level_is_not_growing() -> None:
    for seed in range(50):
        rng = random.Random(seed)
        values = [1000 + rng.randrange(-50, 50) for _ in range(13)]
        assert not rising(values, robust_slope(list(range(13)), values))


def test_slow_growth_is_growing() -> None:
    assert Workload(rate=1000.0, speed=990.0, backlog=50_000).run(120).status == GROWING


def test_a_member_whose_commits_stop_is_stuck_and_its_rate_sinks_to_nothing() -> None:
    work = Workload(rate=100.0, speed=100.0, every=5.0)
    work.run(60)
    where = work.committed(work.now)
    states = [work.run(1, committed=where).status for _ in range(12)]
    assert STUCK not in states[:5]
    assert states[-1] == STUCK
    found = work.run(120, committed=where)
    assert found.out_rate == pytest.approx(0.0, abs=1.0)
    assert found.still > 150


def test_a_consumer_with_nothing_to_read_is_never_stuck() -> None:
    work = Workload(rate=0.0, speed=100.0, backlog=0)
    assert work.run(600).status == IDLE
    work.rate, work.began = 100.0, work.now  # the first records for ten minutes
    assert work.run(10, committed=0).status != STUCK


def test_a_step_back_is_said_for_a_window_and_the_rates_begin_anew() -> None:
    work = Workload(rate=100.0, speed=100.0, backlog=1_000_000)
    work.run(100)
    before = work.committed(work.now)
    found = work.run(5, committed=before - 5000)
    assert (found.status, found.rewound) == (REWOUND, (before, before - 5000))
    assert work.run(70, committed=lambda w: w.committed(w.now) - 5000).status != REWOUND


def test_the_time_lag_is_when_the_first_unread_offset_was_written() -> None:
    work = Workload(rate=100.0, speed=0.0)
    work.run(100, committed=lambda w: w.end(w.began + 40.0))
    found = work.stand()
    assert found.time_lag == pytest.approx(work.now - work.began - 40.0, abs=0.2)
    assert not found.time_lag_least


def test_a_time_lag_older_than_the_samples_is_at_least_as_long_as_they_reach() -> None:
    work = Workload(rate=100.0, speed=0.0, backlog=500)
    found = work.run(100, committed=10)
    assert found.time_lag == pytest.approx(100.0, abs=7.0)
    assert found.time_lag_least
    assert Workload(rate=0.0).run(20).time_lag == 0.0


def test_data_loss_is_foretold() -> None:
    work = Workload(rate=1000.0, speed=100.0, backlog=1_000_000)
    segment = 10_000
    found = work.run(
        300, start=lambda w: int(900 * (w.now - w.began)) // segment * segment, committed=lambda w: 400_000
    )
    left = 400_000 - 900 * (work.now - work.began)
    assert found.loss_in == pytest.approx(left / 900, rel=0.25)
    assert Workload(rate=100.0).run(100).loss_in is None


def test_a_failed_look_keeps_the_figures_and_shows_their_age() -> None:
    work = Workload(rate=100.0, speed=60.0)
    before = work.run(100)
    found = work.run(30, error="broker 1 is down", end=None, committed=None)
    assert found.status == UNKNOWN
    assert found.age == pytest.approx(30, abs=8)
    assert found.peak == before.peak > 0


def test_a_truncated_log_begins_a_new_history() -> None:
    work = Workload(rate=100.0)
    work.run(50)
    work.began = work.now
    found = work.run(60)
    assert found.in_rate == pytest.approx(100.0, rel=0.05)


# -- series and slopes ------------------------------------------------------------------------------------------------


def test_an_idle_series_keeps_one_sample() -> None:
    series = Series()
    assert [series.add(float(t), 5) for t in range(1000)].count(True) == 1
    assert (len(series), series.last, series.at(500.0), series.at(-1.0)) == (1, 999.0, 5, None)


def test_forgetting_keeps_what_the_value_was_then() -> None:
    series = Series()
    for t in range(10):
        series.add(float(t), t * 10)
    series.forget_before(5.5)
    assert (list(series.values), series.at(5.5)) == ([50, 60, 70, 80, 90], 50)
    assert series.since(7.5) == ([7.5, 8.0, 9.0], [70, 80, 90])


def test_an_offset_is_dated_between_the_last_look_without_it_and_the_first_with_it() -> None:
    series = Series()
    for time, value in [(0.0, 0), (10.0, 0), (20.0, 0), (30.0, 100)]:
        series.add(time, value)
    assert series.reached(50, 60.0) == (25.0, False)
    assert series.reached(0, 60.0) == (20.0, False)
    assert series.reached(50, 5.0) == (30.0, True), "nobody looked for ten seconds"
    assert series.reached(100, 60.0) is None
    assert series.reached(-1, 60.0) is None


@pytest.mark.parametrize("of", [slope, robust_slope])
def test_slopes(of: Callable[[list[float], list[float]], float | None]) -> None:
    times = [float(t) for t in range(100)]
    assert of(times, [5 + 2 * t for t in times]) == pytest.approx(2.0)
    assert of([1.0], [1.0]) is None
    assert of([], []) is None


def test_the_robust_slope_bears_outliers() -> None:
    times = [float(t) for t in range(30)]
    values = [3 * t for t in times]
    values[4] = values[11] = values[25] = -10_000.0
    assert robust_slope(times, values) == pytest.approx(3.0, rel=0.05)


def test_a_rate_takes_three_steps_and_standing_still_is_zero() -> None:
    assert step_rate([0.0, 5.0], [0, 10], 6.0) is None
    assert step_rate([0.0], [7], 60.0) == 0.0
    assert step_rate([], [], 60.0) is None
    assert step_rate([0.0, 5.0, 10.0, 15.0], [0, 10, 20, 30], 16.0) == pytest.approx(2.0)


def wandering(seed: int) -> list[PartitionFigures]:
    """The figures of a partition that moves now and then, and is quiet for longer than a window in between."""
    rng, track, log = random.Random(seed), Track(), Log(TopicPartition("t", 0))
    now, end, committed, found = 1000.0, 0, 0, []
    for _ in range(60):
        now += rng.choice([1.0, 5.0, 5.0, 30.0, 200.0])
        end += rng.choice([0, 0, 10])
        committed = min(committed + rng.choice([0, 0, 7]), end)
        known = None if rng.random() < 0.05 else committed
        sample = Sample(group="g", topic="t", committed=known, end=end, start=0, owned=True)
        log.add(now, sample)
        track.add(now, sample)
        track.done.forget_before(now - 900.0)
        found.append(stand(track, log, now))
    return found


@pytest.mark.slow
def test_a_quiet_partition_has_the_figures_of_any_other_and_costs_less(monkeypatch: pytest.MonkeyPatch) -> None:
    quickly = [wandering(seed) for seed in range(50)]
    asked: list[float] = []

    def moving(series: Series, since: float) -> bool:
        asked.append(since)
        return False

    with monkeypatch.context() as patch:
        patch.setattr(Series, "quiet", moving)
        assert [wandering(seed) for seed in range(50)] == quickly
    assert asked
    idle = Workload(rate=0.0, speed=0.0, backlog=10)
    monkeypatch.setattr(partition_lag, "troughs", None)  # is not called
    monkeypatch.setattr(partition_lag, "step_rate", None)
    assert idle.run(200.0).in_rate == 0.0
