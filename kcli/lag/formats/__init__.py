"""Snapshots for other programs: Prometheus' text format, recordings as lines of JSON."""
