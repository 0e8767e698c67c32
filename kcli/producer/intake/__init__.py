"""From the caller's input to open batches: single records, lines, columns and encoded batches, and their partitions."""
