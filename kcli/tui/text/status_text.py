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


def explained(standing: GroupStanding, look: Look) -> str:
    """Why it stands as it does, of its worst partitions; "" where there is nothing to say."""
    worst = _worst(standing)
    sentence = _sentence(standing, look)
    whole = standing.status == GROWING and sentence.startswith("it ")
    if sentence and not whole and standing.status in PLACED:
        first = worst[0].lag.sample
        more = f" (and {len(worst) - 1} more)" if len(worst) > 1 else ""
        sentence = f"{printable(first.topic)}[{first.partition}]{more} {sentence}"
    if standing.loss_in is not None and standing.status != LOSING_DATA:
        sentence = f"{sentence}; " * bool(sentence) + f"unread records will be deleted in {duration(standing.loss_in)}"
    return sentence


def _worst(standing: GroupStanding) -> list[Standing]:
    """The partitions that give the group its status, the most behind first."""
    return sorted(
        (part for part in standing.partitions if part.status == standing.status), key=lambda part: -(part.lag.lag or 0)
    )


def _sentence(standing: GroupStanding, look: Look) -> str:
    worst = _worst(standing)
    match standing.status:
        case lag_status.ORPHANED:
            return f"nobody reads for this group, and {count(standing.total.lag)} records wait"
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
        case lag_status.GROWING if standing.falling and len(worst) == len(standing.partitions):
            return f"it falls behind by {rate(standing.falling)} records a second"
        case lag_status.GROWING if pace := sum(part.falling or 0.0 for part in worst):
            return f"falls behind by {rate(pace)} records a second"
        case lag_status.BEHIND if standing.eta:
            return f"it will have caught up in {duration(standing.eta)}"
    return ""
