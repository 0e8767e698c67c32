"""`kcli schema`."""
