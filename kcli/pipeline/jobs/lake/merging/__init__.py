"""Merges rows into a table by key, a batch at a time."""
