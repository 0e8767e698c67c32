"""`kcli lag`."""
