"""How much is tried: `make quick` (KCLI_QUICK=1) plays a quarter of the random tries, and two cases of each test; the
nightly run plays KCLI_TRIES times as many."""

from __future__ import annotations

import os

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

QUICK = bool(os.environ.get("KCLI_QUICK"))
TIMES = int(os.environ.get("KCLI_TRIES", "1"))


def tries(count: int) -> int:
    return max(1, count // 4) if QUICK else count * TIMES


def take_two_cases(items: list[pytest.Item]) -> None:
    """Keep the first and the last case of each parametrised test, and all tests without parameters."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = {item for of_test in cases.values() for item in (of_test[0], of_test[-1])}
    items[:] = [item for item in items if item in kept]


def use_profile() -> None:
    """What holds for every test of hypothesis that does not say otherwise."""
    hypothesis.settings.register_profile(
        "shared processors",
        deadline=None,  # an example waits for its turn at a processor: how long it takes says nothing about the code
        max_examples=tries(100),
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
    hypothesis.settings.load_profile("shared processors")
    if QUICK:  # it reads every module for numbers and texts to try: a fifth of the time that collecting takes
        assert callable(providers._get_local_constants)
        providers._get_local_constants = lambda: providers._local_constants
