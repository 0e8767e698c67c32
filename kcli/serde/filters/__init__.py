"""Which records are wanted: conditions, what their bytes must have for them, and the rows that are left."""
