"""Moves schemas from one registry to another, to a folder or a file, and back."""
