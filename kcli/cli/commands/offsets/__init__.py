"""`kcli offsets`."""
