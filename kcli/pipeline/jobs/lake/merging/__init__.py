"""Rows of a table that are updated and deleted by a key, a batch at a time."""
