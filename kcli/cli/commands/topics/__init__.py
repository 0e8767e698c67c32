"""`kcli topics`."""
