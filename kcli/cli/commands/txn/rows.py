"""What rows about the producers of a partition have in common."""

from __future__ import annotations

import time

from kcli.cli.commands.lag.rows import stamp
from kcli.cli.output.tables.rows import Row, column


class ProducerRow(Row):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    producer_id: int = column("Id of the producer.", rank=1)
    epoch: int = column("Epoch of the producer.", rank=3)
    coordinator_epoch: int = column("Epoch of the coordinator that wrote the last marker; -1 before the first.", rank=3)


def since(ms: int) -> float:
    """Seconds from a moment in ms since the epoch until now, never below zero."""
    return round(max(time.time() - ms / 1000, 0.0), 3)


def moment(ms: int) -> str | None:
    """A time in ms since the epoch as ISO 8601, UTC; None for none and for what no calendar has."""
    try:
        return stamp(ms / 1000) if ms >= 0 else None
    except (ValueError, OverflowError, OSError):
        return None
