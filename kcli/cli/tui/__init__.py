"""`kcli tui`."""
