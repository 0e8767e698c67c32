"""Scripted faults, which can also be ordered from another process."""
