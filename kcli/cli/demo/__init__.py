"""`kcli demo`."""
