"""Lag over time: statuses, rates and times of partitions, topics and groups, computed from samples (docs/lag.md)."""
