"""`kcli users`."""
