"""`kcli streams`."""
