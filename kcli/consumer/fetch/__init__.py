"""Fetching: one task per broker, a cursor per partition, sessions (KIP-227), chunks that a poll opens and hands out."""
