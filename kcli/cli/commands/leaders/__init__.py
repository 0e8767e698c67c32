"""`kcli leaders`."""
