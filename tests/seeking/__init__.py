"""Offsets by payload time."""
