"""The status of a partition: the first rule that its facts satisfy (docs/lag.md). No clock and no requests.

Based on Burrow's rules without their faults: one dip does not hide steady growth, and lag without a consumer is not
shown as if it were decreasing.
"""

from __future__ import annotations

from kcli.values import Value

IDLE = "IDLE"
OK = "OK"
UNKNOWN = "UNKNOWN"
NO_COMMIT = "NO COMMIT"
BEHIND = "BEHIND"
REWOUND = "REWOUND"
STALLED = "STALLED"
TXN_BLOCKED = "TXN-BLOCKED"
GROWING = "GROWING"
PAST_END = "PAST END"
STUCK = "STUCK"
ORPHANED = "ORPHANED"
LOSING_DATA = "LOSING DATA"

SEVERITY = (
    *(IDLE, OK, UNKNOWN, NO_COMMIT, BEHIND, REWOUND, STALLED, TXN_BLOCKED, GROWING, PAST_END, STUCK),
    *(ORPHANED, LOSING_DATA),
)
"""From harmless to worst: a topic and a group have the status of their worst partition. IDLE, REWOUND, STALLED, GROWING
and STUCK need samples over time; one sample is enough for the others."""
CALM = (IDLE, OK)
"""Lag, if there is any, waits for the next commit."""
HALTED = (STALLED, STUCK, ORPHANED, TXN_BLOCKED)
"""No progress now, whatever the rate was a minute ago."""

PATIENCE = 30.0  # seconds without a commit before a partition is called stalled, or its member stuck
COMMITS = 3  # and this many of its own commit intervals
FORGOTTEN = 10  # this multiple of that limit without a commit makes a partition stuck, even if its member moves
SLACK = 1.5  # lag up to this many commit intervals of input is not a backlog


class Facts(Value):
    """The facts about a partition of a group at one moment. Offsets are absolute, rates per second, times in seconds;
    None is unknown.

    `still` is how long the commit has not moved while it could have, `member_still` how long no partition of its member
    has moved (None: as long as this one). `counted` is the lag of a share group, whose `committed` is only the start of
    its window, and `begins` where it will start a partition that it has not read (None: at the log start).
    `stable_end`: `end` is the last stable offset, which commits of a group that reads uncommitted records may be past.
    `drained`: the offsets of the lag contain no record.
    """

    committed: int | None = None
    begins: int | None = None
    end: int | None = None
    start: int | None = None
    stable: int | None = None
    owned: bool | None = None
    error: str | None = None
    in_rate: float | None = None
    growing: bool = False
    commit_interval: float | None = None
    still: float = 0.0
    member_still: float | None = None
    counted: int | None = None
    rewound: tuple[int, int] | None = None
    threshold: int = 0
    stable_end: bool = False
    drained: bool = False


def status(facts: Facts) -> str:
    """Return the first status whose rule holds."""
    for name, holds in RULES:
        if holds(facts):
            return name
    return OK


def lag(facts: Facts) -> int | None:
    """Return the offsets behind; None if unknown. A partition without records counts as read, even without a commit."""
    if _unknown(facts) or _past_end(facts) or facts.end is None:
        return None
    if facts.committed is None:
        return None if uncommitted(facts) else 0
    if facts.counted is not None:
        return facts.counted
    return max(facts.end - facts.committed, 0)


def uncommitted(facts: Facts) -> int:
    """Return the waiting offsets of a partition without a commit: from log start to end, or from where a share group
    will start."""
    if facts.committed is not None or facts.end is None:
        return 0
    return max(facts.end - max(facts.start or 0, facts.begins or 0), 0)


def beyond(facts: Facts) -> int:
    """Return how far the commit is past the end: it belongs to a log that was truncated or recreated."""
    if facts.committed is None or facts.end is None or facts.counted is not None or facts.stable_end:
        return 0
    return max(facts.committed - facts.end, 0)


def tolerated(facts: Facts) -> float:
    """Return the largest lag that is OK: the threshold, or the records that wait for the next commit."""
    if facts.in_rate is None or facts.commit_interval is None:
        return facts.threshold
    return max(facts.threshold, SLACK * facts.in_rate * facts.commit_interval)


def patience(facts: Facts) -> float:
    """Return the seconds without a commit after which a partition is stalled, or its member stuck."""
    return max(PATIENCE, COMMITS * (facts.commit_interval or 0.0))


def _unknown(facts: Facts) -> bool:
    return facts.error is not None or facts.end is None


def _no_commit(facts: Facts) -> bool:
    return uncommitted(facts) > 0


def _past_end(facts: Facts) -> bool:
    return beyond(facts) > 0


def _losing_data(facts: Facts) -> bool:
    lost = facts.committed is not None and facts.start is not None and facts.committed < facts.start
    return lost and (facts.counted is None or facts.counted > 0)


def _behind_at_all(facts: Facts) -> bool:
    return (lag(facts) or 0) > 0 and not facts.drained


def _orphaned(facts: Facts) -> bool:
    return facts.owned is False and _behind_at_all(facts)


def _rewound(facts: Facts) -> bool:
    return facts.rewound is not None


def _txn_blocked(facts: Facts) -> bool:
    return facts.stable is not None and facts.committed == facts.stable and _behind_at_all(facts)


def _stuck(facts: Facts) -> bool:
    limit = patience(facts)
    member = facts.still if facts.member_still is None else facts.member_still
    return _stalled(facts) and (member > limit or facts.still > FORGOTTEN * limit)


def _stalled(facts: Facts) -> bool:
    return facts.owned is True and _behind_at_all(facts) and facts.still > patience(facts)


def _growing(facts: Facts) -> bool:
    return facts.growing and _behind(facts)  # what waits for the next commit goes up and down


def _behind(facts: Facts) -> bool:
    return (lag(facts) or 0) > tolerated(facts) and not facts.drained


def _idle(facts: Facts) -> bool:
    return (lag(facts) == 0 or facts.drained) and facts.in_rate == 0


RULES = (
    (UNKNOWN, _unknown),
    (NO_COMMIT, _no_commit),
    (PAST_END, _past_end),
    (LOSING_DATA, _losing_data),
    (ORPHANED, _orphaned),
    (TXN_BLOCKED, _txn_blocked),
    (STUCK, _stuck),
    (STALLED, _stalled),
    (REWOUND, _rewound),
    (GROWING, _growing),
    (BEHIND, _behind),
    (IDLE, _idle),
)


def share(status: str, alike: int, partitions: int) -> str:
    """Return how many of a group's partitions have its status: "STUCK 1 of 2"; only the status if that is obvious."""
    return status if status in CALM or not 0 < alike < partitions else f"{status} {alike} of {partitions}"
