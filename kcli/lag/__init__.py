"""Lag over time: statuses, rates and times of a partition, a topic and a group, from samples (docs/lag.md)."""
