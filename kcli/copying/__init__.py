"""Copies records from one topic to another: read, filter, publish, and only then store the position."""
