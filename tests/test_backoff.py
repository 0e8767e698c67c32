"""The pause before something is asked again: it doubles, has jitter, ends at the maximum, and is never nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kcli.backoff import LEAST, Backoff, after


@pytest.mark.parametrize(
    ("failures", "base", "maximum", "middle"),
    [
        (0, 0.1, 1.0, 0.1),
        (3, 0.1, 1.0, 0.8),
        (4, 0.1, 1.0, 1.0),
        (10**6, 0.1, 1.0, 1.0),
        (0, 5.0, 1.0, 1.0),
        (0, 0.0, 1.0, LEAST),  # retry.backoff.ms=0
        (3, 0.0, 1.0, 8 * LEAST),
        (0, 0.0, 0.0, LEAST),
        (9, -1.0, -1.0, LEAST),
    ],
)
def test_the_pause_after_so_many_failures(failures: int, base: float, maximum: float, middle: float) -> None:
    waits = {after(failures, base, maximum) for _ in range(100)}
    assert 0.7999 * middle <= min(waits) < max(waits) <= 1.2001 * middle


def test_a_sequence_begins_anew_when_it_worked() -> None:
    backoff = Backoff(0.1, 10.0)
    first, second = backoff.next(), backoff.next()
    assert first <= 0.1201
    assert second >= 0.1599
    assert backoff.failures == 2
    backoff.reset()
    assert backoff.failures == 0
    assert backoff.next() <= 0.1201


@pytest.mark.process
def test_it_is_cheap_to_import() -> None:
    program = "import sys; before = set(sys.modules); import kcli.backoff; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"kcli", "kcli.version", "kcli.backoff", "__future__"}
