"""Unsettled batches: open, sealed, queued by partition, limited in memory, each settled exactly once."""
