"""`kcli groups` and `rollback`."""
