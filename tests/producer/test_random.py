"""Random schedules (see schedules.py): a block of new ones, and every seed that once found something. `make schedules`
runs many more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.effort import tries
from tests.producer.schedules import run

BLOCK = 25
CORPUS = [
    int(line.split()[0])
    for line in (Path(__file__).parent / "seeds.txt").read_text().splitlines()
    if not line.startswith("#")
]


@pytest.mark.slow
@pytest.mark.parametrize("block", range(tries(12)))
def test_A1_04_A4_18_every_record_settles_once_and_the_acknowledged_are_stored_once_in_order(block: int) -> None:
    for seed in range(block * BLOCK, block * BLOCK + BLOCK):
        run(seed)


@pytest.mark.parametrize("seed", CORPUS)
def test_a_schedule_that_once_failed(seed: int) -> None:
    run(seed)


@pytest.mark.parametrize("seed", [3, 45, 1117])
def test_a_schedule_is_the_same_every_time(seed: int) -> None:
    assert run(seed) == run(seed)
