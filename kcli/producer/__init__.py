"""The producer: records into batches, batches to leaders, in order, each settled exactly once."""
