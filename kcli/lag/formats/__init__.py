"""Snapshots for other programs: Prometheus' text format, recordings as JSON lines."""
