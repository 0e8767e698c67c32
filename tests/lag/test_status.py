"""The rules of a partition's status, one row each, and their order."""

from __future__ import annotations

from typing import Any

import pytest

from kcli.lag.status import (
    BEHIND,
    GROWING,
    IDLE,
    LOSING_DATA,
    NO_COMMIT,
    OK,
    ORPHANED,
    PAST_END,
    REWOUND,
    SEVERITY,
    STALLED,
    STUCK,
    TXN_BLOCKED,
    UNKNOWN,
    Facts,
    patience,
    status,
    tolerated,
)


def facts(**changes: Any) -> Facts:
    usual: dict[str, Any] = {"committed": 90, "end": 100, "start": 0, "stable": 100, "owned": True}
    return Facts(**(usual | changes))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (facts(error="broker 2 is down"), UNKNOWN),
        (facts(end=None), UNKNOWN),
        (facts(committed=None), NO_COMMIT),
        (facts(committed=None, owned=False), NO_COMMIT),
        (facts(committed=None, start=100), OK),
        (facts(committed=None, start=100, owned=False), OK),
        (facts(committed=5, start=50), LOSING_DATA),
        (facts(committed=5, start=50, owned=False), LOSING_DATA),
        (facts(committed=50, start=50, owned=False), ORPHANED),
        (facts(owned=False), ORPHANED),
        (facts(committed=100, owned=False), OK),
        (facts(owned=None), BEHIND),
        (facts(stable=90), TXN_BLOCKED),
        (facts(stable=90, still=3600.0), TXN_BLOCKED),
        (facts(stable=90, owned=False), ORPHANED),
        (facts(stable=95), BEHIND),
        (facts(committed=100, stable=100), OK),
        (facts(still=30.0), BEHIND),
        (facts(still=30.1), STUCK),
        (facts(still=200.0, commit_interval=100.0), BEHIND),
        (facts(still=301.0, commit_interval=100.0), STUCK),
        (facts(still=301.0, owned=None), BEHIND),
        (facts(committed=100, still=1e6), OK),
        (facts(still=31.0, rewound=(95, 90)), STUCK),
        (facts(still=31.0, member_still=31.0), STUCK),
        (facts(still=31.0, member_still=29.0), STALLED),
        (facts(still=300.0, member_still=1.0), STALLED),
        (facts(still=301.0, member_still=1.0), STUCK),
        (facts(still=301.0, member_still=1.0, commit_interval=100.0), STALLED),
        (facts(rewound=(95, 90)), REWOUND),
        (facts(rewound=(95, 90), growing=True), REWOUND),
        (facts(growing=True), GROWING),
        (facts(growing=True, threshold=10), OK),
        (facts(growing=True, threshold=9), GROWING),
        (facts(growing=True, in_rate=2.0, commit_interval=5.0), OK),
        (facts(growing=True, in_rate=1.0, commit_interval=5.0), GROWING),
        (facts(drained=True, still=3600.0, growing=True), OK),
        (facts(drained=True, owned=False), OK),
        (facts(drained=True, in_rate=0.0), IDLE),
        (facts(drained=True, committed=5, start=50), LOSING_DATA),
        (facts(threshold=9), BEHIND),
        (facts(threshold=10), OK),
        (facts(in_rate=2.0, commit_interval=5.0), OK),
        (facts(in_rate=1.0, commit_interval=5.0), BEHIND),
        (facts(committed=100, in_rate=0.0), IDLE),
        (facts(committed=100, in_rate=None), OK),
        (facts(committed=100, in_rate=3.0), OK),
        (facts(committed=None, start=None), NO_COMMIT),
        (facts(committed=None, start=None, end=0), OK),
        (facts(committed=None, start=100, in_rate=0.0), IDLE),
        (facts(committed=120), PAST_END),
        (facts(committed=120, owned=False), PAST_END),
        (facts(committed=120, rewound=(130, 120), still=3600.0), PAST_END),
        (facts(committed=120, error="broker 2 is down"), UNKNOWN),
        (facts(committed=120, stable_end=True), OK),
        (facts(committed=120, counted=3), BEHIND),
    ],
)
def test_the_first_rule_that_holds_names_the_status(given: Facts, expected: str) -> None:
    assert status(given) == expected


def test_every_status_has_a_rule_and_a_severity() -> None:
    from kcli.lag.status import RULES

    assert {name for name, _ in RULES} | {OK} == set(SEVERITY)


def test_what_waits_for_the_next_commit_is_no_lag_worth_a_word() -> None:
    assert tolerated(facts(in_rate=100.0, commit_interval=5.0, threshold=10)) == 750.0
    assert tolerated(facts(threshold=10)) == 10


def test_a_slow_committer_has_more_patience() -> None:
    assert patience(facts()) == 30.0
    assert patience(facts(commit_interval=60.0)) == 180.0
