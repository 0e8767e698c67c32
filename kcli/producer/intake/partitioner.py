"""Where a record without key and partition goes: uniform sticky (KIP-794), a state per topic (A5.08).

It stays on a partition until about a batch of bytes went there, then picks another among those with a leader; the
fuller a partition's queue, the less likely it is picked.
"""

from __future__ import annotations

from itertools import accumulate

TYPE_CHECKING = False
if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence


class Sticky:
    """The sticky choice of one topic. `batch_size()` is in raw bytes; it and `depth(partition)`, how many batches wait
    there, are asked only when another partition is picked, which is once a batch. A partition without a leader is left
    at once: `has_leader(partition)` is asked every time."""

    def __init__(
        self, batch_size: Callable[[], int], has_leader: Callable[[int], bool], depth: Callable[[int], int]
    ) -> None:
        self._batch_size = batch_size
        self._has_leader = has_leader
        self._depth = depth
        self._current = -1
        self._left = 0
        self.rng: random.Random | None = None

    def choose(self, everyone: Sequence[int]) -> int:
        """The partition for the next bytes. Leaderless partitions count only when all are (D12)."""
        if self._left <= 0 or self._current >= len(everyone) or not self._has_leader(self._current):
            self._current = everyone[0] if len(everyone) == 1 else self._pick(everyone)
            self._left = self._batch_size()
        return self._current

    def _pick(self, everyone: Sequence[int]) -> int:
        if self.rng is None:
            import random

            self.rng = random.Random()
        candidates = [p for p in everyone if self._has_leader(p)] or list(everyone)
        others = [p for p in candidates if p != self._current] or candidates
        depths = [self._depth(p) for p in others]
        weights = list(accumulate(max(depths) + 1 - d for d in depths))
        at = self.rng.randrange(weights[-1])
        return next(p for p, weight in zip(others, weights) if at < weight)

    def went(self, size: int, *, full: bool = False) -> None:
        """`size` bytes went to the chosen partition. `full`: its batch has no more room."""
        self._left = 0 if full else self._left - size
