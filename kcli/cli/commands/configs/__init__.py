"""`kcli configs`."""
