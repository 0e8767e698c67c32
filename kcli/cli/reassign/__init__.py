"""`kcli reassign`."""
