"""Values that are counted: both record cores count the same, to the bit."""

from __future__ import annotations

import math
import random
from types import ModuleType
from typing import Any

import pytest

from kcli.proto import records

from .record_cores import CORES


def state(tally: Any) -> tuple[Any, ...]:
    return tally.unit, tally.count, tally.total, tally.least, tally.largest, tally.buckets


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("unit", [1.0, 0.001, 7.3])
def test_any_values_are_counted_alike(core: ModuleType, unit: float) -> None:
    rng = random.Random(unit)
    ours, expected = core.Tally(unit), records.Tally(unit)
    edges = [sign * unit * 2.0**n for n in range(-3, 70) for sign in (1, -1)]
    near = [math.nextafter(edge, towards) for edge in edges for towards in (-math.inf, math.inf)]
    values = [0, 0.0, -1, 5, 2**40, *edges, *near, *(rng.expovariate(0.001) for _ in range(500))]
    for value in values:
        ours.add(value)
        expected.add(value)
        assert state(ours) == state(expected), value
    assert sum(ours.buckets.values()) == ours.count == len(values)


@pytest.mark.parametrize("core", CORES)
def test_what_is_no_number_is_refused_and_not_counted(core: ModuleType) -> None:
    tally = core.Tally()
    for value, error in ((math.inf, OverflowError), (math.nan, ValueError), ("3", (TypeError, ValueError))):
        with pytest.raises(error):
            tally.add(value)
    assert state(tally) == (1.0, 0, 0.0, 0.0, 0.0, {})
