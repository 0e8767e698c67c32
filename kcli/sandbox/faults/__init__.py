"""Scripted faults: what can be ordered, and from another process."""
