"""`kcli pipeline checkpoint`."""
