"""`kcli pipeline profile`."""
