"""Detects a read up to fixed ends that cannot finish: the broker reports records before the end but sends none."""

from __future__ import annotations

from time import monotonic

from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.consumer.consumer import Consumer
    from kcli.consumer.poll import Fetched
    from kcli.model import TopicPartition

PATIENCE = 30.0
"""Seconds within which a fetched partition has to advance."""
STEP = 5.0
"""Longest time in seconds that a poll may wait before `check` is called."""
NAMED = 3


class Stall:
    """Watches partitions that are being fetched; those whose broker is unavailable or failing are not counted."""

    def __init__(self, consumer: Consumer) -> None:
        self.step = min(STEP, PATIENCE / 3)
        self._consumer = consumer
        self._waited = 0.0
        self._polled = monotonic()
        self._since: dict[TopicPartition, tuple[int, float]] = {}

    def check(self, got: Sequence[Fetched] = ()) -> None:
        """Note the result of a poll. Raises KcliError if a partition has not advanced for PATIENCE seconds, not
        counting time in which the process was stopped or busy with records."""
        now = monotonic()
        waited, self._polled = now - self._polled, now
        if got:
            return
        self._waited += min(waited, 2 * self.step)
        behind = self._consumer.behind()
        kept = {at: self._since.get(at, (-1, 0.0)) for at in behind}
        self._since = {
            at: kept[at] if kept[at][0] == position else (position, self._waited) for at, position in behind.items()
        }
        stuck = sorted(at for at, (_, since) in self._since.items() if self._waited - since >= PATIENCE)
        if stuck:
            names = ", ".join(f"{at.topic}[{at.partition}] at offset {behind[at]}" for at in stuck[:NAMED])
            more = f" and {len(stuck) - NAMED} more" if len(stuck) > NAMED else ""
            raise KcliError(f"{names}{more}: the broker reports more records, but sent none for {PATIENCE:g} s")
