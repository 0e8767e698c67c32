"""`kcli completion`."""
