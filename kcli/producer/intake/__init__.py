"""From what a caller gives to open batches: single records, lines, columns, encoded batches, and their partition."""
