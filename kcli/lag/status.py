"""The status of a partition: the first rule over its facts that holds (docs/lag.md). No clock and no request in here.

After Burrow's rules without their faults: one dip does not hide steady growth, and lag without a consumer is not shown
as if it were worked off.
"""

from __future__ import annotations

from kcli.values import Value

IDLE = "IDLE"
OK = "OK"
UNKNOWN = "UNKNOWN"
NO_COMMIT = "NO COMMIT"
BEHIND = "BEHIND"
REWOUND = "REWOUND"
TXN_BLOCKED = "TXN-BLOCKED"
GROWING = "GROWING"
STUCK = "STUCK"
ORPHANED = "ORPHANED"
LOSING_DATA = "LOSING DATA"

SEVERITY = (IDLE, OK, UNKNOWN, NO_COMMIT, BEHIND, REWOUND, TXN_BLOCKED, GROWING, STUCK, ORPHANED, LOSING_DATA)
"""From harmless to worst: a topic and a group have the status of their worst partition. One sample can tell OK,
UNKNOWN, NO COMMIT, BEHIND, ORPHANED and LOSING DATA; the other statuses take samples over time."""
CALM = (IDLE, OK)
"""Lag, if there is any, waits for the next commit."""
HALTED = (STUCK, ORPHANED, TXN_BLOCKED)
"""No progress now, whatever the rate was a minute ago."""

PATIENCE = 30.0  # seconds without a commit before anybody is called stuck
COMMITS = 3  # and this many of its own commit intervals
SLACK = 1.5  # a lag that this many commit intervals of input explain is on its way


class Facts(Value):
    """The facts about a partition of a group at one moment. Offsets are absolute, rates per second, times seconds; None
    is unknown. `still` is how long the commit has not moved while it could have, `counted` the lag of a share group,
    whose `committed` is only the start of its window."""

    committed: int | None = None
    end: int | None = None
    start: int | None = None
    stable: int | None = None
    owned: bool | None = None
    error: str | None = None
    in_rate: float | None = None
    growing: bool = False
    commit_interval: float | None = None
    still: float = 0.0
    counted: int | None = None
    rewound: tuple[int, int] | None = None
    threshold: int = 0


def status(facts: Facts) -> str:
    """The first rule that holds."""
    for name, holds in RULES:
        if holds(facts):
            return name
    return OK


def lag(facts: Facts) -> int:
    """Offsets behind; 0 where it is not known."""
    if facts.committed is None or facts.end is None:
        return 0
    if facts.counted is not None:
        return facts.counted
    return max(facts.end - facts.committed, 0)


def tolerated(facts: Facts) -> float:
    """The largest lag that is OK: the threshold, or the records that wait for the next commit."""
    if facts.in_rate is None or facts.commit_interval is None:
        return facts.threshold
    return max(facts.threshold, SLACK * facts.in_rate * facts.commit_interval)


def patience(facts: Facts) -> float:
    """Seconds without a commit after which a member is stuck."""
    return max(PATIENCE, COMMITS * (facts.commit_interval or 0.0))


def _unknown(facts: Facts) -> bool:
    return facts.error is not None or facts.end is None


def _no_commit(facts: Facts) -> bool:
    return facts.committed is None


def _losing_data(facts: Facts) -> bool:
    lost = facts.committed is not None and facts.start is not None and facts.committed < facts.start
    return lost and (facts.counted is None or facts.counted > 0)


def _orphaned(facts: Facts) -> bool:
    return facts.owned is False and lag(facts) > 0


def _rewound(facts: Facts) -> bool:
    return facts.rewound is not None


def _txn_blocked(facts: Facts) -> bool:
    return facts.stable is not None and facts.committed == facts.stable and lag(facts) > 0


def _stuck(facts: Facts) -> bool:
    return facts.owned is True and lag(facts) > 0 and facts.still > patience(facts)


def _growing(facts: Facts) -> bool:
    return facts.growing and lag(facts) > tolerated(facts)  # what waits for the next commit goes up and down


def _behind(facts: Facts) -> bool:
    return lag(facts) > tolerated(facts)


def _idle(facts: Facts) -> bool:
    return lag(facts) == 0 and facts.in_rate == 0


RULES = (
    (UNKNOWN, _unknown),
    (NO_COMMIT, _no_commit),
    (LOSING_DATA, _losing_data),
    (ORPHANED, _orphaned),
    (TXN_BLOCKED, _txn_blocked),
    (STUCK, _stuck),
    (REWOUND, _rewound),
    (GROWING, _growing),
    (BEHIND, _behind),
    (IDLE, _idle),
)


def worst(status: str, other: str) -> str:
    """The more severe of two statuses."""
    return max(status, other, key=SEVERITY.index)


def share(status: str, alike: int, partitions: int) -> str:
    """Of how many of its partitions a group has its status: "STUCK 1 of 2"; nothing more where that goes without
    saying."""
    return status if status in CALM or not 0 < alike < partitions else f"{status} {alike} of {partitions}"
