"""`kcli tokens`."""
