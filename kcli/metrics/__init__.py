"""Counters of a running client, and the hooks that it calls."""
