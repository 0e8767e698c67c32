"""`kcli sandbox`."""
