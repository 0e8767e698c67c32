"""While an answer is made nothing is collected, and many values are set aside when it is made."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING

import pytest

from kcli.tui.beat import gc_tuning
from kcli.tui.beat.gc_tuning import GcTuning

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def tuning() -> Iterator[GcTuning]:
    tuning = GcTuning()
    before = gc.get_freeze_count()
    tuning.begin()
    yield tuning
    tuning.end()
    assert gc.isenabled()
    assert gc.get_freeze_count() <= before


def test_nothing_is_collected_until_the_last_of_two_answers_is_made(tuning: GcTuning) -> None:
    first, second = tuning.making(), tuning.making()
    with first:
        second.__enter__()
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled()


def test_many_new_values_are_set_aside_and_few_are_not(tuning: GcTuning) -> None:
    before = gc.get_freeze_count()
    with tuning.making():
        few: list[list[int]] = [[] for _ in range(100)]
    assert gc.get_freeze_count() == before
    with tuning.making():
        many: list[list[int]] = [[] for _ in range(gc_tuning.LARGE + 1000)]
    assert gc.get_freeze_count() >= before + len(many)
    assert len(few) == 100


def test_an_answer_that_fails_leaves_the_collector_on(tuning: GcTuning) -> None:
    with pytest.raises(ValueError, match="no"), tuning.making():
        raise ValueError("no")
    assert gc.isenabled()


class Ring:
    """A cycle."""

    def __init__(self) -> None:
        self.itself = self


def test_cycles_that_are_garbage_before_a_large_answer_are_not_set_aside(
    tuning: GcTuning, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gc_tuning, "OFTEN", 0.0)
    with tuning.making():
        first: list[list[int]] = [[] for _ in range(gc_tuning.LARGE + 1000)]
    alive = Ring()
    ring = weakref.ref(alive)
    gc.collect()  # it is old when it becomes garbage, and so collected by no small collection
    del alive
    with tuning.making():
        assert ring() is None
    assert len(first) > gc_tuning.LARGE


def test_what_drawing_left_is_collected_and_not_set_aside_with_the_next_answer(tuning: GcTuning) -> None:
    """Where records are followed it is 30 MB a minute, and answers are small."""
    before, threshold = gc.get_freeze_count(), gc.get_threshold()
    gc.set_threshold(10**6)  # kcli's is high, too
    try:
        rings = [Ring() for _ in range(gc_tuning.LARGE + 1000)]
        left = weakref.ref(rings[0])
        rings.clear()
        with tuning.making():
            few: list[list[int]] = [[] for _ in range(100)]
    finally:
        gc.set_threshold(*threshold)
    assert gc.get_freeze_count() == before
    assert left() is None
    assert len(few) == 100


def test_cycles_that_were_set_aside_are_collected_after_a_while(
    tuning: GcTuning, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refresh() -> weakref.ref[Ring]:
        """A large answer, and a cycle that is garbage when it is made."""
        with tuning.making():
            many: list[list[int]] = [[] for _ in range(gc_tuning.LARGE + 1000)]
            ring = weakref.ref(Ring())
        assert len(many) > gc_tuning.LARGE
        return ring

    ring = refresh()
    gc.collect()
    assert ring() is not None
    monkeypatch.setattr(gc_tuning, "SELDOM", 0.0)
    refresh()
    assert ring() is None


def test_values_are_freed_in_slices_that_leave_turns_to_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    class Row:
        """A value that can be watched."""

    monkeypatch.setattr(gc_tuning, "SLICE", 2)
    left: list[int] = []
    values: list[object] = [Row() for _ in range(5)]
    for number, value in enumerate(values):
        weakref.finalize(value, lambda number=number: left.append(number))  # type: ignore[misc]
    del value
    GcTuning.free(values)
    assert values == []
    assert sorted(left) == [0, 1, 2, 3, 4]
    assert left[0] in (3, 4)  # the last slice first: nothing is moved up
