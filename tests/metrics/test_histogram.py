"""The histogram: exact count, sum, least and largest; quantiles within a factor of two."""

from __future__ import annotations

import random

import pytest

from kcli.metrics.values import Histogram


def test_an_empty_one_is_zero() -> None:
    histogram = Histogram()
    assert (histogram.count, histogram.total, histogram.mean, histogram.least, histogram.largest) == (0, 0, 0, 0, 0)
    assert histogram.quantile(0.99) == 0
    assert list(histogram) == []


def test_buckets_are_powers_of_two_of_the_unit() -> None:
    histogram = Histogram(0.001)
    for value in (0.0, 0.0005, 0.001, 0.0019, 0.002, 0.9, -1.0):
        histogram.add(value)
    assert list(histogram) == [(0.001, 3), (0.002, 2), (0.004, 1), (1.024, 1)]
    assert histogram.least == 0.0
    assert histogram.largest == 0.9


@pytest.mark.parametrize("seed", range(20))
def test_a_quantile_is_right_within_a_factor_of_two(seed: int) -> None:
    chance = random.Random(seed)
    values = sorted(chance.expovariate(0.001) + 1 for _ in range(500))
    histogram = Histogram()
    for value in chance.sample(values, len(values)):
        histogram.add(value)
    assert histogram.mean == pytest.approx(sum(values) / len(values))
    assert (histogram.least, histogram.largest) == (values[0], values[-1])
    for part in (0.01, 0.5, 0.9, 0.99):
        truth = values[int(part * len(values)) - 1]
        assert truth <= histogram.quantile(part) <= 2 * truth
    assert histogram.quantile(1.0) == values[-1]


def test_a_copy_stays_as_it_is() -> None:
    histogram = Histogram()
    histogram.add(3)
    copied = histogram.copy()
    histogram.add(5)
    assert (copied.count, copied.largest, list(copied)) == (1, 3, [(4, 1)])
