"""`kcli meta`."""
