"""Synchronous API: plain functions that run on one event loop in a background thread."""
