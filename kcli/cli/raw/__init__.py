"""`kcli raw`."""
