"""Where a record without key and partition goes: uniform sticky (KIP-794), a state per topic (A5.08).

It stays on a partition until about a batch of bytes went there, then picks another among those with a leader; the
fuller a partition's queue, the less likely it is picked.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from kcli.proto.core import Stay

TYPE_CHECKING = False
if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence


FEW = 32
"""Of so few partitions each is looked at. Of more one is drawn, and kept with the probability that its weight has:
the same distribution, at a cost that does not grow with the topic."""


TRIES = 64  # then each is looked at: most have no leader, or long queues


class Sticky(Stay):
    """The sticky choice of one topic. `batch_size()` is in raw bytes; it, `depth(partition)`, how many batches wait
    there, and `deepest()`, the most that wait for one of them, are asked only when another partition is picked, which
    is once a batch. A partition without a leader is left at once: `has_leader(partition)` is asked every time."""

    def __init__(
        self,
        batch_size: Callable[[], int],
        has_leader: Callable[[int], bool],
        depth: Callable[[int], int],
        deepest: Callable[[], int],
    ) -> None:
        self._batch_size = batch_size
        self._has_leader = has_leader
        self._depth = depth
        self._deepest = deepest
        self.current = -1
        self.left = 0  # bytes until another one is picked
        self.rng: random.Random | None = None

    def choose(self, everyone: Sequence[int]) -> int:
        """The partition for the next bytes. Leaderless partitions count only when all are (D12)."""
        if self.left <= 0 or self.current >= len(everyone) or not self._has_leader(self.current):
            self.current = everyone[0] if len(everyone) == 1 else self._pick(everyone)
            self.left = self._batch_size()
        return self.current

    def _pick(self, everyone: Sequence[int]) -> int:
        if self.rng is None:
            import random

            self.rng = random.Random()
        tries = 0 if len(everyone) <= FEW else TRIES
        deepest = self._deepest() if tries else 0
        for _ in range(tries):
            drawn = everyone[self.rng.randrange(len(everyone))]
            weight = deepest + 1 - self._depth(drawn)
            if drawn != self.current and self.rng.randrange(deepest + 1) < weight and self._has_leader(drawn):
                return drawn
        return self._pick_among_all(everyone, self.rng)

    def _pick_among_all(self, everyone: Sequence[int], rng: random.Random) -> int:
        """The same choice by looking at each partition."""
        candidates = [p for p in everyone if self._has_leader(p)] or list(everyone)
        others = [p for p in candidates if p != self.current] or candidates
        depths = [self._depth(p) for p in others]
        heaviest = max(depths) + 1
        weights = list(accumulate(heaviest - d for d in depths))
        at = rng.randrange(weights[-1])
        return others[bisect_right(weights, at)]

    def went(self, size: int, *, full: bool = False) -> None:
        """`size` bytes went to the chosen partition. `full`: its batch has no more room."""
        self.left = 0 if full else self.left - size
