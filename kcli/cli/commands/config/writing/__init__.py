"""Profiles as TOML text, and that text in a file."""
