"""A partition's log: batches, segments, what read_committed and the data directory need."""
