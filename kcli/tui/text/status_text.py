"""What a group's status means for this group, in a sentence. Pure."""

from __future__ import annotations

from kcli.lag import status as lag_status
from kcli.lag.history import GroupStanding
from kcli.lag.partition_lag import Standing
from kcli.lag.status import GROWING, LOSING_DATA, REWOUND, STUCK, TXN_BLOCKED
from kcli.lag.watch import Look
from kcli.tui.text.formatting import count, duration, rate
from kcli.tui.text.printable import printable

PLACED = (STUCK, LOSING_DATA, REWOUND, TXN_BLOCKED, GROWING)
"""Statuses that are a matter of some partitions."""


def explained(one: GroupStanding, look: Look) -> str:
    """Why it stands as it does, of its worst partitions; "" where there is nothing to say."""
    worst = _worst(one)
    said = _sentence(one, look)
    whole = one.status == GROWING and said.startswith("it ")
    if said and not whole and one.status in PLACED:
        first = worst[0].lag.sample
        more = f" (and {len(worst) - 1} more)" if len(worst) > 1 else ""
        said = f"{printable(first.topic)}[{first.partition}]{more} {said}"
    if one.loss_in is not None and one.status != LOSING_DATA:
        said = f"{said}; " * bool(said) + f"unread records will be deleted in {duration(one.loss_in)}"
    return said


def _worst(one: GroupStanding) -> list[Standing]:
    """The partitions that give the group its status, the most behind first."""
    return sorted((part for part in one.partitions if part.status == one.status), key=lambda part: -(part.lag.lag or 0))


def _sentence(one: GroupStanding, look: Look) -> str:
    worst = _worst(one)
    match one.status:
        case lag_status.ORPHANED:
            return f"nobody reads for this group, and {count(one.total.lag)} records wait"
        case lag_status.STUCK:
            return f"has a reader that has not moved for {duration(max(part.still for part in worst))}"
        case lag_status.LOSING_DATA:
            return "has lost records: what the group would read next was deleted"
        case lag_status.REWOUND if worst[0].rewound is not None:
            before, after = worst[0].rewound
            return f"went back from {before:,} to {after:,}"
        case lag_status.TXN_BLOCKED:
            at = worst[0].lag.sample
            return printable(look.why.get((at.group, at.topic, at.partition))) or "waits for an open transaction"
        case lag_status.GROWING if one.falling and len(worst) == len(one.partitions):
            return f"it falls behind by {rate(one.falling)} records a second"
        case lag_status.GROWING if pace := sum(part.falling or 0.0 for part in worst):
            return f"falls behind by {rate(pace)} records a second"
        case lag_status.BEHIND if one.eta:
            return f"it will have caught up in {duration(one.eta)}"
    return ""
