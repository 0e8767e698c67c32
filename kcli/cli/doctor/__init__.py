"""`kcli doctor`."""
