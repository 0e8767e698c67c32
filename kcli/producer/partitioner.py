"""Where a record without key and partition goes: uniform sticky (KIP-794), a state per topic (A5.08).

It stays on a partition until about a batch of bytes went there, then picks another among those with a leader; the
fuller a partition's queue, the less likely it is picked.
"""

from __future__ import annotations

import random
from itertools import accumulate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Sticky:
    """The sticky choice of one topic. `depth(partition)` is how many batches wait there."""

    def __init__(self, batch_size: int, rng: random.Random | None = None) -> None:
        self._batch_size = batch_size
        self._rng = rng or random.Random()
        self._current = -1
        self._bytes = 0

    def choose(self, available: Sequence[int], everyone: Sequence[int], depth: Callable[[int], int]) -> int:
        """The partition for the next bytes. Leaderless partitions count only when all are (D12)."""
        candidates = available or everyone
        if self._current in candidates and self._bytes < self._batch_size:
            return self._current
        others = [p for p in candidates if p != self._current] or list(candidates)
        depths = [depth(p) for p in others]
        weights = list(accumulate(max(depths) + 1 - d for d in depths))
        at = self._rng.randrange(weights[-1])
        self._current = next(p for p, weight in zip(others, weights) if at < weight)
        self._bytes = 0
        return self._current

    def went(self, size: int) -> None:
        """`size` bytes went to the chosen partition."""
        self._bytes += size
