"""`kcli groups reset` and `kcli rollback`."""
