"""How many rows could not be decoded, of all that were decoded, or of what was printed of it."""

from __future__ import annotations

import random
from array import array
from collections import Counter
from types import SimpleNamespace
from typing import Any

from kcli.serde.undecoded import Undecoded


def columns(*offsets: int) -> Any:
    return SimpleNamespace(offsets=array("q", offsets))


def test_all_that_is_decoded_counts() -> None:
    found = Undecoded()
    found.add_names({1: "gone"}, array("i", [0, 1, 1, 2]), columns(10, 11, 12, 13), "t", 0)
    found.add_rows([(0, "short"), (3, "long")], columns(10, 11, 12, 13), "t", 0)
    found.add("odd", "t", 1, 5)
    assert (found.reasons, found.first) == ({"gone": 2, "short": 1, "long": 1, "odd": 1}, ("t", 0, 11))


def test_of_a_batch_that_is_printed_in_part_the_part_counts() -> None:
    found = Undecoded()
    found.wait()
    found.add_names({1: "gone"}, array("i", [0, 1, 1, 1]), columns(10, 11, 12, 13), "t", 0)
    found.add_rows([(0, "short"), (3, "long")], columns(10, 11, 12, 13), "t", 0)
    found.add("odd", "t", 1, 5)
    assert (found.total, found.first) == (0, None)
    found.passed("t", 0, 12)
    assert (found.reasons, found.first) == ({"gone": 1, "short": 1}, ("t", 0, 11))
    found.passed("t", 0, 12)
    assert found.total == 2
    found.passed("t", 0, 99)
    assert found.reasons == {"gone": 3, "short": 1, "long": 1}
    found.count_all()
    found.add("late", "t", 1, 6)
    assert found.total == 6  # what waited of partition 1 was not printed


def test_records_that_are_printed_one_by_one_count_once_each() -> None:
    found = Undecoded()
    found.wait()
    found.add_names({1: "gone"}, array("i", [1, 1, 0]), columns(4, 7, 9), "t", 0)
    found.add_rows([(2, "short")], columns(4, 7, 9), "t", 0)
    for offset in (9, 7, 5, 100):
        found.printed("t", 0, offset)
    assert (found.reasons, found.first) == ({"short": 1, "gone": 1}, ("t", 0, 9))


def test_parts_add_up_to_the_whole() -> None:
    """Wherever batches are cut, and however rows are read."""
    chance = random.Random(7)
    for _ in range(300):
        whole, parts, one_by_one = Undecoded(), Undecoded(), Undecoded()
        parts.wait()
        one_by_one.wait()
        offset = 0
        for _ in range(chance.randrange(1, 4)):
            size = chance.randrange(1, 30)
            batch = columns(*(offset := offset + chance.randrange(1, 3) for _ in range(size)))
            numbers = array("i", [chance.randrange(3) for _ in range(size)])
            faults = [(row, f"why {row % 3}") for row in range(size) if chance.random() < 0.2]
            for found in (whole, parts, one_by_one):
                found.add_names({1: "a", 2: "b"}, numbers, batch, "t", 0)
                found.add_rows(faults, batch, "t", 0)
        cuts = sorted(chance.randrange(offset + 2) for _ in range(4))
        for cut in (*cuts, offset + 1):
            parts.passed("t", 0, cut)
        for each in range(offset + 1):
            one_by_one.printed("t", 0, each)
        assert Counter(parts.reasons) == Counter(one_by_one.reasons) == Counter(whole.reasons)
