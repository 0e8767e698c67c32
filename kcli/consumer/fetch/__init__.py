"""Fetching: a task per broker, a cursor per partition, fetch sessions (KIP-227), and chunks that a poll opens and
returns."""
