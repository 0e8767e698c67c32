"""Outcome of a copy. Every record read is in exactly one of the other counts."""

from __future__ import annotations

from kcli.values import Value


class Tally(Value):
    """`read` = `copied` + `filtered` + `failed` + `unknown` + what is still on its way. `bytes` are of batches as they
    were fetched."""

    read: int = 0
    filtered: int = 0
    copied: int = 0
    failed: int = 0
    unknown: int = 0
    untouched: int = 0  # of the copied, those whose batch was copied as it was
    bytes: int = 0

    @property
    def on_the_way(self) -> int:
        return self.read - self.copied - self.filtered - self.failed - self.unknown
