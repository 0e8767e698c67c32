"""The rules of a partition's status, one row each, and their order."""

from __future__ import annotations

from typing import Any

import pytest

from kcli.admin import lag
from kcli.lag.status import Facts, patience, status, tolerated


def facts(**changes: Any) -> Facts:
    usual: dict[str, Any] = {"committed": 90, "end": 100, "start": 0, "stable": 100, "owned": True}
    return Facts(**(usual | changes))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (facts(error="broker 2 is down"), lag.UNKNOWN),
        (facts(end=None), lag.UNKNOWN),
        (facts(committed=None), lag.NO_COMMIT),
        (facts(committed=None, owned=False), lag.NO_COMMIT),
        (facts(committed=5, start=50), lag.LOSING_DATA),
        (facts(committed=5, start=50, owned=False), lag.LOSING_DATA),
        (facts(committed=50, start=50, owned=False), lag.ORPHANED),
        (facts(owned=False), lag.ORPHANED),
        (facts(committed=100, owned=False), lag.OK),
        (facts(owned=None), lag.BEHIND),
        (facts(stable=90), lag.TXN_BLOCKED),
        (facts(stable=90, still=3600.0), lag.TXN_BLOCKED),
        (facts(stable=90, owned=False), lag.ORPHANED),
        (facts(stable=95), lag.BEHIND),
        (facts(committed=100, stable=100), lag.OK),
        (facts(still=30.0), lag.BEHIND),
        (facts(still=30.1), lag.STUCK),
        (facts(still=200.0, commit_interval=100.0), lag.BEHIND),
        (facts(still=301.0, commit_interval=100.0), lag.STUCK),
        (facts(still=301.0, owned=None), lag.BEHIND),
        (facts(committed=100, still=1e6), lag.OK),
        (facts(still=31.0, rewound=(95, 90)), lag.STUCK),
        (facts(rewound=(95, 90)), lag.REWOUND),
        (facts(rewound=(95, 90), growing=True), lag.REWOUND),
        (facts(growing=True), lag.GROWING),
        (facts(growing=True, threshold=10), lag.OK),
        (facts(growing=True, threshold=9), lag.GROWING),
        (facts(growing=True, in_rate=2.0, commit_interval=5.0), lag.OK),
        (facts(growing=True, in_rate=1.0, commit_interval=5.0), lag.GROWING),
        (facts(threshold=9), lag.BEHIND),
        (facts(threshold=10), lag.OK),
        (facts(in_rate=2.0, commit_interval=5.0), lag.OK),
        (facts(in_rate=1.0, commit_interval=5.0), lag.BEHIND),
        (facts(committed=100, in_rate=0.0), lag.IDLE),
        (facts(committed=100, in_rate=None), lag.OK),
        (facts(committed=100, in_rate=3.0), lag.OK),
        (facts(committed=120), lag.OK),
    ],
)
def test_the_first_rule_that_holds_names_the_status(given: Facts, expected: str) -> None:
    assert status(given) == expected


def test_every_status_has_a_rule_and_a_severity() -> None:
    from kcli.lag.status import RULES

    assert {name for name, _ in RULES} | {lag.OK} == set(lag.SEVERITY)


def test_what_waits_for_the_next_commit_is_no_lag_worth_a_word() -> None:
    assert tolerated(facts(in_rate=100.0, commit_interval=5.0, threshold=10)) == 750.0
    assert tolerated(facts(threshold=10)) == 10


def test_a_slow_committer_has_more_patience() -> None:
    assert patience(facts()) == 30.0
    assert patience(facts(commit_interval=60.0)) == 180.0
