"""Batches that are not settled yet: open, sealed, queued by partition, bounded in memory, each settled exactly once."""
