"""`kcli registry`."""
