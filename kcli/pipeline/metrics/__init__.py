"""Metrics of a stream: a line per batch, and a Prometheus page."""
