"""Values that are counted, by powers of two: what is done several times for each request and batch."""

from __future__ import annotations


class Tally:
    """`unit` is the resolution: bucket n counts values below `unit` * 2**n that are in no bucket before it."""

    __slots__ = ("buckets", "count", "largest", "least", "total", "unit")

    def __init__(self, unit: float = 1.0) -> None:
        self.unit = unit
        self.count = 0
        self.total = self.least = self.largest = 0.0
        self.buckets: dict[int, int] = {}

    def add(self, value: float) -> None:
        """Count a value; below zero is zero. Raises OverflowError and ValueError for what is no number."""
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
