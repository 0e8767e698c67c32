"""Listings of a registry's content, for commands and pages."""
