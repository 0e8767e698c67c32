"""Lag over time: what a ring of samples says about a partition, a topic and a group (lag.md)."""
