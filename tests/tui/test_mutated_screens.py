"""No answer of a broker takes the dashboard down, puts the name of an exception of Python's on a screen, or hangs it.

Tours of all screens, a seed each, as far as MUTATED_SCREENS_SECONDS (10) go; `make chaos` makes more.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.effort import tries
from tests.tui.mutated_screens import SCREENS, Stage

pytestmark = pytest.mark.long

SECONDS = float(os.environ.get("MUTATED_SCREENS_SECONDS", tries(10)))


@pytest.mark.kcli_violates
def test_no_answer_breaks_a_screen(tmp_path: Path) -> None:
    visited, number, end = 0, 0, time.perf_counter() + SECONDS
    with Stage(tmp_path) as stage:
        while time.perf_counter() < end:
            fault = stage.tour(SCREENS, number, end)
            assert not fault, fault
            visited += stage.visited  # the last tour may have none: its time is over
            number += 1
    assert visited
