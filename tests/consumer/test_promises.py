"""Programs in every way of reading, against the consumer's promise (tests/consumer/promises.py)."""

from __future__ import annotations

import pytest

from tests.consumer import promises


@pytest.mark.parametrize("way", promises.WAYS)
def test_nothing_is_lost_and_only_what_is_done_is_committed(way: str) -> None:
    for seed in range(8):
        promises.run(seed, way)


def test_every_way_of_reading_has_its_share_of_schedules() -> None:
    ways = [promises.way_of(seed) for seed in range(1000)]
    assert {ways.count(way) for way in promises.WAYS} == {100}


@pytest.mark.parametrize("way", ["async mixed", "sync mixed", "workers"])
def test_a_program_is_the_same_every_time(way: str) -> None:
    one, two = (promises.run(5, way) for _ in range(2))
    assert len(one.trace) > 20
    assert one.trace == two.trace
