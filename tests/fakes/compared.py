"""A number by which the cost of a look-up is counted, where a clock would only guess."""

from __future__ import annotations


class Compared(int):
    """A number that counts how often one is compared with another."""

    times = 0

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return int(self) == other

    __hash__ = int.__hash__
