"""Offsets by the time inside of records' values: a binary search over the logs, all partitions at once."""
