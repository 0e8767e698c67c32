"""Counts values by powers of two, several times per request and batch."""

from __future__ import annotations


class Tally:
    """`unit` is the resolution: bucket n counts values below `unit` * 2**n that no smaller bucket counts."""

    __slots__ = ("buckets", "count", "largest", "least", "total", "unit")

    def __init__(self, unit: float = 1.0) -> None:
        self.unit = unit
        self.count = 0
        self.total = self.least = self.largest = 0.0
        self.buckets: dict[int, int] = {}

    def add(self, value: float) -> None:
        """Count a value; negative ones count as zero. Raises OverflowError and ValueError for anything but a finite
        number."""
        value = 0.0 if value < 0 else float(value)
        bucket = int(value / self.unit).bit_length()
        self.buckets[bucket] = self.buckets.get(bucket, 0) + 1
        if not self.count:
            self.least = self.largest = value
        elif value > self.largest:
            self.largest = value
        elif value < self.least:
            self.least = value
        self.count += 1
        self.total += value
